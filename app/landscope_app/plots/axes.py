"""Axes of pyqtgraph with our round ticks, texts, fonts and colours."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFont, QPen

from landscope_app.scene.ticks import axis_ticks
from landscope_app.theme.colors import Theme

_PIXELS_PER_TICK = {"left": 34, "right": 34, "bottom": 52, "top": 52}


class QuietAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis with few round ticks, the same as those of the 3-D scene.

    Attributes:
        logarithmic: positions are log10 of the value; ticks read 0.1, 1, 10….
        whole: only whole numbers have ticks.
    """

    def __init__(self, orientation: str, **options: Any) -> None:
        super().__init__(orientation, **options)
        self.logarithmic = self.whole = False
        self._texts: dict[float, str] = {}
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=-4, tickTextOffset=5, autoExpandTextSpace=True, hideOverlappingLabels=False)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Positions of the ticks, one level of them."""
        if not high > low:
            return []
        wanted = max(2, int(size / _PIXELS_PER_TICK[self.orientation]))
        ticks = axis_ticks(low, high, wanted, self.logarithmic)
        shown = zip((float(p) for p in ticks.positions), ticks.texts, strict=True)
        self._texts = {p: text for p, text in shown if not self.whole or p == round(p)}
        if self.whole:
            self._texts = {p: f"{p:.0f}" for p in self._texts}
        positions = list(self._texts)
        return [(high - low, positions)]

    def tickStrings(self, values: list[float], _scale: float, _spacing: float) -> list[str]:
        """The texts of these ticks."""
        return [self._texts.get(float(v), "") for v in values]

    def apply_theme(self, theme: Theme) -> None:
        """Take the colours and fonts of a theme."""
        font = QFont(theme.font)
        font.setPixelSize(theme.small)
        self.setTickFont(font)
        self.setTextPen(QColor(theme.muted))
        self.setPen(QPen(QColor(theme.border), 1))
        self.setTickPen(QPen(QColor(theme.border), 1))
        self.set_title(self.labelText, theme)

    def set_title(self, title: str, theme: Theme) -> None:
        """Write the axis title, or none."""
        style = {"color": theme.muted, "font-size": f"{theme.small}px", "font-family": theme.font}
        self.setLabel(title or None, **style)
        self.showLabel(bool(title))


def themed_plot(theme: Theme, right: bool = False) -> pg.PlotWidget:
    """An empty plot with quiet axes, no menu, no buttons, in the colours of ``theme``."""
    sides = ("left", "bottom", "right") if right else ("left", "bottom")
    plot = pg.PlotWidget(axisItems={side: QuietAxis(side) for side in sides}, enableMenu=False)
    plot.hideButtons()
    # pyqtgraph makes this menu all the same, without a parent: it would outlive the plot.
    menu = plot.getPlotItem().ctrlMenu
    menu.setParent(plot, menu.windowFlags())
    plot.getPlotItem().layout.setContentsMargins(2, 2, 2, 2)
    style_plot(plot, theme)
    return plot


def style_plot(plot: pg.PlotWidget, theme: Theme) -> None:
    """Give a plot other colours and fonts."""
    plot.setBackground(theme.panel)
    for side in ("left", "bottom", "right"):
        axis = plot.getAxis(side)
        if isinstance(axis, QuietAxis):
            axis.apply_theme(theme)
