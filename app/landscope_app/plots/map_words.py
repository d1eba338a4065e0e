"""A cell of a map in words."""

from __future__ import annotations

import math

from landscope_app.plots.charts import MapChart
from landscope_app.plots.numbers import UNDEFINED, count, percent, short, signed, whole


def told(chart: MapChart, row: int, column: int) -> str:
    """A cell in words: layer, checkpoint, value, sign, rows and features; of a difference both values."""
    value = float(chart.values[row, column])
    written = _written(chart, value)
    if chart.pair is not None:
        ours, theirs = (_written(chart, float(one[row, column])) for one in chart.pair)
        written = f"{ours}, {chart.other_title} {theirs} at {chart.other_columns[column]}, "
        written += f"difference {signed(value, chart.share, chart.counted)}"
    where = f"{chart.rows[row]} {chart.joined} {chart.columns[column]}"
    said = f"{where}: {written}{_signed(chart, row, column)}"
    if chart.samples.size and chart.samples[row, column]:
        n, features = int(chart.samples[row, column]), int(chart.dimensions[row, column])
        said += f" · n {count(n)} · D {count(features)}"
    return said


def _written(chart: MapChart, value: float) -> str:
    if chart.share:
        return percent(value, 1)
    text = whole(value) if chart.counted else short(value)
    return f"{text} {chart.unit}" if chart.unit and math.isfinite(value) else text


def _signed(chart: MapChart, row: int, column: int) -> str:
    """The sign after a value; “–” alone says it already."""
    sign = str(chart.marks[row, column])
    return f" {sign}" if sign and (sign != UNDEFINED or not chart.signs) else ""
