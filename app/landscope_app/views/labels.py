"""Labels of the panels: sentences where something will appear, small notes, headings that give way."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

from landscope_app.plots.one_line import OneLine
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
