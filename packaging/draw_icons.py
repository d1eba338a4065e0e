"""Draw the application icon's PNG and ICO files from ``landscope.svg``: run it after changing the drawing."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).parent.parent / "resources" / "landscope_resources" / "icons"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def draw(renderer: QSvgRenderer, size: int) -> Path:
    """Write the icon as a square PNG of ``size`` pixels and return where it lies."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    target = ICONS / f"landscope-{size:03d}.png"
    image.save(str(target))
    return target


def main() -> None:
    """Draw every size, and the Windows icon from the largest."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication([])
    renderer = QSvgRenderer(str(ICONS / "landscope.svg"))
    drawn = [draw(renderer, size) for size in SIZES]
    with Image.open(drawn[-2]) as largest:
        largest.save(ICONS / "landscope.ico", sizes=[(size, size) for size in SIZES[:-1]])
    del application


if __name__ == "__main__":
    main()
