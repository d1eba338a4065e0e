"""The jobs: what runs, how far it is, how long it still takes; pause, cancel, stop now, run again."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from landscope_app.hosts.engines import STOP_AFTER_S, Engines
from landscope_app.hosts.job_table import JobRow
from landscope_app.plots.one_line import OneLine
from landscope_app.state.preview import duration
from landscope_app.theme.plain import plain_label, plain_tip

STOP_NOW_AFTER_S = STOP_AFTER_S
_EVERY_MS, _SECOND_MS = 90, 1000
_SAID_AFTER_S = 1.0
_SHOWN_ENDED = 4


class JobLine(QWidget):
    """One job: title, bar, what is left, and the buttons that make sense just now."""

    def __init__(self, row: JobRow, engines: Engines, again: Callable[[JobRow], object]) -> None:
        super().__init__()
        self._id = row.id
        self._title = plain_label(row.title)
        self._title.setMinimumWidth(150)
        self._bar = QProgressBar(textVisible=False)
        self._bar.setRange(0, 1000)
        self._bar.setAccessibleName(f"Progress of {row.title}")
        self._left = OneLine(f"State of {row.title}")
        self._left.setProperty("muted", True)
        self._buttons = {
            "Pause": lambda: engines.pause(self._id),
            "Resume": lambda: engines.resume(self._id),
            "Cancel": lambda: engines.cancel(self._id),
            "Stop": lambda: engines.cancel(self._id),
            "Stop now": lambda: engines.stop_now(self._id),
            "Run again": lambda: again(engines.table[self._id]),
        }
        layout = QHBoxLayout(self)
        layout.setContentsMargins(4, 1, 4, 1)
        layout.addWidget(self._title)
        layout.addWidget(self._bar, 2)
        layout.addWidget(self._left, 2)
        self._made = {text: self._button(text, run, row.title) for text, run in self._buttons.items()}
        for button in self._made.values():
            layout.addWidget(button)
        self.show_row(row)

    def show_row(self, row: JobRow) -> None:
        """Bring the line up to date."""
        self._bar.setVisible(row.state not in ("failed", "cancelled"))
        self._bar.setValue(round(row.share * 1000))
        said = left_text(row, time.monotonic())
        self._left.set_note(said)
        self._left.setToolTip(plain_tip(row.detail or said))
        wanted = buttons_for(row, time.monotonic())
        for text, button in self._made.items():
            button.setVisible(text in wanted)

    def _button(self, text: str, run: Callable[[], object], title: str) -> QPushButton:
        button = QPushButton(text)
        button.setProperty("link", True)
        button.setAccessibleName(f"{text}: {title}")
        button.clicked.connect(lambda _checked=False: run())
        button.setVisible(False)
        return button


def buttons_for(row: JobRow, now: float) -> tuple[str, ...]:
    """The buttons that make sense in this state."""
    if row.state == "stopping":
        return ("Stop now",) if now - row.asked_to_stop >= STOP_NOW_AFTER_S else ()
    if row.runs_script:
        return ("Stop",)
    return {
        "queued": ("Cancel",),
        "running": ("Pause", "Cancel"),
        "paused": ("Resume", "Cancel"),
        "failed": ("Run again",),
        "cancelled": ("Run again",),
    }.get(row.state, ())


def left_text(row: JobRow, now: float) -> str:
    """What stands beside the bar."""
    if row.runs_script and row.state == "running":
        waited = now - row.began
        return "starting" if waited < _SAID_AFTER_S else f"{row.what} ({waited:.0f} s)"
    if row.state == "running":
        left = duration(row.left_s)
        share = f"{row.share:.0%}" if row.total > 0 else "starting"
        parts = (share, f"{left} left" if left else "", "preview" if row.budget_s else "", row.what)
        return " · ".join(part for part in parts if part)
    if row.state == "stopping":
        waited = now - row.asked_to_stop
        return "Stopping…" if waited < STOP_NOW_AFTER_S else "Stopping… no answer yet"
    if row.state == "done":
        return row.sentence or f"done in {duration(row.ended - row.began)}"
    return {"queued": "waiting", "paused": f"paused at {row.share:.0%}"}.get(row.state, row.sentence)


class JobsView(QWidget):
    """All jobs that run or wait, and the last few that ended."""

    def __init__(
        self, engines: Engines, again: Callable[[JobRow], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._engines = engines
        self._again = again
        self._lines: dict[str, JobLine] = {}
        self._empty = QLabel("Nothing runs just now.")
        self._empty.setProperty("muted", True)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self._rows.setContentsMargins(4, 4, 4, 4)
        self._rows.addWidget(self._empty)
        self._rows.addStretch(1)
        inner = QWidget()
        inner.setLayout(self._rows)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        area.setAccessibleName("Jobs")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)
        self._later = QTimer(self, singleShot=True, interval=_EVERY_MS)
        self._later.timeout.connect(self._show)
        self._clock = QTimer(self, interval=_SECOND_MS)
        self._clock.timeout.connect(self._show)
        engines.jobs_changed.connect(self._soon)
        self._show()

    def _soon(self) -> None:
        """ "Stopping…" must be seen within 100 ms; oftener than that only costs the engine its core."""
        if not self._later.isActive():
            self._later.start()

    def _show(self) -> None:
        rows = shown(self._engines.table.rows)
        wanted = [row.id for row in rows]
        for name in [n for n in self._lines if n not in wanted]:
            line = self._lines.pop(name)
            self._rows.removeWidget(line)
            line.deleteLater()
        for place, row in enumerate(rows):
            if row.id in self._lines:
                self._lines[row.id].show_row(row)
            else:
                self._lines[row.id] = JobLine(row, self._engines, self._again)
            if self._rows.indexOf(self._lines[row.id]) != place:
                self._rows.insertWidget(place, self._lines[row.id])
        self._empty.setVisible(not rows)
        if any(row.runs_script for row in rows) != self._clock.isActive():
            self._clock.stop() if self._clock.isActive() else self._clock.start()


def shown(rows: tuple[JobRow, ...]) -> list[JobRow]:
    """Active ones first, then waiting ones, then the newest that ended."""
    active = [row for row in rows if row.active]
    waiting = [row for row in rows if row.state == "queued"]
    over = [row for row in rows if row.state in ("done", "failed", "cancelled")]
    return active + waiting + sorted(over, key=lambda row: -row.ended)[:_SHOWN_ENDED]
