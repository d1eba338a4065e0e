"""The texts of the scene and its colour bar, painted in one pass over the drawn picture."""

from __future__ import annotations

import threading
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPainterPath, QPen

from landscope_app.scene.frame import Frame
from landscope_app.scene.labels import PANEL, Label, place_checkpoint_label, place_labels
from landscope_app.scene.model import SceneState
from landscope_app.scene.surface import colour_table
from landscope_app.scene.ticks import axis_ticks

FALLBACK_FAMILIES = ("Inter", "Noto Sans", "DejaVu Sans")
TICK_SIZE, TITLE_SIZE = 12, 12
BAR_WIDTH, BAR_LONGEST, BAR_TICK = 12.0, 280.0, 4.0
# As plain numbers: joining flags costs as much as painting a text.
CENTRED = Qt.AlignmentFlag.AlignCenter.value | Qt.TextFlag.TextDontClip.value
BESIDE = Qt.AlignmentFlag.AlignLeft.value | Qt.AlignmentFlag.AlignVCenter.value
BAR_SMALLEST_PICTURE = (260.0, 150.0)  # logical pixels; smaller pictures have no colour bar


def paint_overlay(painter: QPainter, state: SceneState, frame: Frame) -> None:
    """Paint labels and colour bar in logical pixels; the caller has scaled the painter.

    Args:
        painter: active on the picture.
        state: what is shown.
        frame: the same frame that was drawn.
    """
    painter.save()
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    measure = _measure(state.font_family)
    labels = place_labels(state, frame, measure) if state.show_axes else []
    for label in labels:
        _paint_label(painter, state, label)
    checkpoint = place_checkpoint_label(state, frame, measure, labels)
    if checkpoint is not None:
        _paint_panel(painter, state, checkpoint)
        _paint_label(painter, state, checkpoint)
    if (
        state.show_colour_bar
        and frame.width >= BAR_SMALLEST_PICTURE[0]
        and frame.height >= BAR_SMALLEST_PICTURE[1]
    ):
        _paint_colour_bar(painter, state, frame)
    painter.restore()


_thread = threading.local()  # a font keeps its glyphs per thread, so threads do not share one


def scene_font(family: str, bold: bool) -> QFont:
    """Return the font of ticks or, bold, of titles; sizes in logical pixels, the same on every screen."""
    fonts: dict[tuple[str, bool], QFont] = _thread.__dict__.setdefault("fonts", {})
    if (family, bold) not in fonts:
        fonts[family, bold] = _made_font(family, bold)
    return fonts[family, bold]


def _made_font(family: str, bold: bool) -> QFont:
    font = QFont()
    font.setFamilies([family, *FALLBACK_FAMILIES])
    font.setPixelSize(TITLE_SIZE if bold else TICK_SIZE)
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    # Hinting snaps glyphs to device pixels: text would be spaced differently at every scale.
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    font.setStyleStrategy(QFont.StyleStrategy.NoSubpixelAntialias)  # no colour fringes
    return font


class _measure:  # noqa: N801  a function with a memory
    """Width and height of a text in one font family; metrics are asked once per text."""

    def __init__(self, family: str) -> None:
        self._family = family

    def __call__(self, text: str, bold: bool) -> tuple[float, float]:
        return _text_size(self._family, text, bold)


@lru_cache(maxsize=512)
def _text_size(family: str, text: str, bold: bool) -> tuple[float, float]:
    metrics = QFontMetricsF(scene_font(family, bold))
    return metrics.horizontalAdvance(text) + 1.0, metrics.height()


def _paint_label(painter: QPainter, state: SceneState, label: Label) -> None:
    painter.setFont(scene_font(state.font_family, label.title))
    painter.setPen(QColor(state.theme.title if label.title else state.theme.text))
    area = QRectF(label.x - label.width / 2, label.y - label.height / 2, label.width, label.height)
    painter.drawText(area, CENTRED, label.text)


def _paint_panel(painter: QPainter, state: SceneState, label: Label) -> None:
    """Paint a quiet panel under the label of a checkpoint, which stands on the surface."""
    ground, border = QColor(state.theme.background), QColor(state.theme.frame)
    ground.setAlphaF(0.82)
    border.setAlphaF(0.7)
    painter.setPen(QPen(border, 1.0))
    painter.setBrush(ground)
    area = QRectF(label.x - label.width / 2, label.y - label.height / 2, label.width, label.height)
    painter.drawRoundedRect(area.adjusted(0.5, 2.5, -0.5, -2.5), PANEL - 1, PANEL - 1)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _paint_colour_bar(painter: QPainter, state: SceneState, frame: Frame) -> None:
    height = min(BAR_LONGEST, 0.5 * frame.height)
    left = frame.width - min(frame.insets.right, 96.0) + 14.0
    top = (frame.height - height) / 2 + 8.0
    bar = QRectF(left, top, BAR_WIDTH, height)
    outline = QPainterPath()
    outline.addRoundedRect(bar, 3.0, 3.0)
    painter.save()
    painter.setClipPath(outline, Qt.ClipOperation.IntersectClip)
    painter.drawImage(bar, _bar_image(state.colour_map))
    painter.restore()
    _paint_bar_ticks(painter, state, frame, bar)


def _paint_bar_ticks(painter: QPainter, state: SceneState, frame: Frame, bar: QRectF) -> None:
    low, high = state.colour_range
    ticks = axis_ticks(low, high, 5 if bar.height() >= 120 else 3, state.log_scale)
    painter.setFont(scene_font(state.font_family, False))
    painter.setPen(QPen(QColor(state.theme.text), 1.0))
    size = _measure(state.font_family)
    edge = bar.right() + 3.0
    for position, text in zip(ticks.positions, ticks.texts, strict=True):
        y = bar.bottom() - bar.height() * (position - low) / (high - low)
        width, height = size(text, False)
        painter.drawLine(QPointF(edge, y), QPointF(edge + BAR_TICK, y))
        area = QRectF(
            edge + BAR_TICK + 4.0, y - height / 2, min(width, frame.width - edge - BAR_TICK - 5.0), height
        )
        painter.drawText(area, BESIDE, text)
    _paint_bar_title(painter, state, frame, bar)


def _paint_bar_title(painter: QPainter, state: SceneState, frame: Frame, bar: QRectF) -> None:
    font = scene_font(state.font_family, True)
    room = frame.insets.right - 4.0
    text = QFontMetricsF(font).elidedText(state.title_colour, Qt.TextElideMode.ElideRight, room)
    width, height = _text_size(state.font_family, text, True)
    left = min(max(bar.center().x() - width / 2, frame.width - room - 2.0), frame.width - width - 2.0)
    painter.setFont(font)
    painter.setPen(QColor(state.theme.title))
    area = QRectF(left, bar.top() - height - 9.0, width, height)
    painter.drawText(area, CENTRED, text)


@lru_cache(maxsize=16)
def _bar_image(name: str) -> QImage:
    """Return the colour map as an image one pixel wide, highest value on top."""
    table = colour_table(name)[::-4].copy()
    table[:, 3] = 255
    image = QImage(table.tobytes(), 1, len(table), 4, QImage.Format.Format_RGBA8888)
    return image.copy()  # the bytes above do not outlive this call
