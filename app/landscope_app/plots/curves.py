"""Curves with a legend above, an optional second axis, a cursor and the values it stands at."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPen, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from landscope_app.plots.axes import QuietAxis, style_plot, themed_plot
from landscope_app.plots.charts import CurveChart, Floats, Series
from landscope_app.plots.curve_bundle import CurveBundle, strands
from landscope_app.plots.curve_values import (
    MANY,
    extent,
    is_hidden,
    legend_entries,
    log10,
    nearest_curve,
    values_at,
)
from landscope_app.plots.legend import Legend, series_colour
from landscope_app.plots.one_line import OneLine
from landscope_app.theme.colors import Theme

_EMPTY = CurveChart("", "", "", ())
_ROOMY, _NEAR = 260, 9.0  # pixels of height; between the mouse and a curve that it points at


class CurvesWidget(QWidget):
    """Draws a ``CurveChart``.

    Signals:
        picked: index into ``chart.stops`` of the checkpoint that was clicked.
        named: the curve (its group) that was clicked, and whether Ctrl or Shift was held.
    """

    picked = Signal(object)
    named = Signal(str, bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._chart = theme, _EMPTY
        self._hidden: frozenset[str] = frozenset()
        self._items: list[tuple[Series, pg.PlotDataItem]] = []
        self._bundle, self._upwards = CurveBundle(), list[Floats]()
        self._drawn: tuple[object, ...] = ()
        self.plot = themed_plot(theme, right=True)
        self.plot.setMouseEnabled(x=True, y=False)
        self._right = pg.ViewBox(enableMenu=False)
        self.legend = Legend(theme)
        self.readout = OneLine("Values at the cursor")
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._dots = pg.ScatterPlotItem(size=8)
        self._lay_out()
        self._join_right_axis()
        self.apply_theme(theme)

    @property
    def chart(self) -> CurveChart:
        """What is drawn."""
        return self._chart

    @property
    def cursor_position(self) -> float | None:
        """Where the cursor stands on the x axis; None = there is none."""
        return float(self._cursor.value()) if self._cursor.isVisible() else None

    def shown_names(self) -> tuple[str, ...]:
        """Names of the curves that are not hidden."""
        return tuple(s.name for s in self._chart.series if self._is_shown(s))

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(2)
        layout.addWidget(self.legend)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self.readout)
        self.legend.toggled.connect(self._toggle)

    def _join_right_axis(self) -> None:
        item = self.plot.getPlotItem()
        item.scene().addItem(self._right)
        item.getAxis("right").linkToView(self._right)
        self._right.setXLink(item.vb)
        self._right.setMouseEnabled(x=False, y=False)
        self._right.setZValue(-1)
        item.vb.sigResized.connect(lambda: self._right.setGeometry(item.vb.sceneBoundingRect()))
        self.plot.addItem(self._bundle, ignoreBounds=True)
        self.plot.addItem(self._cursor, ignoreBounds=True)
        self.plot.scene().sigMouseClicked.connect(self._clicked)
        self.plot.scene().sigMouseMoved.connect(self._moved)
        self.plot.viewport().installEventFilter(self)

    def set_chart(self, chart: CurveChart) -> None:
        """Draw another chart; only the cursor moves where nothing else changed."""
        before, self._chart = self._chart, chart
        if self._shape(chart) != self._shape(before):
            self._rebuild()
        elif chart.series is not before.series:
            self._refill()
        self._place_cursor()
        self._write_readout(None)
        self.setAccessibleDescription(f"{chart.title}: {', '.join(s.name for s in chart.series)}")

    @staticmethod
    def _shape(chart: CurveChart) -> tuple[object, ...]:
        looks = tuple((s.name, s.colour, s.shade, s.dashed, s.right, len(s.x)) for s in chart.series)
        titles = (chart.x_title, chart.y_title, chart.right_title, chart.style_titles)
        return looks, titles, chart.log_y, chart.log_x, chart.whole_x, chart.front

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        style_plot(self.plot, theme)
        self.legend.apply_theme(theme)
        self.readout.setStyleSheet(f"color: {theme.muted}; font: {theme.small}px '{theme.font}';")
        self._cursor.setPen(QPen(QColor(theme.accent), 0, Qt.PenStyle.DashLine))
        self._rebuild()
        self._place_cursor()
        self._write_readout(None)

    def _rebuild(self) -> None:
        chart = self._chart
        for series, item in self._items:
            (self._right if series.right else self.plot).removeItem(item)
        self._items = []
        left, bottom = self.plot.getAxis("left"), self.plot.getAxis("bottom")
        left.logarithmic, bottom.logarithmic = chart.log_y, chart.log_x
        bottom.whole = chart.whole_x
        self.plot.showAxis("right", bool(chart.right_title))
        self._title_axes()
        for series in () if self._is_bundle else chart.series:
            self._add(series)
        self.legend.set_series(legend_entries(chart), self._hidden)
        self._refill()

    def _add(self, series: Series) -> None:
        colour = QColor(series_colour(series, self._theme))
        style = Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine
        many = len(self._chart.series) > MANY
        wide = 3.2 if series.legend == self._chart.front else 1.4 if many else 2
        pen = pg.mkPen(colour, width=wide, style=style)
        symbol = None if many or series.dashed or len(series.x) > 60 else "o"
        item = pg.PlotDataItem(
            pen=pen,
            symbol=symbol,
            symbolSize=5,
            symbolBrush=colour,
            symbolPen=None,
            antialias=True,
            connect="finite",
        )
        (self._right if series.right else self.plot).addItem(item)
        self._items.append((series, item))

    @property
    def _is_bundle(self) -> bool:
        """Whether there are too many curves for one item of the plot each."""
        series = self._chart.series
        return len(series) > MANY and not any(s.right or s.error is not None for s in series)

    def _refill(self) -> None:
        self._upwards = [self._upward(s) for s in self._chart.series]
        pairs = zip(self._chart.series, self._items, strict=False)
        self._items = [(s, item) for s, (_, item) in pairs]
        for (series, item), y in zip(self._items, self._upwards, strict=False):
            item.setData(self._across(series.x), y)
            item.setVisible(self._is_shown(series))
        shown = [self._is_shown(s) for s in self._chart.series]
        across = [self._across(s.x) for s in self._chart.series]
        bundled = strands(self._chart, across, self._upwards, shown, self._theme) if self._is_bundle else ()
        self._bundle.set_strands(bundled)
        self._fit()

    def _across(self, x: Floats) -> Floats:
        return log10(x) if self._chart.log_x else np.asarray(x, float)

    def _upward(self, series: Series) -> Floats:
        y = np.where(np.isfinite(series.y), series.y, np.nan)
        return log10(y) if self._chart.log_y and not series.right else y

    def _fit(self) -> None:
        """Show everything, with a margin; autorange would follow the cursor and hidden curves too."""
        shown = [(s, y) for s, y in zip(self._chart.series, self._upwards, strict=True) if self._is_shown(s)]
        across = extent([self._across(x) for x in {id(s.x): s.x for s, _ in shown}.values()])
        if across is not None:
            self.plot.setXRange(*across, padding=0.03)
        for right, view in ((False, self.plot.getViewBox()), (True, self._right)):
            upward = extent([y for s, y in shown if s.right is right])
            if upward is not None:
                view.setYRange(*upward, padding=0.07)

    def _place_cursor(self) -> None:
        cursor = self._chart.cursor
        self._cursor.setVisible(cursor is not None)
        if cursor is not None:
            self._cursor.setPos(float(self._across(np.array([cursor]))[0]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out the title of the x axis where room is short: the readout names it too."""
        super().resizeEvent(event)
        self._title_axes()

    def _title_axes(self) -> None:
        chart, room = self._chart, self.height() >= _ROOMY
        titles = {"left": chart.y_title, "right": chart.right_title, "bottom": chart.x_title if room else ""}
        for side, title in titles.items():
            axis = self.plot.getAxis(side)
            if isinstance(axis, QuietAxis) and (
                axis.labelText != title or axis.label.isVisible() != bool(title)
            ):
                axis.set_title(title, self._theme)

    def _is_shown(self, series: Series) -> bool:
        return not is_hidden(series, self._chart, self._hidden)

    def _toggle(self, name: object) -> None:
        self._hidden = self._hidden ^ {str(name)}
        self.legend.set_series(legend_entries(self._chart), self._hidden)
        self._refill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Forget the pointed value when the mouse leaves the plot."""
        if event.type() == QEvent.Type.Leave:
            self._write_readout(None)
        return super().eventFilter(watched, event)

    def _moved(self, position: QPointF) -> None:
        box = self.plot.getViewBox()
        if box.sceneBoundingRect().contains(position) and self._chart.series:
            self._write_readout(float(box.mapSceneToView(position).x()), self._near(position))

    def _clicked(self, event: object) -> None:
        box = self.plot.getViewBox()
        position = event.scenePos()  # type: ignore[attr-defined]
        if not len(self._chart.stops) or not box.sceneBoundingRect().contains(position):
            return
        name, held = self._near(position), event.modifiers()  # type: ignore[attr-defined]
        more = bool(held & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier))
        if name:
            self.named.emit(name, more)
        if not more:
            x = float(box.mapSceneToView(position).x())
            away = np.abs(self._across(self._chart.stops) - x)
            if np.isfinite(away).any():
                self.picked.emit(int(np.nanargmin(away)))

    def _near(self, position: QPointF) -> str:
        """The curve (its group) under the mouse; empty = none is near."""
        box = self.plot.getViewBox()
        place, scale = box.mapSceneToView(position), box.viewPixelSize()[1]
        curves = [
            (s.legend, self._across(s.x), y)
            for s, y in zip(self._chart.series, self._upwards, strict=True)
            if not s.right and self._is_shown(s)
        ]
        return nearest_curve(curves, place.x(), place.y(), _NEAR * scale)

    def _write_readout(self, x: float | None, pointed: str = "") -> None:
        if x is None and self._chart.cursor is not None:
            x = float(self._across(np.array([self._chart.cursor]))[0])
        self.readout.set_note(self._values_at(x, pointed or self._chart.front) or self._chart.note)

    def _values_at(self, x: float | None, pointed: str) -> str:
        shown = [s for s in self._chart.series if self._is_shown(s)]
        across = self._across(shown[0].x) if shown else np.empty(0)
        if x is None or not np.isfinite(across).any():
            return ""
        across = np.where(np.isfinite(across), across, np.inf)
        return values_at(self._chart, shown, across, x, pointed)
