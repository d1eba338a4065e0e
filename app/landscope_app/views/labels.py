"""Labels of the panels: sentences where something will appear, small notes, headings that give way."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from landscope_app.theme.colors import Theme


class Hint(QLabel):
    """A quiet sentence where something will appear."""

    def __init__(self, theme: Theme, text: str = "") -> None:
        super().__init__(text)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMargin(24)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.setStyleSheet(f"color: {theme.muted}; font-size: {theme.size}px;")


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
        self.setToolTip(self._whole)
        self._cut()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut anew."""
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        metrics = QFontMetrics(self.font())
        room = self.contentsRect().width()
        self.setText(metrics.elidedText(self._whole, Qt.TextElideMode.ElideRight, max(0, room)))


class Note(OneLine):
    """A small muted line."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(name)
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.setStyleSheet(f"color: {theme.muted}; font-size: {theme.small}px;")


class Heading(OneLine):
    """The title of a picture."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(name)
        self.setContentsMargins(12, 8, 12, 2)
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.setStyleSheet(f"color: {theme.text}; font-size: {theme.size}px; font-weight: 600;")
