"""A panel that follows the document: many changes become one redraw, and a hidden panel waits."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QPalette, QShowEvent
from PySide6.QtWidgets import QWidget

from landscope.contract.deltas import AnyDelta
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme

FRAME_MS = 33  # at most 30 redraws a second
APART_MS = 13
"""A new checkpoint concerns several panels; redrawn in turn, they never add up to one long pause."""

_places = itertools.cycle(range(4))


class LiveView(QWidget):
    """Base of all panels of results.

    A subclass says in ``concerns`` which deltas and in ``follows`` which fields of the selection matter to
    it, and draws everything in ``refresh``: called at most every 33 ms, each panel in
    turn, and only while it can be seen.
    """

    follows: frozenset[str] = frozenset({"run", "checkpoint"})

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__()
        self.document, self.selection, self.theme = document, selection, theme
        self._stale = True
        self.setAutoFillBackground(True)
        self._fill()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FRAME_MS + APART_MS * next(_places))
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
        self._fill()
        self.invalidate()

    def invalidate(self) -> None:
        """Ask for a redraw soon, or when the panel is next shown."""
        self._stale = True
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    @property
    def is_waiting(self) -> bool:
        """Whether a redraw is due."""
        return self._timer.isActive()

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

    def _fill(self) -> None:
        colours = self.palette()
        colours.setColor(QPalette.ColorRole.Window, QColor(self.theme.panel))
        self.setPalette(colours)

    def _redraw(self) -> None:
        if self._stale and self.isVisible():
            self.refresh_now()

    def _heard(self, delta: AnyDelta | None) -> None:
        if delta is None or self.concerns(delta):
            self.invalidate()

    def _chosen(self, changed: frozenset[str]) -> None:
        if changed & self.follows:
            self.invalidate()


def _call_all(functions: tuple[Callable[[], None], ...]) -> None:
    for function in functions:
        function()
