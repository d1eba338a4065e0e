"""The saturation of a run as a map: layers down, checkpoints across."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import LayerSaturation, SaturationMeasured
from landscope.session.model import Session
from landscope.session.threshold import at_threshold
from landscope_app.plots.charts import MapChart
from landscope_app.plots.saturation_chart import EMPTY, STATISTICS, saturation_of

MARKS = {"dead": "×", "nonfinite": "!", "too_few_samples": "*"}
"""Signs in the cells, the gravest first; a layer that was not observed has an empty cell with a dash."""
UNSEEN = "–"


def saturation_map(
    session: Session, run: str, key: str = "lsat", mode: str = "train", threshold: float | None = None
) -> MapChart:
    """A statistic of every layer at every measured checkpoint, in forward and in training order.

    Raises:
        KeyError: there is no such statistic.
        OptionError: not 0 < threshold ≤ 1.
    """
    statistic = {s.key: s for s in STATISTICS}[key]
    saturation = saturation_of(session, run, mode)
    names = session.runs[run].names if run in session.runs else ()
    found = [] if saturation is None else [saturation.measured[n] for n in names if n in saturation.measured]
    if not found:
        return MapChart(statistic.title, (), (), empty=EMPTY)
    shown = [at_threshold(one, threshold) for one in found]
    rows = _rows(shown)
    values, marks = _cells(shown, rows, key)
    finite = values[np.isfinite(values)]
    return MapChart(
        title=f"{run} · {statistic.title.lower()} over the training",
        rows=rows,
        columns=tuple(one.checkpoint for one in shown),
        values=values,
        marks=marks,
        high=1.0 if statistic.share else float(finite.max(initial=0.0)) or 1.0,
        value_title=statistic.title,
        share=statistic.share,
    )


def _rows(shown: list[SaturationMeasured]) -> tuple[str, ...]:
    seen = dict.fromkeys(layer.layer for one in shown for layer in one.layers)
    seen.update(dict.fromkeys(missing.layer for one in shown for missing in one.not_observed))
    return tuple(seen)


def _cells(
    shown: list[SaturationMeasured], rows: tuple[str, ...], key: str
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    row = {name: k for k, name in enumerate(rows)}
    values = np.full((len(rows), len(shown)), np.nan)
    marks = np.full(values.shape, UNSEEN)
    for column, one in enumerate(shown):
        for layer in one.layers:
            values[row[layer.layer], column] = getattr(layer, key)
            marks[row[layer.layer], column] = _mark(layer)
    return values, marks


def _mark(layer: LayerSaturation) -> str:
    if not math.isfinite(layer.lsat):
        return MARKS["nonfinite"]
    return next((sign for flag, sign in MARKS.items() if flag in layer.flags), "")
