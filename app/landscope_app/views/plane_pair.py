"""One or two pictures of planes side by side; two stand under their titles."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from landscope_app.theme.colors import Theme
from landscope_app.views.labels import Heading


class PlanePair(QWidget):
    """Two widgets side by side; the second is hidden until something is compared."""

    def __init__(self, first: QWidget, second: QWidget, theme: Theme) -> None:
        super().__init__()
        self._titles = (Heading(theme, "First plane"), Heading(theme, "Second plane"))
        self._cells = tuple(
            _cell(title, widget) for title, widget in zip(self._titles, (first, second), strict=True)
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        for cell in self._cells:
            layout.addWidget(cell, 1)
        self.set_titles("", None)

    def set_titles(self, first: str, second: str | None) -> None:
        """Write the titles; None hides the second picture and the title of the first."""
        for title, text in zip(self._titles, (first, second or ""), strict=True):
            title.set_note(text)
            title.setVisible(second is not None)
        self._cells[1].setVisible(second is not None)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for title in self._titles:
            title.apply_theme(theme)


def _cell(title: QWidget, widget: QWidget) -> QWidget:
    cell = QWidget()
    layout = QVBoxLayout(cell)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(title)
    layout.addWidget(widget, 1)
    return cell
