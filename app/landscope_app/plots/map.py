"""A map of layers and checkpoints with signs in the cells, a colour bar, and a cell that is chosen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QHBoxLayout, QWidget

from landscope_app.plots.charts import MapChart
from landscope_app.plots.colour_bar import ColourBar
from landscope_app.plots.colour_maps import LIGHT, LUMINANCE, mapped, on_colour
from landscope_app.plots.map_axes import MapAxes
from landscope_app.plots.map_words import told
from landscope_app.theme.colors import Theme
from landscope_app.theme.plain import plain_tip

MARGIN = 10.0  # pixels
SMALLEST_SIGN = 9.0  # pixels of a cell that holds a sign
_STEPS = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}


class MapCanvas(QWidget):
    """Paints a ``MapChart``; a click or the arrow keys choose a cell, Escape chooses no row.

    Signals:
        chosen: labels of the row (empty = none) and the column of the cell.
    """

    chosen = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._chart = theme, MapChart("", (), ())
        self._cell, self._axes = (-1, -1), MapAxes()
        self._image: QImage | None = None
        self._signed = np.empty((0, 2), np.intp)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Map of layers and checkpoints")

    @property
    def chart(self) -> MapChart:
        """What is drawn."""
        return self._chart

    def show_chart(self, chart: MapChart, row: str, column: str) -> None:
        """Draw another map with a chosen row and column; names that it lacks choose nothing."""
        if chart is not self._chart:
            self._axes.take(chart, QFontMetricsF(self._font()))
            self._image, self._signed = None, np.argwhere(chart.marks != "")
        self._chart = chart
        self._cell = (_place(chart.rows, row), _place(chart.columns, column))
        self.setAccessibleDescription(self._told(*self._cell))
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        self._axes.forget()
        self.update()

    def area(self) -> QRectF:
        """Where the cells lie."""
        left = MARGIN + self._axes.left(self.width()) + 4
        high = self.height() - 2 * MARGIN - self._axes.below(self.height())
        return QRectF(left, MARGIN, max(1.0, self.width() - left - 2), max(1.0, high))

    def _font(self) -> QFont:
        font = QFont(self._theme.font)
        font.setPixelSize(self._theme.small)
        return font

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint cells, signs, names and what is chosen."""
        if not self._chart.rows:
            return
        painter = QPainter(self)
        painter.setFont(self._font())
        area = self.area()
        painter.fillRect(area, QColor(self._theme.track))
        painter.drawImage(area, self._cells())
        self._paint_signs(painter)
        self._axes.paint(painter, self.rect().toRectF(), area, self._cell, self._theme)
        self._paint_chosen(painter)
        painter.end()

    def _cells(self) -> QImage:
        """The coloured cells, one pixel each; kept as long as the chart is the same."""
        if self._image is None:
            chart = self._chart
            rgba = np.ascontiguousarray(mapped(chart.displayed(chart.values), chart.limits, chart.colour_map))
            high, wide = chart.values.shape
            made = QImage(rgba.tobytes(), wide, high, 4 * wide, QImage.Format.Format_RGBA8888)
            self._image = made.copy()  # the bytes are gone when this returns
        return self._image

    def _rect(self, row: int, column: int) -> QRectF:
        area, (high, wide) = self.area(), self._chart.values.shape
        width, height = area.width() / wide, area.height() / high
        return QRectF(area.left() + column * width, area.top() + row * height, width, height)

    def _paint_signs(self, painter: QPainter) -> None:
        first = self._rect(0, 0)
        if min(first.width(), first.height()) < SMALLEST_SIGN:
            self._paint_dots(painter)
            return
        chart = self._chart
        for row, column in self._signed:
            cell = self._rect(int(row), int(column))
            value = float(chart.displayed(chart.values[row, column]))
            sure = np.isfinite(value)
            shade = on_colour(value, chart.limits, chart.colour_map) if sure else self._theme.muted
            painter.setPen(QColor(shade))
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, str(chart.marks[row, column]))

    def _paint_dots(self, painter: QPainter) -> None:
        """Where cells are too small for signs: a dot in each, all of them as one image."""
        chart, area = self._chart, self.area()
        high, wide = chart.values.shape
        rows, columns = self._signed.T
        finite = np.isfinite(chart.values[rows, columns])
        rows, columns = rows[finite], columns[finite]
        if not len(rows):
            return
        shades = mapped(chart.displayed(chart.values[rows, columns]), chart.limits, chart.colour_map)
        light = shades[:, :3] @ np.array(LUMINANCE) > LIGHT
        image = np.zeros((max(1, int(area.height())), max(1, int(area.width())), 4), np.uint8)
        y = ((rows + 0.5) * image.shape[0] / high).astype(int)
        x = ((columns + 0.5) * image.shape[1] / wide).astype(int)
        image[y, x] = np.where(light[:, None], (20, 22, 27, 255), (255, 255, 255, 255))
        shape = QSize(image.shape[1], image.shape[0])
        dots = QImage(image.tobytes(), shape.width(), shape.height(), QImage.Format.Format_RGBA8888)
        painter.drawImage(area.topLeft(), dots)

    def _paint_chosen(self, painter: QPainter) -> None:
        (row, column), (high, wide) = self._cell, self._chart.values.shape
        painter.setBrush(Qt.BrushStyle.NoBrush)
        bands = []
        if column >= 0:
            bands.append(self._rect(0, column).united(self._rect(high - 1, column)))
        if row >= 0:
            bands.append(self._rect(row, 0).united(self._rect(row, wide - 1)))
        cell = self._rect(0, 0)
        roomy = min(cell.width(), cell.height()) >= SMALLEST_SIGN
        lines = ((self._theme.background, 4), (self._theme.accent, 2)) if roomy else (("#ffffff", 1),)
        for colour, thick in lines:
            painter.setPen(QPen(QColor(colour), thick))
            for band in bands:
                painter.drawRect(band)

    def _at(self, point: QPointF) -> tuple[int, int]:
        area, chart = self.area(), self._chart
        if not chart.rows or not area.contains(point):
            return -1, -1
        high, wide = chart.values.shape
        row = int((point.y() - area.top()) / area.height() * high)
        return min(row, high - 1), min(int((point.x() - area.left()) / area.width() * wide), wide - 1)

    def _told(self, row: int, column: int) -> str:
        if row < 0 or column < 0:
            return ""
        return told(self._chart, row, column)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the value under the mouse."""
        self.setToolTip(plain_tip(self._told(*self._at(event.position()))))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the cell under the mouse."""
        row, column = self._at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and row >= 0:
            self.chosen.emit(self._chart.rows[row], self._chart.columns[column])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the neighbour of the chosen cell; with Escape, no layer."""
        step = _STEPS.get(Qt.Key(event.key()))
        if event.key() == Qt.Key.Key_Escape and min(self._cell) >= 0:
            self.chosen.emit("", self._chart.columns[self._cell[1]])
            return
        if step is None or not self._chart.rows:
            super().keyPressEvent(event)
            return
        (row, column), (high, wide) = self._cell, self._chart.values.shape
        row, column = min(max(row + step[0], 0), high - 1), min(max(column + step[1], 0), wide - 1)
        self.chosen.emit(self._chart.rows[row], self._chart.columns[column])


def _place(names: tuple[str, ...], name: str) -> int:
    return names.index(name) if name in names else -1


class MapWidget(QWidget):
    """A ``MapCanvas`` with its colour bar.

    Signals:
        chosen: labels of the row and the column of the cell.
    """

    chosen = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.canvas, self.bar = MapCanvas(theme), ColourBar(theme)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(self.bar)
        self.canvas.chosen.connect(self.chosen)

    def show_chart(self, chart: MapChart, row: str, column: str) -> None:
        """Draw another map with a chosen row and column."""
        self.canvas.show_chart(chart, row, column)
        self.bar.show_range("", chart.limits, chart.log, chart.colour_map)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.canvas.apply_theme(theme)
        self.bar.apply_theme(theme)
