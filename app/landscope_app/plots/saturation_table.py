"""What bars and maps show as a table for spreadsheets: tab-separated lines with a head."""

from __future__ import annotations

import numpy as np

from landscope_app.plots.charts import Bar, BarChart, MapChart
from landscope_app.plots.numbers import UNDEFINED
from landscope_app.plots.table_text import lines, number

_FLAGS = {
    "dead": "dead",
    "nonfinite": "rows with NaN or inf left out",
    "too_few_samples": "too few samples",
    "sampled": "not all rows were taken",
    "not_observed": "not observed",
    "unmatched": "not in the other run",
    "only_other": "only in the other run",
}
_SIGNS = {
    "×": "dead",
    "!": "rows with NaN or inf left out",
    "*": "too few samples",
    "~": "not all rows were taken",
    UNDEFINED: "without a value",
}


def bars_table(chart: BarChart) -> str:
    """One line per layer: value (a share as a number from 0 to 1), D, n; of two runs, both values."""
    compared = (f"{chart.value_title}, {chart.other_title}", "difference") if chart.other_title else ()
    head = ("layer", chart.value_title, "D", "n", *compared, "note")
    return lines(head, (_bar_cells(bar, compared=bool(compared)) for bar in chart.bars))


def _bar_cells(bar: Bar, *, compared: bool) -> tuple[str, ...]:
    more = (number(bar.other), number(bar.value - bar.other)) if compared else ()
    note = "; ".join(said for flag, said in _FLAGS.items() if flag in bar.flags)
    return (bar.label, number(bar.value), _size(bar.dimension), _size(bar.samples), *more, note)


def map_table(chart: MapChart) -> str:
    """One line per cell, layers in forward order and each over the training."""
    other = chart.other_title
    compared = (f"checkpoint, {other}", f"value, {other}", "difference") if chart.pair is not None else ()
    head = ("layer", "checkpoint", "value", "D", "n", *compared, "note")
    return lines(head, (_map_cells(chart, row, column) for row, column in np.ndindex(chart.values.shape)))


def _map_cells(chart: MapChart, row: int, column: int) -> tuple[str, ...]:
    value = float(chart.values[row, column])
    more: tuple[str, ...] = ()
    if chart.pair is not None:
        ours, theirs = (float(one[row, column]) for one in chart.pair)
        more, value = (chart.other_columns[column], number(theirs), number(value)), ours
    sizes = (_size(int(chart.dimensions[row, column])), _size(int(chart.samples[row, column])))
    note = _SIGNS.get(str(chart.marks[row, column]), "")
    return (chart.rows[row], chart.columns[column], number(value), *sizes, *more, note)


def _size(size: int) -> str:
    return str(size) if size else ""
