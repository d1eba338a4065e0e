"""A legend beside the plot, never on it: names in a flow of rows, or a colour ramp when there are many."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from landscope_app.plots.charts import Series
from landscope_app.plots.colour_maps import readable_shade
from landscope_app.theme.colors import Theme

ROW, SAMPLE, GAP = 18.0, 18.0, 14.0


def series_colour(series: Series, theme: Theme) -> str:
    """``#rrggbb`` of a series in a theme."""
    if series.colour < 0:
        return theme.muted
    if series.shade is not None:
        return readable_shade(series.shade, theme.is_dark)
    return theme.series[series.colour % len(theme.series)]


class Legend(QWidget):
    """Names of the series; a click hides or shows one.

    Signals:
        toggled: the name that was clicked.
    """

    toggled = Signal(object)
    sample, gap = SAMPLE, GAP  # pixels: of what stands before a name, between two names

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._series: tuple[Series, ...] = ()
        self._hidden: frozenset[str] = frozenset()
        self._places: list[tuple[QRectF, Series]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Legend")

    def set_series(self, series: tuple[Series, ...], hidden: frozenset[str]) -> None:
        """Show other names."""
        entries: dict[str, Series] = {}
        for one in series:
            entries.setdefault(one.legend, one)
        self._series, self._hidden = tuple(entries.values()), hidden
        self.setAccessibleDescription(", ".join(entries))
        self._arrange()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        self._arrange()

    @property
    def is_ramp(self) -> bool:
        """Whether the series are shades of one ramp rather than single names."""
        return len(self._ramp) > 1 and all(s.shade is not None or s.colour < 0 for s in self._series)

    @property
    def _ramp(self) -> tuple[Series, ...]:
        return tuple(s for s in self._series if s.shade is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Flow the names anew."""
        super().resizeEvent(event)
        self._arrange()

    def sizeHint(self) -> QSize:
        """As high as the rows need."""
        return QSize(120, self.height())

    def _font(self) -> QFont:
        font = QFont(self._theme.font)
        font.setPixelSize(self._theme.small)
        return font

    def _arrange(self) -> None:
        self._places = []
        x, y = 0.0, ROW if self.is_ramp else 0.0
        metrics = QFontMetricsF(self._font())
        named = [s for s in self._series if s.shade is None] if self.is_ramp else self._series
        for series in () if len(self._series) < 2 else named:
            width = self.sample + 6 + metrics.horizontalAdvance(series.legend) + self.gap
            if x and x + width - self.gap > self.width():
                x, y = 0.0, y + ROW
            self._places.append((QRectF(x, y, width, ROW), series))
            x += width
        rows = int(y / ROW) + 1 if self._places else int(self.is_ramp)
        height = int(rows * ROW)
        if height != self.height():
            self.setFixedHeight(height)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint samples and names, or the ramp with its ends."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        if self.is_ramp:
            self._paint_ramp(painter)
        for place, series in self._places:
            self._paint_name(painter, place, series)
        painter.end()

    def _paint_name(self, painter: QPainter, place: QRectF, series: Series) -> None:
        off = series.legend in self._hidden
        colour = QColor(self._theme.border if off else series_colour(series, self._theme))
        self._paint_sample(painter, place, series, colour)
        font = painter.font()
        font.setStrikeOut(off)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.muted if off else self._theme.text))
        painter.drawText(
            place.adjusted(self.sample + 6, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, series.legend
        )

    def _paint_sample(self, painter: QPainter, place: QRectF, series: Series, colour: QColor) -> None:
        style = Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 2, style, Qt.PenCapStyle.FlatCap))
        middle = place.center().y()
        painter.drawLine(QPointF(place.left() + 1, middle), QPointF(place.left() + self.sample, middle))

    def _paint_ramp(self, painter: QPainter) -> None:
        metrics = QFontMetricsF(self._font())
        room = (self.width() - 80) / 2 - 10
        first, last = (
            metrics.elidedText(s.name, Qt.TextElideMode.ElideMiddle, room)
            for s in (self._ramp[0], self._ramp[-1])
        )
        painter.setPen(QColor(self._theme.text))
        painter.drawText(QRectF(0, 0, room, ROW), Qt.AlignmentFlag.AlignVCenter, first)
        left = metrics.horizontalAdvance(first) + 8
        gradient = QLinearGradient(left, 0, left + 80, 0)
        for k in range(9):
            gradient.setColorAt(k / 8, QColor(readable_shade(k / 8, self._theme.is_dark)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRoundedRect(QRectF(left, ROW / 2 - 3, 80, 6), 3, 3)
        painter.setPen(QColor(self._theme.text))
        painter.drawText(QRectF(left + 88, 0, room, ROW), Qt.AlignmentFlag.AlignVCenter, last)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Hide or show the series under the mouse."""
        for place, series in self._places:
            if place.contains(event.position()):
                self.toggled.emit(series.legend)
                return
