"""The start page: recent work, open a project or session, a place to drop files, and the sample."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from landscope_app.settings.store import Recent, Settings
from landscope_app.theme.plain import plain_tip
from landscope_app.views.rescue import RescueCard

if TYPE_CHECKING:
    from landscope_app.work.context import Context

_ROW, _RECENT_HEIGHT = 30, 252
_MISSING = " (not there any more)"


class StartPage(QWidget):
    """What is shown while nothing is open.

    Signals:
        sample_wanted(), project_wanted(), session_wanted(): a button was pressed.
        path_wanted(str): a recent entry was chosen.
        dropped(list[str]): files or folders were dropped.
        recovered(Session): unsaved results of an earlier window are wanted back.
    """

    sample_wanted = Signal()
    project_wanted = Signal()
    session_wanted = Signal()
    path_wanted = Signal(object)
    dropped = Signal(object)
    recovered = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._context: Context | None = None
        outer = QHBoxLayout(self)
        column = QVBoxLayout()
        column.setSpacing(14)
        inner = QWidget()
        inner.setLayout(column)
        inner.setMaximumWidth(880)
        outer.addStretch(1)
        outer.addWidget(inner, 8)
        outer.addStretch(1)
        column.addStretch(1)
        column.addWidget(_label("Landscope", "title"))
        column.addWidget(_label("See how a PyTorch network trained.", "muted"))
        column.addSpacing(6)
        self._rescue = RescueCard()
        self._rescue.recovered.connect(self.recovered)
        column.addWidget(self._rescue)
        column.addLayout(self._cards())
        column.addWidget(self._drop_area())
        column.addWidget(_label("Recent", "heading"))
        self._recent = QListWidget()
        self._recent.setAccessibleName("Recent projects and sessions")
        self._recent.itemActivated.connect(self._choose)
        self._recent.itemClicked.connect(self._choose)
        column.addWidget(self._recent)
        self._none = _label("Projects and sessions that you open are listed here.", "muted")
        column.addWidget(self._none)
        column.addStretch(2)
        self.refresh()

    def furnish(self, context: Context) -> None:
        """From now on there are threads to look at the disk."""
        self._context = context
        self._settings = context.settings
        self._rescue.furnish(context.background)
        self.refresh()

    def refresh(self) -> None:
        """List the recent entries; which of them still exist is looked up off the GUI thread."""
        recent = list(self._settings.recent)
        self._fill(recent, {})
        if self._context is not None:
            self._rescue.look()
            self._context.background.run(
                lambda: {item.path: Path(item.path).exists() for item in recent},
                lambda there: self._fill(list(self._settings.recent), there),
            )

    def _cards(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        cards = (
            ("Sample project", "Digits, three small networks, ready to run.", "Run the sample", True),
            ("Project", "A model script and its checkpoint folders.", "Open a project…", False),
            ("Session", "Results that were saved earlier.", "Open a session…", False),
        )
        signals = (self.sample_wanted, self.project_wanted, self.session_wanted)
        for (title, text, action, primary), signal in zip(cards, signals, strict=True):
            card, button = _card(title, text, action, primary)
            button.clicked.connect(lambda _checked=False, signal=signal: signal.emit())
            row.addWidget(card, 1)
        return row

    def _drop_area(self) -> DropArea:
        area = DropArea("Drop a checkpoint or a folder of them, a model script or a session here")
        area.dropped.connect(self.dropped)
        return area

    def _fill(self, recent: list[Recent], there: dict[str, bool]) -> None:
        self._recent.clear()
        for item in recent:
            missing = there.get(item.path) is False
            entry = QListWidgetItem(recent_text(item) + (_MISSING if missing else ""))
            entry.setData(Qt.ItemDataRole.UserRole, item.path)
            entry.setToolTip(plain_tip(item.path))
            entry.setSizeHint(QSize(0, _ROW))
            if missing:
                entry.setFlags(Qt.ItemFlag.NoItemFlags)
            self._recent.addItem(entry)
        self._recent.setFixedHeight(min(_RECENT_HEIGHT, 12 + _ROW * len(recent)))
        self._recent.setVisible(bool(recent))
        self._none.setVisible(not recent)

    def _choose(self, item: QListWidgetItem) -> None:
        if item.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.path_wanted.emit(str(item.data(Qt.ItemDataRole.UserRole)))


class DropArea(QFrame):
    """A dashed frame that takes files.

    Signals:
        dropped(list[str]): absolute paths.
    """

    dropped = Signal(object)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.setMinimumHeight(92)
        self.setAccessibleName(text)
        label = _label(text, "muted")
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        QVBoxLayout(self).addWidget(label)
        self._heat("drop")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show that files would be taken."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
            self._heat("drop-hot")

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """The files went elsewhere."""
        self._heat("drop")
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Hand the paths on."""
        self._heat("drop")
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.dropped.emit(paths)

    def _heat(self, card: str) -> None:
        self.setProperty("card", card)
        self.style().unpolish(self)
        self.style().polish(self)


def recent_text(item: Recent) -> str:
    """One line for a recent entry: name, kind, folder, day."""
    path = Path(item.path)
    day = time.strftime("%Y-%m-%d", time.localtime(item.opened)) if item.opened else ""
    return "   ·   ".join(part for part in (path.name, item.kind, str(path.parent), day) if part)


def _card(title: str, text: str, action: str, primary: bool) -> tuple[QFrame, QPushButton]:
    card = QFrame()
    card.setProperty("card", True)
    layout = QVBoxLayout(card)
    layout.setContentsMargins(16, 14, 16, 14)
    layout.addWidget(_label(title, "heading"))
    said = _label(text, "muted")
    said.setWordWrap(True)
    said.setAlignment(Qt.AlignmentFlag.AlignTop)
    layout.addWidget(said, 1)
    button = QPushButton(action)
    button.setProperty("primary", primary)
    button.setAccessibleName(action)
    button.setAccessibleDescription(text)
    layout.addSpacing(4)
    layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
    return card, button


def _label(text: str, kind: str) -> QLabel:
    label = QLabel(text)
    label.setProperty(kind, True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
