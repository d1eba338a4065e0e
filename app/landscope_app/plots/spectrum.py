"""The spectrum of a layer with the threshold as a line that can be dragged."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from landscope_app.plots.charts import CurveChart
from landscope_app.plots.lines import LineProfile
from landscope_app.theme.colors import Theme

LOWEST = 0.01


class SpectrumWidget(LineProfile):
    """Draws the chart of ``spectrum_chart``; its level is a line across that follows the mouse.

    Signals:
        dragged: the threshold that the line was dragged to, in steps of 0.001.

    Attributes:
        level: the line.
    """

    dragged = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.level = pg.InfiniteLine(1.0, angle=0, movable=True, bounds=(LOWEST, 1.0))
        super().__init__(theme, parent)
        self._right.addItem(self.level, ignoreBounds=True)
        self.level.setCursor(Qt.CursorShape.SizeVerCursor)
        self.level.sigDragged.connect(lambda line: self.dragged.emit(round(float(line.value()), 3)))
        self.setAccessibleName("Spectrum of the layer")

    def set_chart(self, chart: CurveChart) -> None:
        """Draw another spectrum; a line that is being dragged stays under the mouse."""
        super().set_chart(chart)
        self.level.setVisible(chart.level is not None)
        if chart.level is not None and not self.level.moving:
            self.level.setValue(chart.level)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        super().apply_theme(theme)
        self.level.setPen(QPen(QColor(theme.accent), 0, Qt.PenStyle.DashLine))
        self.level.setHoverPen(pg.mkPen(QColor(theme.accent), width=3))

    def _fit(self) -> None:
        """All shares from 0 to 1, so that the line can be dragged anywhere."""
        super()._fit()
        self._right.setYRange(0.0, 1.0, padding=0.05)
