"""What a legend and a line of values say about curves, and where curves lie as displayed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from landscope_app.plots.charts import CurveChart, Floats, Series
from landscope_app.plots.numbers import short, whole

MANY = 8
"""More curves than these are drawn thinner, and not all are told at once."""


def legend_entries(chart: CurveChart) -> tuple[Series, ...]:
    """The series; where colours stand for groups, also which line style belongs to which axis or run."""
    nothing = np.empty(0)
    if any(chart.style_titles) and any(s.dashed and s.group != s.name for s in chart.series):
        solid, dashed = chart.style_titles
    elif chart.right_title and any(s.group for s in chart.series if not s.dashed):
        solid, dashed = chart.y_title, chart.right_title
    else:
        return chart.series
    styles = (
        Series(solid, nothing, nothing, colour=-1),
        Series(dashed, nothing, nothing, colour=-1, dashed=True),
    )
    return (*chart.series, *styles)


def is_hidden(series: Series, chart: CurveChart, hidden: frozenset[str]) -> bool:
    """Whether the legend has put out the series, its axis or its run."""
    if any(chart.style_titles):
        style = chart.style_titles[1 if series.dashed else 0]
    else:
        style = chart.right_title if series.right else chart.y_title
    return bool({series.legend, style} & hidden)


def values_at(chart: CurveChart, shown: Sequence[Series], across: Floats, x: float, pointed: str) -> str:
    """The values of the curves nearest to a place ``x`` on the displayed axis, in one line.

    Args:
        across: (N,) x of the first curve as displayed.
        pointed: name of a curve that is told instead of all; empty = none.
    """
    nearest = int(np.argmin(np.abs(across - x)))
    there = float(shown[0].x[nearest])
    at = f"{chart.x_title.split(' between ')[0]} {whole(there)}"
    named = [s for s in shown if pointed and s.legend == pointed] or list(shown)
    if len(named) > MANY:
        low, high = extent([np.array([_at(s, there) for s in named])]) or (np.nan, np.nan)
        return f"{at} · {short(low)} to {short(high)} over {len(named)} layers"
    return " · ".join([at, *(_value(s, there) for s in named)])


def _place(series: Series, x: float) -> int:
    """Of the point nearest to ``x``: another run has other steps."""
    return int(np.argmin(np.abs(series.x - x))) if len(series.x) else -1


def _at(series: Series, x: float) -> float:
    k = _place(series, x)
    return float(series.y[k]) if k >= 0 else float("nan")


def _value(series: Series, x: float) -> str:
    k = _place(series, x)
    text = f"{series.name} {short(_at(series, x))}"
    if series.error is not None and np.isfinite(series.error[k]):
        text += f" ± {short(float(series.error[k]), 1)}"
    return text


def log10(values: Floats) -> Floats:
    """The logarithm of what is positive, NaN for all else."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log10(np.asarray(values, float))
    return np.where(np.isfinite(found), found, np.nan)


def extent(arrays: Sequence[Floats]) -> tuple[float, float] | None:
    """Lowest and highest finite value, apart from each other; None where there is none."""
    finite = np.concatenate([a[np.isfinite(a)] for a in arrays]) if arrays else np.empty(0)
    if finite.size == 0:
        return None
    low, high = float(finite.min()), float(finite.max())
    pad = (abs(low) * 0.05 or 0.5) if high == low else 0.0
    return low - pad, high + pad


def nearest_curve(curves: Sequence[tuple[str, Floats, Floats]], x: float, y: float, reach: float) -> str:
    """The name of the curve (name, x, y as displayed) that passes a place within ``reach``; empty = none."""
    found = ""
    for name, across, upward in curves:
        away = abs(_height(across, upward, x) - y) if len(across) else np.inf
        if away < reach:
            reach, found = away, name
    return found


def _height(x: Floats, y: Floats, at: float) -> float:
    """Of a curve at a place between two of its points; NaN = a gap."""
    k = int(np.clip(np.searchsorted(x, at), 1, max(1, len(x) - 1)))
    if len(x) < 2:
        return float(y[0])
    share = (at - x[k - 1]) / (x[k] - x[k - 1]) if x[k] > x[k - 1] else 0.0
    return float(y[k - 1] + min(1.0, max(0.0, share)) * (y[k] - y[k - 1]))
