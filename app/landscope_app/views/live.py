"""A panel that follows the document: many changes become one redraw, and a hidden panel waits."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from landscope.contract.deltas import AnyDelta
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme

FRAME_MS = 33  # at most 30 redraws a second


class LiveView(QWidget):
    """Base of all panels of results.

    A subclass says in ``concerns`` which deltas and in ``follows`` which fields of the selection matter to it,
    and draws everything in ``refresh``, which is called at most every 33 ms and only while it can be seen.
    """

    follows: frozenset[str] = frozenset({"run", "checkpoint"})

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__()
        self.document, self.selection, self.theme = document, selection, theme
        self._stale = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._redraw)
        ends = (document.listen(self._heard), selection.listen(self._chosen))
        self.destroyed.connect(lambda *_: _call_all(ends))

    def concerns(self, delta: AnyDelta) -> bool:
        """Whether a delta changes what this panel shows."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Draw everything anew from document and selection."""
        raise NotImplementedError

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.theme = theme
        self.invalidate()

    def invalidate(self) -> None:
        """Ask for a redraw soon, or when the panel is next shown."""
        self._stale = True
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def refresh_now(self) -> None:
        """Redraw at once, also while hidden (for pictures and tests)."""
        self._stale = False
        self._timer.stop()
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what changed while hidden."""
        super().showEvent(event)
        if self._stale:
            self.refresh_now()

    def _redraw(self) -> None:
        if self._stale and self.isVisible():
            self.refresh_now()

    def _heard(self, delta: AnyDelta | None) -> None:
        if delta is None or self.concerns(delta):
            self.invalidate()

    def _chosen(self, changed: frozenset[str]) -> None:
        if changed & self.follows:
            self.invalidate()


class Hint(QLabel):
    """A quiet sentence where something will appear."""

    def __init__(self, theme: Theme, text: str = "") -> None:
        super().__init__(text)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMargin(24)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.setStyleSheet(f"color: {theme.muted}; background: {theme.panel}; font-size: {theme.size}px;")


class Note(QLabel):
    """One small muted line that gives way when there is no room."""

    def __init__(self, theme: Theme, name: str, mono: bool = False) -> None:
        super().__init__()
        self._mono = mono
        self.setAccessibleName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.apply_theme(theme)

    def set_note(self, text: str) -> None:
        """Write a text; all of it is in the tool tip."""
        self.setText(text)
        self.setToolTip(text)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        family = theme.mono if self._mono else theme.font
        self.setStyleSheet(f"color: {theme.muted}; font-family: '{family}'; font-size: {theme.small}px;")


def _call_all(functions: tuple[Callable[[], None], ...]) -> None:
    for function in functions:
        function()
