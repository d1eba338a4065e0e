"""The turning surface as an image of any size, with its title, alone or two on one scale."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from landscope.contract.errors import LandscopeError
from landscope_app.scene.offscreen import OffscreenRenderer
from landscope_app.theme.colors import Theme
from landscope_app.views.shown_planes import Look, Shown, shown_scenes

_REFERENCE = (760.0, 560.0)  # pixels at which labels have their size in the window
_HEAD = 36.0


def surface_image(shown: Shown, look: Look, width: int, height: int, transparent: bool = False) -> QImage:
    """Draw one or two planes side by side, each under its title.

    Args:
        shown: the planes.
        look: theme, camera and marked checkpoint.
        width: pixels of the whole image.
        height: pixels.
        transparent: without a background; the image is premultiplied.

    Raises:
        NoOpenGLError: nothing here can draw it.
    """
    columns = len(shown.planes)
    scale = max(0.6, min(width / columns / _REFERENCE[0], height / _REFERENCE[1]))
    head = round(_HEAD * scale)
    image = QImage(width, height, QImage.Format.Format_RGBA8888_Premultiplied)
    image.fill(Qt.GlobalColor.transparent if transparent else QColor(look.theme.panel))
    with OffscreenRenderer() as renderer:
        pictures = [
            renderer.image(
                state,
                look.camera,
                _edge(width, columns, k + 1) - _edge(width, columns, k),
                height - head,
                scale,
                transparent,
            )
            for k, state in enumerate(shown_scenes(shown, look))
        ]
    painter = QPainter(image)
    for k, (picture, one) in enumerate(zip(pictures, shown.planes, strict=True)):
        painter.drawImage(_edge(width, columns, k), head, picture)
        place = QRectF(_edge(width, columns, k) + 14 * scale, 0, width / columns - 28 * scale, head)
        _write_title(painter, one.title, place, look.theme, scale)
    painter.end()
    return image


def save_surface(
    shown: Shown, look: Look, path: Path, width: int, height: int, transparent: bool = False
) -> Path:
    """Write ``surface_image`` as PNG.

    Raises:
        LandscopeError: another ending, nothing to draw with, or the file cannot be written.
    """
    if path.suffix.lower() != ".png":
        raise LandscopeError(
            f"The surface is a picture of points and cannot be written as “{path.suffix}”: "
            "use .png, or show the contour map for .svg and .pdf."
        )
    if not surface_image(shown, look, width, height, transparent).save(str(path)):
        raise LandscopeError(f"{path} cannot be written: check the folder and the free space.")
    return path


def _edge(width: int, columns: int, k: int) -> int:
    return round(width * k / columns)


def _write_title(painter: QPainter, title: str, place: QRectF, theme: Theme, scale: float) -> None:
    font = QFont(theme.font)
    font.setPixelSize(max(8, round(14 * scale)))
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    painter.setPen(QColor(theme.text))
    text = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(place.width()))
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, text)
