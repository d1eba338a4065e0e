"""Curves drawn with matplotlib: legend above the plot, never on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope_app.export.figure_style import points
from landscope_app.plots.charts import CurveChart, Series
from landscope_app.plots.colour_maps import colour_table, readable_shade
from landscope_app.theme.colors import Theme

_MANY = 8


def draw_curves(axes: Any, chart: CurveChart, theme: Theme, scale: float) -> None:
    """Draw into ``axes``; series of the right axis get a twin."""
    right = axes.twinx() if any(s.right for s in chart.series) else None
    if right is not None:
        right.spines["right"].set_visible(True)
        right.set_ylabel(chart.right_title)
        right.grid(False)
    for series in chart.series:
        _draw_series(right if series.right and right is not None else axes, series, chart, theme, scale)
    if chart.log_y:
        axes.set_yscale("log")
    if chart.log_x:
        axes.set_xscale("log")
    if chart.whole_x:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if chart.cursor is not None:
        axes.axvline(chart.cursor, color=theme.accent, linestyle=(0, (4, 3)), linewidth=points(1, scale))
    for x in chart.marks:
        axes.axvline(x, color=theme.grid, linewidth=points(1, scale), zorder=0)
    if chart.level is not None:
        over = right if right is not None else axes
        over.axhline(chart.level, color=theme.accent, linestyle=(0, (4, 3)), linewidth=points(1, scale))
    axes.grid(True, axis="y")
    axes.margins(x=0.02, y=0.08)
    axes.set_xlabel(chart.x_title)
    axes.set_ylabel(chart.y_title)
    _add_legend(axes, right, chart, theme, scale)


def _draw_series(axes: Any, series: Series, chart: CurveChart, theme: Theme, scale: float) -> None:
    colour = (
        theme.series[series.colour % len(theme.series)]
        if series.shade is None
        else readable_shade(series.shade, theme.is_dark)
    )
    many = len(chart.series) > _MANY
    y = np.where(np.isfinite(series.y), series.y, np.nan)
    axes.plot(
        series.x,
        y,
        color=colour,
        label=series.name,
        linewidth=points(1.2 if many else 2, scale),
        linestyle=(0, (5, 3)) if series.dashed else "-",
        marker=None if many or series.dashed or len(y) > 60 else "o",
        markersize=points(4, scale),
    )
    if series.error is not None and not many:
        error = np.where(np.isfinite(series.error), series.error, np.nan)
        axes.fill_between(series.x, y - error, y + error, color=colour, alpha=0.2, linewidth=0)


def _add_legend(axes: Any, right: Any, chart: CurveChart, theme: Theme, scale: float) -> None:
    if len(chart.series) < 2 or all(s.shade is not None for s in chart.series):
        axes.set_title(chart.title)
        if len(chart.series) >= 2:
            add_ramp(axes, (chart.series[0].legend, chart.series[-1].legend), theme, scale)
        return
    handles, labels = axes.get_legend_handles_labels()
    if right is not None:
        more = right.get_legend_handles_labels()
        handles, labels = handles + more[0], labels + more[1]
    legend = axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=min(4, len(labels)),
        borderaxespad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
    )
    legend.set_in_layout(True)
    rows = -(-len(labels) // min(4, len(labels)))
    axes.set_title(chart.title, pad=points(14 + 18 * rows, scale))


def add_ramp(axes: Any, ends: tuple[str, str], theme: Theme, scale: float) -> None:
    """A colour ramp right of the plot, with what its two ends stand for."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap

    low, high = (0.30, 0.98) if theme.is_dark else (0.04, 0.80)
    table = colour_table("viridis")[round(255 * low) : round(255 * high)] / 255
    bar = axes.figure.colorbar(ScalarMappable(cmap=ListedColormap(table)), ax=axes, aspect=30, pad=0.02)
    bar.set_ticks([0, 1], labels=list(ends))
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=points(11, scale), labelcolor=theme.text)
