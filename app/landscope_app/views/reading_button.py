"""A small “?” that tells how to read what stands beside it."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolButton, QToolTip, QWidget


class ReadingButton(QToolButton):
    """Tells its text when pointed at and when pressed."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText("?")
        self.setAutoRaise(True)
        self.setAccessibleName("How to read this")
        self.tell(text)
        self.clicked.connect(self._show)

    def tell(self, text: str) -> None:
        """Another text."""
        self.setAccessibleDescription(text)
        self.setToolTip(f"<qt>{escape(text, quote=False).replace(chr(10), '<br>')}</qt>")

    def _show(self) -> None:
        QToolTip.showText(self.mapToGlobal(QPoint(0, self.height())), self.toolTip(), self)
