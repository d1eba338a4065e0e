"""A matrix of checkpoints and checkpoints as a map: any quantity of pairs, of one run or of two."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from landscope_app.plots.charts import Floats, MapChart
from landscope_app.plots.numbers import UNDEFINED


@dataclass(frozen=True)
class Side:
    """Rows or columns of a matrix.

    Attributes:
        names: checkpoints, each once. labels: what is written at them, such as steps. title: what these are.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    title: str


def matrix_chart(
    title: str,
    values: Floats,
    rows: Side,
    columns: Side,
    formula: str,
    unit: str = "",
    limits: tuple[float, float] | None = None,
    note: str = "",
) -> MapChart:
    """A matrix (R, C) as a map.

    Args:
        title, formula: what the values are. unit: written after each.
        limits: of the colours; None = from 0 to the largest value. A negative lower one asks for diverging
            colours around 0.
        note: how it was measured.
    """
    finite = values[np.isfinite(values)]
    low, high = limits or (0.0, float(finite.max(initial=0.0)) or 1.0)
    return MapChart(
        title=title,
        rows=rows.names,
        columns=columns.names,
        values=values,
        marks=np.where(np.isfinite(values), "", UNDEFINED),
        low=low,
        high=high,
        colour_map="vik" if low < 0.0 else "viridis",
        value_title=formula,
        note=note,
        row_labels=rows.labels,
        column_labels=columns.labels,
        row_title=rows.title,
        column_title=columns.title,
        signs=f"{UNDEFINED} undefined",
        joined="and",
        unit=unit,
    )
