"""A colour bar with title and round ticks, as a small widget of its own."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from landscope_app.plots.colour_maps import colour_table
from landscope_app.scene.ticks import Ticks, axis_ticks
from landscope_app.theme.colors import Theme

BAR, MARGIN, HEAD = 12, 10, 26


class ColourBar(QWidget):
    """Shows which colour stands for which value."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._limits, self._log = (0.0, 1.0), False
        self._title, self._map = "", "viridis"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Colour bar")

    def show_range(self, title: str, limits: tuple[float, float], log: bool, colour_map: str) -> None:
        """Show another range: limits in the displayed transform (log10 when ``log``)."""
        self._title, self._limits, self._log, self._map = title, limits, log, colour_map
        self.setAccessibleDescription(f"{title} from {self._ticks().texts[:1]} to {self._ticks().texts[-1:]}")
        self.updateGeometry()
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._theme = theme
        self.update()

    def _font(self) -> QFont:
        font = QFont(self._theme.font)
        font.setPixelSize(self._theme.small)
        return font

    def _ticks(self) -> Ticks:
        low, high = self._limits
        if not high > low:
            low, high = low - 0.5, high + 0.5
        return axis_ticks(low, high, max(2, (self.height() - 2 * HEAD) // 40), self._log)

    def sizeHint(self) -> QSize:
        """Wide enough for the longest tick and the title."""
        metrics = QFontMetricsF(self._font())
        widest = max((metrics.horizontalAdvance(t) for t in self._ticks().texts), default=20.0)
        title = metrics.horizontalAdvance(self._title)
        return QSize(int(max(BAR + 8 + widest, title) + 2 * MARGIN), 200)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint title, bar and ticks."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        painter.setPen(QColor(self._theme.text))
        painter.drawText(
            QRectF(MARGIN, 0, self.width(), HEAD - 4), Qt.AlignmentFlag.AlignVCenter, self._title
        )
        bar = QRectF(MARGIN, HEAD, BAR, max(10.0, self.height() - HEAD - 34.0))
        painter.drawImage(bar, self._ramp())
        self._paint_ticks(painter, bar)
        painter.end()

    def _ramp(self) -> QImage:
        table = colour_table(self._map)[::-1].copy()
        return QImage(table.tobytes(), 1, 256, 4, QImage.Format.Format_RGBA8888).copy()

    def _paint_ticks(self, painter: QPainter, bar: QRectF) -> None:
        low, high = self._limits
        span = high - low if high > low else 1.0
        ticks = self._ticks()
        for position, text in zip(ticks.positions, ticks.texts, strict=True):
            y = bar.bottom() - bar.height() * (float(position) - low) / span
            if bar.top() - 1 <= y <= bar.bottom() + 1:
                painter.setPen(QPen(QColor(self._theme.muted), 1))
                painter.drawLine(int(bar.right()) + 1, round(y), int(bar.right()) + 4, round(y))
                place = QRectF(bar.right() + 8, y - 8, self.width(), 16)
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
