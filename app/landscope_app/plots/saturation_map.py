"""The saturation of a run as a map: layers down, checkpoints across; or its difference from another run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import SaturationMeasured
from landscope.contract.intrinsic import IdimRule
from landscope.session.comparison import saturation_of
from landscope.session.model import Session
from landscope.session.threshold import idim_rule
from landscope_app.plots.against import Against, against
from landscope_app.plots.charts import MapChart
from landscope_app.plots.saturation_chart import EMPTY
from landscope_app.plots.saturation_columns import Column, Columns
from landscope_app.plots.saturation_values import STATISTICS, Statistic
from landscope_app.scene.ticks import nice_step

UNSEEN = "–"
"""The sign of a cell without a value: not observed, or not in the other run."""
SIGNS = "× dead · ! NaN · * too few samples · – not observed"
DIVERGING = "vik"


def map_columns(
    session: Session, run: str, mode: str, other: str
) -> list[tuple[SaturationMeasured, Against | None]]:
    """Every measured checkpoint of a run in training order, and what it is compared with (None = nothing)."""
    saturation = saturation_of(session, run, mode)
    names = session.runs[run].names if run in session.runs else ()
    found = [] if saturation is None else [saturation.measured[n] for n in names if n in saturation.measured]
    return [(one, against(session, run, one.checkpoint, other, one.mode)) for one in found]


def saturation_map(
    session: Session,
    run: str,
    key: str = "lsat",
    mode: str = "train",
    threshold: float | None = None,
    other: str = "",
    columns: Columns | None = None,
) -> MapChart:
    """A statistic of every layer at every measured checkpoint, in forward and in training order.

    Args:
        session, run, mode: whose. key: field of a statistic.
        threshold: share of the variance; None = as measured.
        other: a run whose values are subtracted, at the checkpoints that correspond; empty = none.
        columns: those made before, so that they are not made again.

    Raises:
        KeyError: there is no such statistic.
        OptionError: not 0 < threshold ≤ 1.
    """
    statistic = {s.key: s for s in STATISTICS}[key]
    found, made = map_columns(session, run, mode, other), columns or Columns()
    if not found:
        return MapChart(statistic.title, (), (), empty=EMPTY)
    ours = [made.of(one) for one, _ in found]
    beside = [one for _, one in found if one is not None]
    theirs = [made.of(one.measured) if one.measured is not None else None for one in beside]
    rows = _rows([*ours, *(one for one in theirs if one is not None)])
    cells = _cells(ours, rows, key, threshold)
    finite = cells.values[np.isfinite(cells.values)]
    chart = MapChart(
        title=f"{run} · {statistic.title.lower()} over the training",
        rows=rows,
        columns=tuple(one.checkpoint for one, _ in found),
        values=cells.values,
        marks=cells.marks,
        high=1.0 if statistic.share else float(finite.max(initial=0.0)) or 1.0,
        value_title=statistic.title,
        share=statistic.share,
        dimensions=cells.dimensions,
        samples=cells.samples,
    )
    if not beside:
        return chart
    shares = [threshold or one.threshold for one, _ in found]
    rules = [idim_rule(one) for one, _ in found]
    return _difference(chart, beside, _cells(theirs, rows, key, shares, rules), statistic)


def _difference(chart: MapChart, beside: Sequence[Against], theirs: _Cells, statistic: Statistic) -> MapChart:
    """The map minus that of another run, in diverging colours around 0."""
    other, values = beside[0].run, chart.values - theirs.values
    most = _rounded_up(float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
    marks = np.where(np.isnan(values) & (chart.marks == ""), UNSEEN, chart.marks)
    hows = dict.fromkeys(_kind_of(one) for one in beside)
    return replace(
        chart,
        title=f"{chart.title}, minus {other}",
        values=values,
        marks=np.where((marks == "") & (theirs.marks != ""), theirs.marks, marks),
        low=-most,
        high=most,
        colour_map=DIVERGING,
        value_title=f"{statistic.title} minus {other}",
        note=f"minus {other} {' or '.join(hows)}",
        other_title=other,
        other_columns=tuple(one.checkpoint for one in beside),
        pair=(chart.values, theirs.values),
    )


def _rounded_up(most: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten, which the colour bar can name; 1 for 0."""
    return nice_step(most, 1) if most > 0.0 else 1.0


def _kind_of(one: Against) -> str:
    return (
        one.how.split(",")[0] if one.how.startswith("at the same") else "at the nearest share of the training"
    )


@dataclass(frozen=True)
class _Cells:
    """(R, C) each: values, signs, features and rows."""

    values: NDArray[np.float64]
    marks: NDArray[np.str_]
    dimensions: NDArray[np.int64]
    samples: NDArray[np.int64]


def _rows(columns: Sequence[Column]) -> tuple[str, ...]:
    """Observed layers in forward order, then those that were observed nowhere."""
    different = dict.fromkeys(column.layers for column in columns)
    seen = dict.fromkeys(layer for layers in different for layer in layers)
    seen.update(dict.fromkeys(m.layer for column in columns for m in column.measured.not_observed))
    return tuple(seen)


def _cells(
    columns: Sequence[Column | None],
    rows: tuple[str, ...],
    key: str,
    threshold: float | Sequence[float] | None = None,
    rules: Sequence[IdimRule] | None = None,
) -> _Cells:
    shape = (len(rows), len(columns))
    cells = _Cells(
        np.full(shape, np.nan), np.full(shape, UNSEEN), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    )
    row = {name: k for k, name in enumerate(rows)}
    places: dict[tuple[str, ...], list[int]] = {}
    for k, column in enumerate(columns):
        if column is None:
            continue
        if column.layers not in places:
            places[column.layers] = [row[name] for name in column.layers]
        place = places[column.layers]
        share = threshold[k] if isinstance(threshold, Sequence) else threshold
        cells.values[place, k] = column.values(key, share, rules[k] if rules is not None else None)
        cells.marks[place, k] = column.marks
        cells.dimensions[place, k] = column.dimensions
        cells.samples[place, k] = column.samples
    return cells
