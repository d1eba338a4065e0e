"""A plane as a heat map with contour lines, the training path and values on hover."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from contourpy import contour_generator
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QWidget

from landscope_app.plots.axes import QuietAxis, style_plot, themed_plot
from landscope_app.plots.charts import FieldChart, Floats
from landscope_app.plots.colour_bar import ColourBar
from landscope_app.plots.colour_maps import mapped
from landscope_app.theme.colors import Theme

_MARGIN = 10


class ContourWidget(QWidget):
    """Draws a ``FieldChart``.

    Signals:
        hovered: (alpha, beta, displayed value) under the mouse, or None.
        picked: index of the checkpoint on the path that was clicked.
    """

    hovered = Signal(object)
    picked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chart: FieldChart | None = None
        self._around = (62, 48)  # what axes take; learnt anew whenever their texts change
        self.plot = themed_plot(theme)
        self.bar = ColourBar(theme)
        self._image = pg.ImageItem(axisOrder="row-major")
        self._lines = pg.PlotCurveItem(antialias=True)
        self._halo = pg.PlotCurveItem(antialias=True)
        self._path = pg.PlotCurveItem(antialias=True)
        self._dots, self._now = pg.ScatterPlotItem(), pg.ScatterPlotItem()
        for item in (self._image, self._lines, self._halo, self._path, self._dots, self._now):
            self.plot.addItem(item)
        for widget in (self.plot, self.bar):
            widget.setParent(self)
        self.plot.getPlotItem().vb.sigResized.connect(self._axes_changed)
        self.plot.scene().sigMouseMoved.connect(self._moved)
        self.plot.scene().sigMouseClicked.connect(self._clicked)
        self.plot.viewport().installEventFilter(self)
        self.apply_theme(theme)

    @property
    def chart(self) -> FieldChart | None:
        """What is drawn."""
        return self._chart

    def set_chart(self, chart: FieldChart | None) -> None:
        """Draw another field; the zoom stays while its coordinates stay."""
        before, self._chart = self._chart, chart
        for item in (self._image, self._lines, self._halo, self._path, self._dots, self._now):
            item.setVisible(chart is not None)
        if chart is None:
            return
        self._draw_field(chart)
        self._draw_path(chart)
        for side, title in zip(("bottom", "left"), chart.axis_titles, strict=True):
            axis = self.plot.getAxis(side)
            if isinstance(axis, QuietAxis) and axis.labelText != title:
                axis.set_title(title, self._theme)
        self.bar.show_range(chart.value_title, chart.limits, chart.log, chart.colour_map)
        if before is None or not _same_frame(before, chart):
            self._fit(chart)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        style_plot(self.plot, theme)
        self.bar.apply_theme(theme)
        if self._chart is not None:
            self._draw_path(self._chart)
            self._draw_lines(self._chart)

    def _draw_field(self, chart: FieldChart) -> None:
        self._image.setImage(mapped(chart.z.T, chart.limits, chart.colour_map), levels=None)
        self._image.setRect(_cells(chart.alpha, chart.beta))
        self._draw_lines(chart)

    def _draw_lines(self, chart: FieldChart) -> None:
        x, y = contour_lines(chart)
        self._lines.setPen(pg.mkPen(QColor(0, 0, 0, 120), width=1))
        self._lines.setData(x, y, connect="finite")

    def _draw_path(self, chart: FieldChart) -> None:
        path = chart.path if chart.path is not None else np.empty((0, 2))
        self._halo.setPen(pg.mkPen(QColor(self._theme.background), width=5))
        self._path.setPen(pg.mkPen(QColor(self._theme.path), width=2.4))
        self._halo.setData(path[:, 0], path[:, 1], connect="finite")
        self._path.setData(path[:, 0], path[:, 1], connect="finite")
        rim = pg.mkPen(QColor("#14161b"), width=1)
        self._dots.setData(path[:, 0], path[:, 1], size=7, brush=pg.mkBrush("#ffffff"), pen=rim)
        here = path[chart.current : chart.current + 1] if chart.current >= 0 else path[:0]
        ring = pg.mkPen(QColor("#ffffff"), width=2)
        self._now.setData(here[:, 0], here[:, 1], size=14, brush=pg.mkBrush(self._theme.path), pen=ring)

    def _fit(self, chart: FieldChart) -> None:
        self.plot.setRange(_cells(chart.alpha, chart.beta), padding=0)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the proportions of the plane."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Give plot and colour bar the largest rectangle in which one unit is as long along both axes."""
        bar = self.bar.sizeHint().width()
        room = self.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN - bar, -_MARGIN)
        around = self._around
        wide, high = _proportions(self._chart)
        unit = max(1.0, min((room.width() - around[0]) / wide, (room.height() - around[1]) / high))
        width, height = round(unit * wide + around[0]), round(unit * high + around[1])
        left = room.left() + max(0, (room.width() - width) // 2)
        top = room.top() + max(0, (room.height() - height) // 2)
        self.plot.setGeometry(left, top, width, height)
        self.bar.setGeometry(left + width, top, bar, height)

    def _axes_changed(self) -> None:
        """Tick texts have changed the room that axes take."""
        box = self.plot.getViewBox().size()
        around = (round(self.plot.width() - box.width()), round(self.plot.height() - box.height()))
        if around != self._around:
            self._around = around
            self._place()

    def _moved(self, position: QPointF) -> None:
        box = self.plot.getViewBox()
        inside = box.sceneBoundingRect().contains(position)
        point = box.mapSceneToView(position) if inside else None
        self.hovered.emit(self._value(point.x(), point.y()) if point is not None else None)

    def _value(self, alpha: float, beta: float) -> tuple[float, float, float] | None:
        chart = self._chart
        if chart is None or not _cells(chart.alpha, chart.beta).contains(QPointF(alpha, beta)):
            return None
        i = int(np.argmin(np.abs(chart.alpha - alpha)))
        j = int(np.argmin(np.abs(chart.beta - beta)))
        return float(chart.alpha[i]), float(chart.beta[j]), float(chart.z[i, j])

    def _clicked(self, event: object) -> None:
        chart = self._chart
        if chart is None or chart.path is None or not len(chart.path):
            return
        places = [self.plot.getViewBox().mapViewToScene(QPointF(*p)) for p in chart.path]
        at = event.scenePos()  # type: ignore[attr-defined]
        far = [(p - at).manhattanLength() for p in places]
        if min(far) < 16:
            self.picked.emit(int(np.argmin(far)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Forget the pointed value when the mouse leaves the map."""
        if event.type() == QEvent.Type.Leave:
            self.hovered.emit(None)
        return super().eventFilter(watched, event)


def contour_lines(chart: FieldChart) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All contour lines of a chart, one after the other, NaN between them."""
    z = np.ma.masked_invalid(np.asarray(chart.z.T, float))
    if not chart.levels or z.mask.all():
        return np.empty(0), np.empty(0)
    generator = contour_generator(chart.alpha, chart.beta, z)
    gap = np.full((1, 2), np.nan)
    pieces: list[NDArray[np.float64]] = []
    for level in chart.levels:
        for line in generator.lines(level):
            pieces += [np.asarray(line, float), gap]
    joined = np.concatenate(pieces) if pieces else np.empty((0, 2))
    return joined[:, 0], joined[:, 1]


def _cells(alpha: Floats, beta: Floats) -> QRectF:
    """The rectangle of an image whose pixel centres are the coordinates."""
    da, db = float(alpha[1] - alpha[0]), float(beta[1] - beta[0])
    left, low = float(alpha[0]) - da / 2, float(beta[0]) - db / 2
    return QRectF(left, low, float(np.ptp(alpha)) + da, float(np.ptp(beta)) + db)


def _proportions(chart: FieldChart | None) -> tuple[float, float]:
    """Width and height of a plane; one that is much longer than wide is drawn as a square."""
    if chart is None:
        return 1.0, 1.0
    wide, high = float(np.ptp(chart.alpha)), float(np.ptp(chart.beta))
    return (wide, high) if max(wide, high) <= 3 * min(wide, high) else (1.0, 1.0)


def _same_frame(one: FieldChart, other: FieldChart) -> bool:
    return np.array_equal(one.alpha[[0, -1]], other.alpha[[0, -1]]) and np.array_equal(
        one.beta[[0, -1]], other.beta[[0, -1]]
    )
