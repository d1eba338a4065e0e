"""The bar below the picture: play, step and slide through the checkpoints of the current run."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QToolButton

from landscope.contract.deltas import AnyDelta, CheckpointMeasured, RunListed
from landscope.session.model import Run
from landscope_app.plots.loss_chart import step_title
from landscope_app.plots.numbers import whole
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.theme.plain import plain_label, plain_tip
from landscope_app.views.choosing import choose, step
from landscope_app.views.live import LiveView
from landscope_app.views.transport_icons import transport_icon

INTERVAL_MS = 500


class CheckpointSlider(LiveView):
    """Moves the selection through the checkpoints of the current run.

    Attributes:
        interval_ms: how long each checkpoint stays while playing.

    Signals:
        playing_changed: whether it plays.
    """

    playing_changed = Signal(object)

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self._player = QTimer(self)
        self.interval_ms = INTERVAL_MS
        self._player.timeout.connect(self._advance)
        self._buttons = {
            "first": self._button("First checkpoint", self.go_first),
            "previous": self._button("Previous checkpoint", lambda: self.step(-1)),
            "play": self._button("Play through the checkpoints", self.toggle),
            "next": self._button("Next checkpoint", lambda: self.step(1)),
            "last": self._button("Last checkpoint", self.go_last),
        }
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Checkpoint")
        self.slider.setPageStep(1)
        self.slider.setTickPosition(QSlider.TickPosition.TicksBelow)
        self.slider.setTickInterval(1)
        self.slider.valueChanged.connect(self._slid)
        self.label = plain_label()
        self.label.setAccessibleName("Current checkpoint")
        self.label.setMinimumWidth(130)
        self._lay_out()
        self.apply_theme(theme)

    def _button(self, name: str, action: object) -> QToolButton:
        button = QToolButton()
        button.setAutoRaise(True)
        button.setIconSize(QSize(16, 16))
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(action)
        return button

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 8, 2)
        layout.setSpacing(2)
        for button in self._buttons.values():
            layout.addWidget(button)
        layout.addSpacing(6)
        layout.addWidget(self.slider, 1)
        layout.addSpacing(8)
        layout.addWidget(self.label)

    @property
    def is_playing(self) -> bool:
        """Whether it moves by itself."""
        return self._player.isActive()

    def play(self) -> None:
        """Move one checkpoint further every half second; from the end, start anew."""
        if self.slider.value() == self.slider.maximum():
            self.go_first()
        self._player.start(self.interval_ms)
        self._show_playing()

    def pause(self) -> None:
        """Stay where it is."""
        self._player.stop()
        self._show_playing()

    def toggle(self) -> None:
        """Play, or pause."""
        self.pause() if self.is_playing else self.play()

    def step(self, by: int) -> None:
        """Go ``by`` checkpoints further; at the ends it stays."""
        step(self.selection, self.document.session, by)

    def go_first(self) -> None:
        """Go to the first checkpoint."""
        self._choose(0)

    def go_last(self) -> None:
        """Go to the last checkpoint."""
        self._choose(self.slider.maximum())

    def _advance(self) -> None:
        if not step(self.selection, self.document.session, 1):
            self.pause()

    def _show_playing(self) -> None:
        self._buttons["play"].setIcon(transport_icon("pause" if self.is_playing else "play", self.theme.text))
        self._buttons["play"].setToolTip("Pause" if self.is_playing else "Play through the checkpoints")
        self.playing_changed.emit(self.is_playing)

    def concerns(self, delta: AnyDelta) -> bool:
        """New files and new losses of the current run."""
        return isinstance(delta, RunListed | CheckpointMeasured) and delta.run == self.selection.run

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        super().apply_theme(theme)
        sheet = (
            "QToolButton { background: transparent; border: 1px solid transparent;"
            " border-radius: 6px; padding: 4px; }"
            f"QToolButton:hover {{ background: {theme.raised}; }}"
            f"QToolButton:focus {{ border-color: {theme.accent}; }}"
        )
        for kind, button in self._buttons.items():
            button.setIcon(transport_icon(kind, theme.text))
            button.setStyleSheet(sheet)
        self._show_playing()

    def refresh(self) -> None:
        """Show where the selection stands."""
        run = self.document.session.runs.get(self.selection.run)
        names = run.names if run is not None else ()
        blocked = self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(names) - 1))
        here = names.index(self.selection.checkpoint) if self.selection.checkpoint in names else 0
        self.slider.setValue(here)
        self.slider.blockSignals(blocked)
        self.setEnabled(len(names) > 1)
        self.label.setText(_label(run, here) if run is not None and names else "no checkpoints yet")
        self.label.setToolTip(plain_tip(names[here]) if names else "")

    def _slid(self, value: int) -> None:
        self._choose(value)

    def _choose(self, index: int) -> None:
        run = self.document.session.runs.get(self.selection.run)
        if run is not None and 0 <= index < len(run.names):
            choose(self.selection, self.document.session, run.name, run.names[index])


def _label(run: Run, index: int) -> str:
    what = step_title(run)
    position = f"{index + 1} of {len(run.names)}"
    if what == "checkpoint":
        return position
    return f"{what} {whole(float(run.steps[index]))}  ·  {position}"
