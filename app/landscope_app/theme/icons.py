"""The monochrome icons of the window, drawn in the colours of the theme."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from landscope_app.theme.colors import Theme
from landscope_app.theme.resources import find

_SIZES = (16, 20, 32, 40)


def icon(name: str, theme: Theme, colour: str = "") -> QIcon:
    """The icon called ``name``; an empty one (text stays) where the resources do not hold it."""
    drawing = _drawing(name)
    made = QIcon()
    if not drawing:
        return made
    for size in _SIZES:
        made.addPixmap(_paint(drawing, colour or theme.text, size), QIcon.Mode.Normal)
        made.addPixmap(_paint(drawing, theme.muted, size), QIcon.Mode.Disabled)
    return made


def _drawing(name: str) -> str:
    file = find(f"icons/{name}.svg")
    return file.read_text(encoding="utf-8") if file is not None else ""


def _paint(drawing: str, colour: str, size: int) -> QPixmap:
    from PySide6.QtSvg import QSvgRenderer

    coloured = (
        drawing.replace("currentColor", colour).replace("#000000", colour).replace('"#000"', f'"{colour}"')
    )
    renderer = QSvgRenderer(QByteArray(coloured.encode()))
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter)
    painter.end()
    return pixmap
