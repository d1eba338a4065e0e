"""Bars of many layers, one below the other: label, track, value, and what is wrong where something is."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from landscope_app.plots.charts import Bar, BarChart, with_signs
from landscope_app.plots.colour_maps import readable_shade
from landscope_app.plots.layer_names import FittedNames
from landscope_app.theme.colors import Theme
from landscope_app.theme.plain import plain_tip

ROW, PADDING, THICKNESS = 22.0, 12.0, 10.0
OTHER = 4.0  # pixels of the bar of the run that is compared with, below the other one
_TROUBLE = {"dead", "nonfinite"}
_WITHOUT_BAR = {"not_observed", "only_other"}


class BarsCanvas(QWidget):
    """Paints the rows of a ``BarChart``; its height is that of all rows.

    A click or the arrow keys choose a row; Escape, or a click on the chosen row, chooses none.

    Signals:
        pointed: the ``Bar`` under the mouse, or None.
        chosen: the label of the row that was chosen; empty = none.
    """

    pointed = Signal(object)
    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._chart = theme, BarChart("", ())
        self._pointed, self._selected = -1, ""
        self._names = FittedNames()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Bars per layer")

    @property
    def chart(self) -> BarChart:
        """What is drawn."""
        return self._chart

    @property
    def selected(self) -> str:
        """The label of the marked row; empty = none."""
        return self._selected

    def set_chart(self, chart: BarChart) -> None:
        """Draw another chart."""
        grown = len(chart.bars) != len(self._chart.bars)
        self._chart = chart
        self.setAccessibleDescription("; ".join(f"{b.label}: {b.readout or b.text}" for b in chart.bars))
        if grown:
            self.updateGeometry()
            self.setFixedHeight(self.sizeHint().height())
        self.update()

    def select(self, label: str) -> None:
        """Mark the row of this label; empty = none."""
        if label != self._selected:
            self._selected = label
            self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        self._names.forget()
        self.update()

    def sizeHint(self) -> QSize:
        """As high as all rows."""
        return QSize(260, int(2 * PADDING + ROW * max(1, len(self._chart.bars))))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows that are visible, then the line of the mean."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = QFont(self._theme.font)
        font.setPixelSize(max(11, self._theme.size - 1))
        painter.setFont(font)
        columns = _Columns(self._chart, QFontMetricsF(font), self.width())
        for row in self._visible(event.rect().top(), event.rect().bottom()):
            self._paint_row(painter, row, columns)
        self._paint_mean(painter, columns)
        painter.end()

    def _visible(self, top: int, bottom: int) -> range:
        first = max(0, int((top - PADDING) // ROW))
        return range(first, min(len(self._chart.bars), int((bottom - PADDING) // ROW) + 1))

    def _paint_row(self, painter: QPainter, row: int, columns: _Columns) -> None:
        bar, top = self._chart.bars[row], PADDING + row * ROW
        selected = bar.label == self._selected
        if selected or row == self._pointed:
            painter.setPen(QColor(self._theme.accent) if selected else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.raised))
            painter.drawRoundedRect(QRectF(4.5, top + 0.5, self.width() - 9, ROW - 1), 5, 5)
        faint = bool(_WITHOUT_BAR & set(bar.flags))
        painter.setPen(QColor(self._theme.muted if faint else self._theme.text))
        label = self._names.fit(bar.label, columns.label, columns.metrics.horizontalAdvance)
        painter.drawText(QRectF(PADDING, top, columns.label, ROW), _LEFT, label)
        painter.setPen(QColor(self._theme.warning if _TROUBLE & set(bar.flags) else self._theme.muted))
        start = columns.left if faint else columns.value_left
        place = QRectF(start, top, self.width() - PADDING - start, ROW)
        painter.drawText(place, _RIGHT, with_signs(bar))
        if not faint:
            self._paint_bar(
                painter, bar, QRectF(columns.left, top + (ROW - THICKNESS) / 2, columns.width, THICKNESS)
            )

    def _paint_bar(self, painter: QPainter, bar: Bar, track: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.track))
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        share = bar.value / self._chart.high if self._chart.high else float("nan")
        upper, lower = QRectF(track), QRectF(track)
        if self._chart.other_title:
            upper.setHeight(track.height() - OTHER)
            lower.setTop(upper.bottom())
            _fill_part(painter, lower, bar.other / self._chart.high, QColor(self._theme.muted))
        _fill_part(painter, upper, share, self._fill(bar, share) if math.isfinite(share) else QBrush())
        self._paint_mark(painter, track, bar.reference, self._theme.text, Qt.PenStyle.SolidLine)
        self._paint_mark(painter, track, bar.as_measured, self._theme.accent, Qt.PenStyle.DotLine)

    def _paint_mark(
        self, painter: QPainter, track: QRectF, value: float, colour: str, style: Qt.PenStyle
    ) -> None:
        share = value / self._chart.high if self._chart.high else float("nan")
        if math.isfinite(share):
            x = track.left() + track.width() * min(1.0, max(0.0, share))
            painter.setPen(QPen(QColor(colour), 2, style, Qt.PenCapStyle.FlatCap))
            painter.drawLine(QPointF(x, track.top() - 2), QPointF(x, track.bottom() + 2))

    def _fill(self, bar: Bar, share: float) -> QBrush:
        colour = QColor(readable_shade(share, self._theme.is_dark))
        few = "too_few_samples" in bar.flags
        return QBrush(colour, Qt.BrushStyle.BDiagPattern if few else Qt.BrushStyle.SolidPattern)

    def _paint_mean(self, painter: QPainter, columns: _Columns) -> None:
        chart = self._chart
        if not chart.bars or not math.isfinite(chart.mean) or not chart.high:
            return
        x = columns.left + columns.width * min(1.0, chart.mean / chart.high)
        painter.setPen(QPen(QColor(self._theme.muted), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, PADDING - 6), QPointF(x, PADDING + ROW * len(chart.bars) + 4))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark the row under the mouse."""
        self._point(int((event.position().y() - PADDING) // ROW))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the row under the mouse; once more, none."""
        row = int((event.position().y() - PADDING) // ROW)
        if event.button() == Qt.MouseButton.LeftButton and 0 <= row < len(self._chart.bars):
            label = self._chart.bars[row].label
            self.chosen.emit("" if label == self._selected else label)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the next row, the one before, the first, the last or none."""
        labels = [bar.label for bar in self._chart.bars]
        here = labels.index(self._selected) if self._selected in labels else -1
        rows = {
            Qt.Key.Key_Down: here + 1,
            Qt.Key.Key_Up: here - 1 if here >= 0 else len(labels) - 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: len(labels) - 1,
        }
        row = rows.get(Qt.Key(event.key()))
        if row is not None and labels:
            self.chosen.emit(labels[min(max(row, 0), len(labels) - 1)])
        elif event.key() == Qt.Key.Key_Escape and self._selected:
            self.chosen.emit("")
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, _event: QEvent) -> None:
        """Unmark."""
        self._point(-1)

    def _point(self, row: int) -> None:
        row = row if 0 <= row < len(self._chart.bars) else -1
        if row != self._pointed:
            self._pointed = row
            bar = self._chart.bars[row] if row >= 0 else None
            self.setToolTip(plain_tip(bar.detail) if bar is not None else "")
            self.pointed.emit(bar)
            self.update()


def _fill_part(painter: QPainter, track: QRectF, share: float, brush: QBrush | QColor) -> None:
    """Fill a share of a track from the left; nothing where there is no share."""
    if math.isfinite(share) and share > 0:
        filled = QRectF(track)
        filled.setWidth(max(track.height(), track.width() * min(1.0, share)))
        painter.setBrush(brush)
        painter.drawRoundedRect(filled, track.height() / 2, track.height() / 2)


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class _Columns:
    """Where label, bar and value lie for a width: labels take at most two fifths."""

    def __init__(self, chart: BarChart, metrics: QFontMetricsF, width: int) -> None:
        self.metrics = metrics
        widest = max((metrics.horizontalAdvance(b.label) for b in chart.bars), default=0.0)
        self.label = min(widest + 2, 0.42 * width)
        measured = [b for b in chart.bars if not _WITHOUT_BAR & set(b.flags)]
        self.value = max((metrics.horizontalAdvance(with_signs(b)) for b in measured), default=0.0) + 2
        self.left = PADDING + self.label + 10
        self.value_left = width - PADDING - self.value
        self.width = max(20.0, self.value_left - 10 - self.left)


class BarsWidget(QScrollArea):
    """A ``BarsCanvas`` that scrolls when there are more layers than room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = BarsCanvas(theme)
        self.setWidget(self.canvas)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Bars per layer")
        self.viewport().setAutoFillBackground(False)
        self.canvas.setAutoFillBackground(False)

    def set_chart(self, chart: BarChart) -> None:
        """Draw another chart."""
        self.canvas.set_chart(chart)

    def select(self, label: str) -> None:
        """Mark the row of this label, and scroll to it when it was another before; empty = none."""
        if label != self.canvas.selected:
            self.canvas.select(label)
            self._show_selected()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the selected row in sight."""
        super().resizeEvent(event)
        self._show_selected()

    def _show_selected(self) -> None:
        labels = [bar.label for bar in self.canvas.chart.bars]
        if self.canvas.selected in labels:
            middle = PADDING + (labels.index(self.canvas.selected) + 0.5) * ROW
            self.ensureVisible(0, int(middle), 0, int(ROW))

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.canvas.apply_theme(theme)
