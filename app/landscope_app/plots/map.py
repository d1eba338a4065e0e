"""A map of layers and checkpoints with signs in the cells, a colour bar, and a cell that is chosen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QWidget

from landscope_app.plots.charts import MapChart
from landscope_app.plots.colour_bar import ColourBar
from landscope_app.plots.colour_maps import mapped
from landscope_app.plots.numbers import percent, short
from landscope_app.theme.colors import Theme
from landscope_app.theme.plain import plain_tip

MARGIN, LABELS = 10.0, 0.34
SMALLEST_SIGN, LABEL_HEIGHT = 9.0, 14.0  # pixels of a cell that holds a sign; of a row that is named
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
        self._cell = (-1, -1)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Map of layers and checkpoints")

    @property
    def chart(self) -> MapChart:
        """What is drawn."""
        return self._chart

    def show_chart(self, chart: MapChart, row: str, column: str) -> None:
        """Draw another map with a chosen row and column; names that it lacks choose nothing."""
        self._chart = chart
        self._cell = (_place(chart.rows, row), _place(chart.columns, column))
        self.setAccessibleDescription(self._told(*self._cell))
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        self.update()

    def area(self) -> QRectF:
        """Where the cells lie."""
        left = MARGIN + LABELS * self.width()
        return QRectF(left, MARGIN, max(1.0, self.width() - left - 2), max(1.0, self.height() - 2 * MARGIN))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint cells, signs, names and what is chosen."""
        if not self._chart.rows:
            return
        painter = QPainter(self)
        font = QFont(self._theme.font)
        font.setPixelSize(self._theme.small)
        painter.setFont(font)
        area, chart = self.area(), self._chart
        painter.fillRect(area, QColor(self._theme.track))
        rgba = np.ascontiguousarray(mapped(chart.values, (0.0, chart.high), "viridis"))
        high, wide = chart.values.shape
        painter.drawImage(area, QImage(rgba.tobytes(), wide, high, 4 * wide, QImage.Format.Format_RGBA8888))
        self._paint_signs(painter)
        self._paint_names(painter, area.height() / high)
        self._paint_chosen(painter)
        painter.end()

    def _rect(self, row: int, column: int) -> QRectF:
        area, (high, wide) = self.area(), self._chart.values.shape
        width, height = area.width() / wide, area.height() / high
        return QRectF(area.left() + column * width, area.top() + row * height, width, height)

    def _paint_signs(self, painter: QPainter) -> None:
        first = self._rect(0, 0)
        chart, fits = self._chart, min(first.width(), first.height()) >= SMALLEST_SIGN
        for row, column in np.argwhere(chart.marks != ""):
            cell, value = self._rect(int(row), int(column)), chart.values[row, column]
            light = np.isfinite(value) and value > 0.6 * chart.high
            unseen = not np.isfinite(value)
            colour = QColor(self._theme.muted if unseen else "#14161b" if light else "#ffffff")
            if fits:
                painter.setPen(colour)
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, str(chart.marks[row, column]))
            elif not unseen:  # too small for a sign: a dot
                painter.fillRect(QRectF(cell.center() - QPointF(1, 1), cell.center() + QPointF(1, 1)), colour)

    def _paint_names(self, painter: QPainter, height: float) -> None:
        metrics, width = painter.fontMetrics(), LABELS * self.width() - 4
        every = max(1, int(np.ceil(LABEL_HEIGHT / height)))
        for row in range(0, len(self._chart.rows), every):
            middle = self._rect(row, 0).center().y()
            text = metrics.elidedText(self._chart.rows[row], Qt.TextElideMode.ElideMiddle, int(width))
            painter.setPen(QColor(self._theme.text if row == self._cell[0] else self._theme.muted))
            place = QRectF(MARGIN, middle - LABEL_HEIGHT / 2, width, LABEL_HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)

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
        chart = self._chart
        value = float(chart.values[row, column])
        written = percent(value, 1) if chart.share else short(value)
        return f"{chart.rows[row]} at {chart.columns[column]}: {written} {chart.marks[row, column]}".rstrip()

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
        self.bar.show_range("", (0.0, chart.high), False, "viridis")

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.canvas.apply_theme(theme)
        self.bar.apply_theme(theme)
