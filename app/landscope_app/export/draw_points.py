"""Points of several groups drawn with matplotlib: legend above the plot, never on it."""

from __future__ import annotations

from typing import Any

from landscope_app.export.draw_curves import add_ramp
from landscope_app.export.figure_style import points
from landscope_app.plots.charts import PointsChart
from landscope_app.plots.colour_maps import readable_shade
from landscope_app.theme.colors import Theme

SIGNS = ("o", "^", "s", "D", "v")
_COLUMNS = 11


def draw_points(axes: Any, chart: PointsChart, theme: Theme, scale: float) -> None:
    """Draw into ``axes``."""
    for k, group in enumerate(chart.groups):
        place = len(theme.series) if group.colour < 0 else group.colour
        colour = (*theme.series, theme.muted)[place if group.colour < 0 else place % len(theme.series)]
        sign = SIGNS[0 if group.colour < 0 else place // len(theme.series) % len(SIGNS)]
        if group.shade is not None:
            colour, sign = readable_shade(group.shade, theme.is_dark), SIGNS[0]
        here = chart.points[chart.group == k]
        look = {"s": points(6, scale) ** 2, "linewidths": points(0.5, scale), "edgecolors": theme.panel}
        axes.scatter(here[:, 0], here[:, 1], color=colour, marker=sign, label=group.name, **look)
    (left, right), (low, high) = chart.limits
    axes.set_xlim(left - 0.05 * (right - left), right + 0.05 * (right - left))
    axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    axes.set_xlabel(f"{chart.axis_titles[0]}\n{chart.note}")
    axes.set_ylabel(chart.axis_titles[1])
    axes.grid(True)
    _add_legend(axes, chart, theme, scale)


def _add_legend(axes: Any, chart: PointsChart, theme: Theme, scale: float) -> None:
    listed = chart.listed
    if len(listed) > 1 and listed[0].shade is not None:
        axes.set_title(chart.title)
        add_ramp(axes, (listed[0].name, listed[-1].name), theme, scale)
        return
    rows = 0
    if len(listed) > 1:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            ncols=min(_COLUMNS, len(listed)),
            borderaxespad=0.2,
            handletextpad=0.2,
            columnspacing=1.0,
        )
        rows = 1
    axes.set_title(chart.title, pad=points(12 + 20 * rows, scale))
