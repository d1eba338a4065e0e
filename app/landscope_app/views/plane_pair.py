"""One or two pictures of planes side by side, each under its title."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from landscope_app.theme.colors import Theme


class PlanePair(QWidget):
    """Two widgets side by side; the second is hidden until something is compared."""

    def __init__(self, first: QWidget, second: QWidget, theme: Theme) -> None:
        super().__init__()
        self._titles = (QLabel(), QLabel())
        self._cells = tuple(
            _cell(title, widget) for title, widget in zip(self._titles, (first, second), strict=True)
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        for cell in self._cells:
            layout.addWidget(cell, 1)
        self._cells[1].hide()
        self.apply_theme(theme)

    def set_titles(self, first: str, second: str | None) -> None:
        """Write the titles; None hides the second picture."""
        for title, text in zip(self._titles, (first, second or ""), strict=True):
            title.setText(text)
            title.setToolTip(text)
        self._cells[1].setVisible(second is not None)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.setStyleSheet(f"PlanePair {{ background: {theme.border}; }}")
        for cell in self._cells:
            cell.setStyleSheet(f"#planeCell {{ background: {theme.panel}; }}")
        for title in self._titles:
            title.setStyleSheet(
                f"color: {theme.text}; background: {theme.panel}; font-size: {theme.size}px; font-weight: 600;"
                "padding: 8px 12px 2px 12px;"
            )


def _cell(title: QLabel, widget: QWidget) -> QWidget:
    cell = QWidget()
    cell.setObjectName("planeCell")
    cell.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    title.setTextFormat(Qt.TextFormat.PlainText)
    title.setMinimumWidth(10)
    layout = QVBoxLayout(cell)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(title)
    layout.addWidget(widget, 1)
    return cell
