"""A picture of the embedded samples of every layer, coloured by their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CLASSES = 20
"""Up to so many different whole numbers are classes, each with its own colour; more are a scale."""

_COLUMNS = 4
_UNLABELLED = "0.6"


def draw_embeddings(
    figure: Any,
    placed: Mapping[str, NDArray[Any]],
    labels: Mapping[str, NDArray[Any]],
    fontsize: float,
    colour_maps: Mapping[str, Callable[[int], Any]],
) -> None:
    """Draw one chart per series on a matplotlib figure.

    Args:
        placed: (m, 2) samples by layer. labels: (m,) likewise, NaN = none; may lack some.
        fontsize: of the titles, points. colour_maps: those of matplotlib, by name.
    """
    rows = -(-len(placed) // _COLUMNS)
    columns = min(len(placed), _COLUMNS)
    figure.set_size_inches(3.2 * columns + 1.0, 3.0 * rows + 0.6)
    charts = figure.subplots(rows, columns, squeeze=False).ravel()
    known = np.unique(np.concatenate([np.empty(0), *labels.values()]))
    known = known[~np.isnan(known)]
    colours = colour_maps["tab10" if len(known) <= 10 else "tab20"]
    for axes, (name, points) in zip(charts, placed.items(), strict=False):
        _draw(axes, points, labels.get(name), known, colours)
        axes.set_title(name, fontsize=0.8 * fontsize, parse_math=False)
        axes.tick_params(labelsize=0.6 * fontsize)
    for axes in charts[len(placed) :]:
        axes.set_axis_off()
    if _are_classes(known):
        figure.legend(*charts[0].get_legend_handles_labels(), loc="outside right upper", title="label")
    elif len(known):
        figure.colorbar(charts[0].collections[-1], ax=list(charts), label="label")


def _draw(
    axes: Any,
    points: NDArray[Any],
    labels: NDArray[Any] | None,
    known: NDArray[Any],
    colours: Callable[[int], Any],
) -> None:
    values = np.full(len(points), np.nan) if labels is None else labels
    without = np.isnan(values)
    dots = {"s": 9, "linewidths": 0}
    axes.scatter(*points[without].T, color=_UNLABELLED, **dots)
    if not _are_classes(known):
        limits = {"vmin": known[0], "vmax": known[-1]} if len(known) else {}
        axes.scatter(*points[~without].T, c=values[~without], cmap="viridis", **limits, **dots)
        return
    for place, value in enumerate(known):
        chosen = values == value
        axes.scatter(*points[chosen].T, color=colours(place), label=f"{value:g}", **dots)


def _are_classes(known: NDArray[Any]) -> bool:
    return 0 < len(known) <= _CLASSES and bool((known == np.round(known)).all())
