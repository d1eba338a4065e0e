"""The loss along a line between two checkpoints: curves, and where the two checkpoints stand."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from landscope_app.plots.charts import CurveChart
from landscope_app.plots.curves import CurvesWidget
from landscope_app.theme.colors import Theme


class LineProfile(CurvesWidget):
    """A ``CurvesWidget`` with a thin upright line at each mark of its chart.

    Attributes:
        uprights: these lines, in the order of the marks.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.uprights: list[pg.InfiniteLine] = []
        super().__init__(theme, parent)

    def set_chart(self, chart: CurveChart) -> None:
        """Draw another line."""
        super().set_chart(chart)
        self._stand()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        super().apply_theme(theme)
        self._stand()

    def _stand(self) -> None:
        for upright in self.uprights:
            self.plot.removeItem(upright)
        self.uprights = [self._upright(x) for x in self.chart.marks]

    def _upright(self, x: float) -> pg.InfiniteLine:
        upright = pg.InfiniteLine(x, angle=90, pen=QPen(QColor(self._theme.grid), 0))
        self.plot.addItem(upright, ignoreBounds=True)
        return upright
