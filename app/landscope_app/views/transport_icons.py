"""Icons of the play bar, drawn in the colour of the text so that they fit both looks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPixmap

_SIZE = 16
_SCALE = 3  # drawn large once, scaled down by the style


def transport_icon(kind: str, colour: str) -> QIcon:
    """An icon: ``play``, ``pause``, ``next``, ``previous``, ``first`` or ``last``."""
    pixmap = QPixmap(_SIZE * _SCALE, _SIZE * _SCALE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(_SCALE, _SCALE)
    if kind in ("previous", "first"):
        painter.translate(_SIZE, 0)
        painter.scale(-1, 1)
    painter.fillPath(_path(kind), QColor(colour))
    painter.end()
    return QIcon(pixmap)


def _path(kind: str) -> QPainterPath:
    path = QPainterPath()
    if kind == "pause":
        path.addRoundedRect(QRectF(4, 3, 3, 10), 1, 1)
        path.addRoundedRect(QRectF(9, 3, 3, 10), 1, 1)
        return path
    left = 4.5 if kind == "play" else 3.0
    path.addPolygon([QPointF(left, 3), QPointF(left + 8.5, 8), QPointF(left, 13)])
    path.closeSubpath()
    if kind in ("next", "previous"):
        return path
    if kind in ("first", "last"):
        path.addRoundedRect(QRectF(11.5, 3, 2, 10), 1, 1)
    return path
