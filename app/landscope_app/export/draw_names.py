"""Names of layers beside the rows of a figure: as many as have room, each as long as it may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from landscope_app.plots.layer_names import fitted

ROOM = 0.34  # the most of the width of a chart that names may take, as in the window
ROWS = 0.78  # of the height of a figure that rows take; the rest is title and captions
LINE = 1.25  # height of a line of text in sizes of its font


def rows_apart(axes: Any, rows: int, size: float) -> int:
    """Every how many rows one can be written beside without touching the next; ``size`` in points."""
    height: float = axes.figure.get_figheight() * 72 * ROWS
    return max(1, math.ceil(rows * size * LINE / height))


def name_rows(axes: Any, names: Sequence[str], size: float, every: int) -> None:
    """Write every so many names beside their rows, shortened as in the window where they are too long."""
    from matplotlib.font_manager import FontProperties

    font = FontProperties(family=_families(), size=size)
    renderer = axes.figure.canvas.get_renderer()
    columns = axes.get_subplotspec().get_gridspec().ncols
    room = ROOM * axes.figure.bbox.width / columns

    def width_of(text: str) -> float:
        return float(renderer.get_text_width_height_descent(text, font, False)[0])

    rows = range(0, len(names), every)
    axes.set_yticks(list(rows), [fitted(names[k], room, width_of) for k in rows])
    axes.tick_params(axis="y", labelsize=size)


def _families() -> list[str]:
    import matplotlib as mpl

    return list(mpl.rcParams["font.family"])
