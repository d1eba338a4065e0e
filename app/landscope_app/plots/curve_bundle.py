"""Very many curves in one plot, drawn into an image in slices: a window with them never stands still."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from landscope_app.plots.charts import CurveChart, Floats
from landscope_app.plots.legend import series_colour
from landscope_app.plots.slices import Slices
from landscope_app.theme.colors import Theme

Picture = tuple[QImage, QRectF]
"""An image, and the part of the plot that it covers."""


@dataclass(frozen=True)
class Strand:
    """One curve in coordinates of the plot, NaN = a gap; with its pen."""

    x: Floats
    y: Floats
    colour: QColor
    width: float = 1.3
    dashed: bool = False


class CurveBundle(pg.GraphicsObject):  # type: ignore[misc]
    """All strands as one item. What was drawn last is shown until the new picture is complete."""

    def __init__(self) -> None:
        super().__init__()
        self._strands: tuple[Strand, ...] = ()
        self._image, self._covers = QImage(), QRectF()
        self._wanted: tuple[object, ...] = ()
        self._slices = Slices[Picture](QTimer(self, singleShot=True, interval=0), self._take)

    def set_strands(self, strands: Sequence[Strand]) -> None:
        """Draw other curves."""
        self._strands = tuple(strands)
        self._wanted = ()
        if not self._strands:
            self._slices.stop()
            self._image = QImage()
        self.update()

    @property
    def is_drawing(self) -> bool:
        """Whether the picture is not complete yet."""
        return self._slices.running

    def finish(self) -> None:
        """Draw all that is left now (for pictures and tests)."""
        self._slices.finish()

    def boundingRect(self) -> QRectF:
        """All that is seen of the plot."""
        return QRectF(self.viewRect())

    def viewRangeChanged(self, *_: object) -> None:
        """The plot shows another part."""
        self.prepareGeometryChange()
        self.update()

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Show the picture; begin another where the place has changed."""
        if not self._strands:
            return
        view, transform = self.boundingRect(), painter.transform()
        place = transform.mapRect(view)
        ratio = painter.device().devicePixelRatioF()
        key = (view.getRect(), place.width(), place.height(), ratio)
        if key != self._wanted:
            self._wanted = key
            self._slices.start(self._drawn(view, place, ratio), later=True)
        if not self._image.isNull():
            painter.drawImage(self._covers, self._image)

    def _take(self, picture: Picture) -> None:
        self._image, self._covers = picture
        self.update()

    def _drawn(self, view: QRectF, place: QRectF, ratio: float) -> Generator[None, None, Picture]:
        """A picture of ``view`` in so many pixels, a few curves in each step."""
        wide, high = max(1, round(place.width() * ratio)), max(1, round(place.height() * ratio))
        image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        across, up = wide / view.width(), high / view.height()
        yield
        for strand in self._strands:
            x = (strand.x - view.left()) * across
            y = (strand.y - view.top()) * up  # upside down, as the plot turns what is painted in it
            painter = QPainter(image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            style = Qt.PenStyle.DashLine if strand.dashed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(strand.colour, strand.width * ratio, style))
            for part in pieces(x, y, wide):
                painter.drawPolyline(part)
            painter.end()
            yield
        return image, QRectF(view)


def pieces(x: Floats, y: Floats, wide: int) -> list[QPolygonF]:
    """The unbroken parts of a curve in pixels, none of them with many more points than there are pixels."""
    found = []
    finite = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], finite.astype(np.int8), [0]])))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        every = max(1, (end - start) // (2 * wide))
        chosen = np.unique(np.append(np.arange(start, end, every), end - 1))
        points = [QPointF(*xy) for xy in zip(x[chosen].tolist(), y[chosen].tolist(), strict=True)]
        if len(points) == 1:  # a single point has no line: a short one shows it
            points = [points[0] - QPointF(1.5, 0.0), points[0] + QPointF(1.5, 0.0)]
        found.append(QPolygonF(points))
    return found


def strands(
    chart: CurveChart,
    across: Sequence[Floats],
    upward: Sequence[Floats],
    shown: Sequence[bool],
    theme: Theme,
) -> list[Strand]:
    """The curves of a chart that are shown, the one in front last and the others paler."""
    made, last = list[Strand](), list[Strand]()
    for series, x, y, seen in zip(chart.series, across, upward, shown, strict=True):
        if not seen:
            continue
        colour, ahead = QColor(series_colour(series, theme)), series.legend == chart.front
        if chart.front and not ahead:
            colour.setAlphaF(0.5)
        strand = Strand(x, y, colour, 3.0 if ahead else 1.3, series.dashed)
        (last if ahead else made).append(strand)
    return made + last
