"""A map of layers and checkpoints drawn with matplotlib."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from landscope_app.export.draw_names import name_rows, rows_apart
from landscope_app.export.figure_style import points
from landscope_app.plots.charts import MapChart
from landscope_app.plots.colour_maps import colour_table, on_colour
from landscope_app.plots.numbers import logarithmic_label
from landscope_app.plots.saturation_map import SIGNS
from landscope_app.theme.colors import Theme

MOST_SIGNED, MOST_COLUMNS = 60, 12


def draw_map(axes: Any, chart: MapChart, theme: Theme, scale: float) -> None:
    """Draw into ``axes``: first layer on top, signs in the cells, a colour bar at the right."""
    from matplotlib.colors import ListedColormap

    colours = ListedColormap(colour_table(chart.colour_map) / 255)
    axes.set_facecolor(theme.track)  # seen where there is no value
    image = axes.imshow(
        np.ma.masked_invalid(chart.displayed(chart.values)),
        cmap=colours,
        vmin=chart.limits[0],
        vmax=chart.limits[1],
        aspect="auto",
        interpolation="nearest",
    )
    if max(chart.values.shape) <= MOST_SIGNED:
        _sign(axes, chart, theme, scale)
    _label(axes, chart, theme, scale)
    bar = axes.figure.colorbar(image, ax=axes, aspect=30, pad=0.02)
    bar.set_label(chart.value_title)
    if chart.log:
        bar.ax.yaxis.set_major_formatter(lambda exponent, _: logarithmic_label(exponent))
    bar.outline.set_visible(False)
    axes.set_title(chart.title)
    signs = chart.signs if (chart.marks != "").any() else ""
    if not chart.signs:  # of saturation, which explains its signs always
        signs = SIGNS
    axes.set_xlabel(" · ".join(filter(None, (chart.column_title, chart.note, signs))))
    axes.set_ylabel(chart.row_title)


def _sign(axes: Any, chart: MapChart, theme: Theme, scale: float) -> None:
    for row, column in np.argwhere(chart.marks != ""):
        value = float(chart.displayed(chart.values[row, column]))
        colour = on_colour(value, chart.limits, chart.colour_map) if math.isfinite(value) else theme.muted
        place = {"ha": "center", "va": "center", "fontsize": points(10, scale)}
        axes.text(column, row, str(chart.marks[row, column]), color=colour, **place)


def _label(axes: Any, chart: MapChart, theme: Theme, scale: float) -> None:
    columns = range(0, len(chart.columns), math.ceil(len(chart.columns) / MOST_COLUMNS))
    labels = chart.column_labels or chart.columns
    turned = {} if chart.column_labels else {"rotation": 30, "ha": "right"}
    axes.set_xticks(list(columns), [labels[k] for k in columns], **turned)
    axes.tick_params(length=0, labelsize=points(10, scale), labelcolor=theme.text)
    size = points(10, scale)
    name_rows(axes, chart.row_labels or chart.rows, size, rows_apart(axes, len(chart.rows), size))
