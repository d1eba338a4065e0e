"""A label of one line that is cut where there is no room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from landscope_app.theme.plain import plain_tip


class OneLine(QLabel):
    """One line of text, cut with an ellipsis where there is no room; all of it is in the tool tip."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._whole = ""
        self.setAccessibleName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def whole(self) -> str:
        """The text, also where it is cut."""
        return self._whole

    def set_note(self, text: object) -> None:
        """Write a text."""
        self._whole = str(text)
        self.setToolTip(plain_tip(self._whole))
        self._cut()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut anew."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        metrics = QFontMetrics(self.font())
        room = self.contentsRect().width()
        self.setText(metrics.elidedText(self._whole, Qt.TextElideMode.ElideRight, max(0, room)))
