"""Undo and redo of view changes, and the state of the view that a session keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

from landscope_app.state.undo import UndoStack

SETTLED_MS = 400
View = dict[str, Any]


class ViewHistory(QObject):
    """Captures the view once it has been still for 400 ms, so that a drag is one step."""

    def __init__(
        self, capture: Callable[[], View], restore: Callable[[View], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._capture = capture
        self._restore = restore
        self._stack: UndoStack[View] = UndoStack({})
        self._busy = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLED_MS)
        self._timer.timeout.connect(self._settle)

    def reset(self) -> None:
        """Begin anew with the view as it is."""
        self._timer.stop()
        self._stack.reset(self._capture())

    def touch(self) -> None:
        """Something of the view changed."""
        if not self._busy:
            self._timer.start()

    def undo(self) -> None:
        """One view back."""
        self._settle()
        self._go(self._stack.undo())

    def redo(self) -> None:
        """One view on."""
        self._go(self._stack.redo())

    def _settle(self) -> None:
        self._timer.stop()
        self._stack.push(self._capture())

    def _go(self, view: View) -> None:
        self._busy = True
        try:
            self._restore(view)
        finally:
            self._busy = False
