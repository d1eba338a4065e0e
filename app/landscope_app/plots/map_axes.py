"""What stands beside the cells of a map: names of its rows, labels of its columns, titles of both."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from landscope_app.plots.charts import MapChart
from landscope_app.plots.layer_names import FittedNames
from landscope_app.theme.colors import Theme

LABELS, LABEL_HEIGHT = 0.42, 14.0  # the most of the width that names may take; pixels of a row that is named
GAP, ROOMY = 10.0, 150  # pixels between labels of columns; of height above which columns have a title, too


class MapAxes:
    """Rows and columns of one chart as they are written."""

    def __init__(self) -> None:
        self._chart = MapChart("", (), ())
        self._widest, self._names = 0.0, FittedNames()

    def take(self, chart: MapChart, metrics: QFontMetricsF) -> None:
        """Measure another chart; what it shares with the one before is kept."""
        before, self._chart = self._chart, chart
        if _rows(chart) != _rows(before):
            widths = (metrics.horizontalAdvance(name) for name in (*_rows(chart), chart.row_title))
            self._widest = max(widths, default=0.0) + 2

    def forget(self) -> None:
        """Fonts are others from now on."""
        self._names.forget()

    def left(self, width: float) -> float:
        """Pixels of a widget of this width that the names of rows take."""
        return min(self._widest, LABELS * width)

    def below(self, height: float) -> float:
        """Pixels of a widget of this height below the cells."""
        if not self._chart.column_labels:
            return 0.0
        return LABEL_HEIGHT * (2 if self._chart.column_title and height >= ROOMY else 1)

    def paint(
        self, painter: QPainter, whole: QRectF, area: QRectF, cell: tuple[int, int], theme: Theme
    ) -> None:
        """Write them around ``area``; row and column of ``cell`` stand out."""
        self._paint_rows(painter, area, cell[0], theme)
        if self._chart.column_labels:
            self._paint_columns(painter, area, cell[1], theme)
        painter.setPen(QColor(theme.muted))
        low = area.bottom() + 2
        if self.below(whole.height()) > LABEL_HEIGHT:
            place = QRectF(area.left(), low + LABEL_HEIGHT, area.width(), LABEL_HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._chart.column_title)
        if self._chart.row_title:
            place = QRectF(
                area.left() - 4 - self.left(whole.width()), low, self.left(whole.width()), LABEL_HEIGHT
            )
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self._chart.row_title)

    def _paint_rows(self, painter: QPainter, area: QRectF, current: int, theme: Theme) -> None:
        metrics, names = painter.fontMetrics(), _rows(self._chart)
        height, width = area.height() / len(names), area.left() - 14.0
        align = Qt.AlignmentFlag.AlignRight if self._chart.row_labels else Qt.AlignmentFlag.AlignLeft
        for row in range(0, len(names), max(1, math.ceil(LABEL_HEIGHT / height))):
            middle = area.top() + (row + 0.5) * height
            text = self._names.fit(names[row], width, metrics.horizontalAdvance)
            painter.setPen(QColor(theme.text if row == current else theme.muted))
            place = QRectF(area.left() - 4 - width, middle - LABEL_HEIGHT / 2, width, LABEL_HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | align, text)

    def _paint_columns(self, painter: QPainter, area: QRectF, current: int, theme: Theme) -> None:
        """As many labels as fit between the first and the last."""
        labels, metrics = self._chart.column_labels, painter.fontMetrics()
        cell = area.width() / len(labels)
        widest = max(
            metrics.horizontalAdvance(label) for label in (labels[0], labels[-1], max(labels, key=len))
        )
        for column in range(0, len(labels), max(1, math.ceil((widest + GAP) / cell))):
            middle = area.left() + (column + 0.5) * cell
            place = QRectF(middle - widest / 2, area.bottom() + 2, widest, LABEL_HEIGHT)
            place.moveRight(min(place.right(), area.right() + 2))
            painter.setPen(QColor(theme.text if column == current else theme.muted))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, labels[column])


def _rows(chart: MapChart) -> tuple[str, ...]:
    return chart.row_labels or chart.rows
