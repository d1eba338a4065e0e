"""Points of several groups that can be pointed at, marked and followed."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from landscope_app.plots.axes import QuietAxis, style_plot, themed_plot
from landscope_app.plots.charts import PointsChart, Series
from landscope_app.plots.legend import Legend, series_colour
from landscope_app.plots.one_line import OneLine
from landscope_app.theme.colors import Theme

SIGNS = ("o", "t1", "s", "d", "t")
"""Signs of the groups once all colours are used: shapes differ also for those who see no colours."""

_SIZE, _NEAR, _ROOMY = 6.0, 12.0, 190  # pixels: of a sign, from a sign to the mouse, of height


def sign_of(group: Series, theme: Theme) -> str:
    """The sign of a group, as pyqtgraph calls it."""
    shared = group.shade is not None or group.colour < 0
    return SIGNS[0 if shared else group.colour // len(theme.series) % len(SIGNS)]


class PointsLegend(Legend):
    """A legend that shows signs instead of lines, so that ten classes fit into a narrow panel."""

    sample, gap = 9.0, 5.0

    def _paint_sample(self, painter: QPainter, place: QRectF, series: Series, colour: QColor) -> None:
        painter.save()
        painter.translate(place.left() + self.sample / 2, place.center().y())
        painter.scale(_SIZE + 3, _SIZE + 3)
        painter.fillPath(pg.graphicsItems.ScatterPlotItem.Symbols[sign_of(series, self._theme)], colour)
        painter.restore()


class PointsWidget(QWidget):
    """Draws a ``PointsChart``; a click marks a point, which stays marked in the next chart.

    Signals:
        marked: index of the point that was clicked, −1 = none.
    """

    marked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._chart = theme, PointsChart("")
        self._hidden: frozenset[str] = frozenset()
        self._mark = self._pointed = -1
        self.plot = themed_plot(theme)
        self.plot.setMouseEnabled(x=False, y=False)
        self._dots, self._ring = pg.ScatterPlotItem(pxMode=True), pg.ScatterPlotItem(size=_SIZE + 8)
        self.legend, self.readout = PointsLegend(theme), OneLine("Sample under the pointer")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(2)
        for part in (self.legend, self.plot, self.readout):
            layout.addWidget(part, int(part is self.plot))
        for item in (self._dots, self._ring):
            self.plot.addItem(item, ignoreBounds=True)
        self.legend.toggled.connect(self._toggle)
        self.plot.scene().sigMouseMoved.connect(self._moved)
        self.plot.scene().sigMouseClicked.connect(self._clicked)
        self.plot.viewport().installEventFilter(self)
        self.setAccessibleName("Samples of the layer in two directions")
        self.apply_theme(theme)

    @property
    def chart(self) -> PointsChart:
        """What is drawn."""
        return self._chart

    def set_chart(self, chart: PointsChart) -> None:
        """Draw other points; a mark stays on the point of the same index."""
        self._chart = chart
        if self._mark >= len(chart.points):
            self._mark = -1
        self._pointed = -1
        self._list_groups()
        self.setAccessibleDescription(f"{chart.title}: {chart.note}")
        self._draw()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        style_plot(self.plot, theme)
        self.legend.apply_theme(theme)
        self.readout.setStyleSheet(f"color: {theme.muted}; font: {theme.small}px '{theme.font}';")
        self._ring.setPen(pg.mkPen(theme.text, width=1.6))
        self._ring.setBrush(None)
        self._draw()

    def shown(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Indices of the points that have a place and whose group is not hidden."""
        chart = self._chart
        seen = np.array([group.name not in self._hidden for group in chart.groups], bool)
        return np.flatnonzero(np.isfinite(chart.points).all(axis=1) & seen[chart.group])

    def mark(self, index: int) -> None:
        """Mark a point; −1 = none."""
        self._mark = index
        self._tell()
        self.marked.emit(index)

    def _draw(self) -> None:
        chart, shown = self._chart, self.shown()
        looks = [
            (pg.mkBrush(series_colour(group, self._theme)), sign_of(group, self._theme))
            for group in chart.groups
        ]
        chosen = [looks[k] for k in chart.group[shown].tolist()]
        self._dots.setData(
            x=chart.points[shown, 0],
            y=chart.points[shown, 1],
            brush=[brush for brush, _ in chosen],
            symbol=[sign for _, sign in chosen],
            size=_SIZE,
            pen=pg.mkPen(self._theme.panel, width=0.5),
        )
        (x, y) = chart.limits
        self.plot.getViewBox().setRange(xRange=x, yRange=y, padding=0.05)
        self._title_axes()
        self._tell()

    def _title_axes(self) -> None:
        for side, title in zip(("bottom", "left"), self._chart.axis_titles, strict=True):
            axis = self.plot.getAxis(side)
            assert isinstance(axis, QuietAxis)
            axis.set_title(title if self.is_roomy else "", self._theme)

    @property
    def is_roomy(self) -> bool:
        """Whether there is room for the titles of the axes; without it they stand in the readout."""
        return self.height() >= _ROOMY

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out the titles of the axes where room is short."""
        super().resizeEvent(event)
        self._title_axes()
        self._tell()

    def _tell(self) -> None:
        """Ring the marked point and the one under the mouse, and say what the latter is."""
        chart, shown = self._chart, set(self.shown().tolist())
        ringed = [k for k in (self._mark, self._pointed) if k in shown]
        self._ring.setData(x=chart.points[ringed, 0], y=chart.points[ringed, 1])
        told = self._pointed if self._pointed in shown else self._mark
        note = chart.note if self.is_roomy else " · ".join([chart.short_titles, chart.note])
        self.readout.set_note(chart.texts[told] if told in shown else note)

    def nearest(self, position: QPointF) -> int:
        """Index of the point under a position of the plot's scene; −1 = none is near."""
        box, shown = self.plot.getViewBox(), self.shown()
        if not len(shown) or not box.sceneBoundingRect().contains(position):
            return -1
        pixel = box.viewPixelSize()
        at = box.mapSceneToView(position)
        away = (self._chart.points[shown] - (at.x(), at.y())) / pixel
        distance = np.hypot(away[:, 0], away[:, 1])
        best = int(distance.argmin())
        return int(shown[best]) if distance[best] <= _NEAR else -1

    def _moved(self, position: QPointF) -> None:
        self._pointed = self.nearest(position)
        self._tell()

    def _clicked(self, event: object) -> None:
        found = self.nearest(event.scenePos())  # type: ignore[attr-defined]
        self.mark(-1 if found == self._mark else found)

    def _toggle(self, name: object) -> None:
        self._hidden = self._hidden ^ {str(name)}
        self._list_groups()
        self._draw()

    def _list_groups(self) -> None:
        self.legend.set_series(self._chart.listed, self._hidden)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Forget the pointed sample when the mouse leaves the plot."""
        if event.type() == QEvent.Type.Leave:
            self._pointed = -1
            self._tell()
        return super().eventFilter(watched, event)
