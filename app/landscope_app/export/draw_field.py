"""A plane drawn with matplotlib: colours, contour lines, path and colour bar."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope_app.export.figure_style import points
from landscope_app.plots.charts import FieldChart
from landscope_app.plots.colour_maps import colour_table
from landscope_app.scene.ticks import axis_ticks
from landscope_app.theme.colors import Theme


def draw_field(axes: Any, chart: FieldChart, theme: Theme, scale: float) -> None:
    """Draw into ``axes``, with a colour bar at its right."""
    from matplotlib.colors import ListedColormap

    z = np.ma.masked_invalid(np.asarray(chart.z.T, float))
    low, high = chart.limits
    colours = ListedColormap(colour_table(chart.colour_map) / 255)
    image = axes.pcolormesh(
        chart.alpha,
        chart.beta,
        z,
        cmap=colours,
        vmin=low,
        vmax=high,
        shading="gouraud" if not z.mask.any() else "nearest",
        rasterized=True,
    )
    if chart.levels and not z.mask.all():
        axes.contour(
            chart.alpha,
            chart.beta,
            z,
            levels=list(chart.levels),
            colors="black",
            alpha=0.45,
            linewidths=points(0.9, scale),
            linestyles="solid",
        )
    _draw_path(axes, chart, theme, scale)
    _frame(axes, chart)
    _add_bar(axes, image, chart, scale)


def _draw_path(axes: Any, chart: FieldChart, theme: Theme, scale: float) -> None:
    if chart.path is None or not len(chart.path):
        return
    x, y = chart.path[:, 0], chart.path[:, 1]
    axes.plot(x, y, color=theme.background, linewidth=points(5, scale), solid_joinstyle="round")
    axes.plot(x, y, color=theme.path, linewidth=points(2.4, scale), solid_joinstyle="round")
    axes.scatter(
        x,
        y,
        s=points(7, scale) ** 2,
        color="white",
        edgecolors="#14161b",
        linewidths=points(1, scale),
        zorder=3,
    )
    if chart.current >= 0:
        axes.scatter(
            x[chart.current],
            y[chart.current],
            s=points(13, scale) ** 2,
            color=theme.path,
            edgecolors="white",
            linewidths=points(2, scale),
            zorder=4,
        )


def _frame(axes: Any, chart: FieldChart) -> None:
    wide, high = float(np.ptp(chart.alpha)), float(np.ptp(chart.beta))
    if max(wide, high) <= 3 * min(wide, high):
        axes.set_aspect("equal")
    axes.set_xlim(chart.alpha[0], chart.alpha[-1])
    axes.set_ylim(chart.beta[0], chart.beta[-1])
    axes.set_xlabel(chart.axis_titles[0])
    axes.set_ylabel(chart.axis_titles[1])
    axes.set_title(chart.title)
    axes.grid(False)


def _add_bar(axes: Any, image: Any, chart: FieldChart, scale: float) -> None:
    bar = axes.figure.colorbar(image, ax=axes, aspect=26, pad=0.03, shrink=0.92)
    low, high = chart.limits
    ticks = axis_ticks(low, high if high > low else low + 1, 6, chart.log)
    bar.set_ticks([float(p) for p in ticks.positions], labels=list(ticks.texts))
    bar.ax.tick_params(labelsize=points(11, scale))
    bar.set_label(chart.value_title)
    bar.outline.set_visible(False)
