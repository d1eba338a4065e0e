"""Curves and maps of distances as tables for spreadsheets."""

from __future__ import annotations

import numpy as np

from landscope_app.plots.charts import CurveChart, MapChart
from landscope_app.plots.distance_rows import FROZEN, NONFINITE
from landscope_app.plots.numbers import UNDEFINED
from landscope_app.plots.table_text import lines, number

_NOTES = {FROZEN: "frozen", NONFINITE: "NaN or inf", UNDEFINED: "undefined"}


def curves_text(chart: CurveChart) -> str:
    """One line per point of every curve."""
    head = ("name", chart.x_title, chart.y_title)
    return lines(
        head,
        (
            (one.name, number(float(x)), number(float(y)))
            for one in chart.series
            for x, y in zip(one.x, one.y, strict=True)
        ),
    )


def map_text(chart: MapChart) -> str:
    """One line per cell: row, column, value, what its sign means."""
    head = ("row", "column", chart.value_title, "note")
    return lines(
        head,
        (
            (
                chart.rows[row],
                chart.columns[column],
                number(float(chart.values[row, column])),
                _NOTES.get(str(chart.marks[row, column]), ""),
            )
            for row, column in np.ndindex(chart.values.shape)
        ),
    )
