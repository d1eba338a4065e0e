"""The saturation of a run as a map: layers down, checkpoints across; or its difference from another run."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as struct_replace
from numpy.typing import NDArray

from landscope.session.model import Session
from landscope.session.threshold import idim_rule
from landscope_app.plots.against import Against
from landscope_app.plots.charts import MapChart
from landscope_app.plots.saturation_chart import EMPTY
from landscope_app.plots.saturation_frame import UNSEEN, Frame, Frames
from landscope_app.plots.saturation_how import unlike
from landscope_app.plots.saturation_values import STATISTICS, Statistic
from landscope_app.plots.slices import at_once
from landscope_app.scene.ticks import nice_step

SIGNS = "× dead · ! NaN · * too few samples · ~ sample of rows · – not observed"
DIVERGING = "vik"


def saturation_map(
    session: Session,
    run: str,
    key: str = "lsat",
    mode: str = "train",
    threshold: float | None = None,
    other: str = "",
) -> MapChart:
    """A statistic of every layer at every measured checkpoint, in forward and in training order.

    Args:
        session, run, mode: whose. key: field of a statistic.
        threshold: share of the variance; None = as measured.
        other: a run whose values are subtracted, at the checkpoints that correspond; empty = none.

    Raises:
        KeyError: there is no such statistic.
        OptionError: not 0 < threshold ≤ 1.
    """
    steps = map_steps(session, run, key, mode, threshold, other, Frames())
    return at_once(steps)


def map_steps(
    session: Session, run: str, key: str, mode: str, threshold: float | None, other: str, frames: Frames
) -> Generator[None, None, MapChart]:
    """``saturation_map`` in steps of a few milliseconds; what ``frames`` has from an earlier map is used."""
    statistic = {s.key: s for s in STATISTICS}[key]
    frame = yield from frames.frame(session, run, mode, other)
    if not frame.ours:
        return MapChart(statistic.title, (), (), empty=EMPTY)
    shares = [threshold or one.measured.threshold for one in frame.ours]
    rules = [idim_rule(one.measured) for one in frame.ours]
    values = yield from frames.values(frame.ours, frame.rows, key, shares, rules)
    chart = _alone(f"{run} · {statistic.title.lower()} over the training", frame, values, statistic)
    chart = replace(chart, note=_otherwise(frame, shares, counted=key in ("lsat", "idim")))
    if not frame.beside:
        return chart
    theirs = yield from frames.values(frame.theirs, frame.rows, key, shares, rules)
    return _difference(chart, frame, theirs, statistic)


def _alone(title: str, frame: Frame, values: NDArray[np.float64], statistic: Statistic) -> MapChart:
    finite = values[np.isfinite(values)]
    return MapChart(
        title=title,
        rows=frame.rows,
        columns=tuple(one.measured.checkpoint for one in frame.ours),
        values=values,
        marks=frame.ours_cells.marks,
        high=1.0 if statistic.share else float(finite.max(initial=0.0)) or 1.0,
        value_title=statistic.title,
        share=statistic.share,
        counted=statistic.counted,
        dimensions=frame.ours_cells.dimensions,
        samples=frame.ours_cells.samples,
    )


def _difference(chart: MapChart, frame: Frame, theirs: NDArray[np.float64], statistic: Statistic) -> MapChart:
    """The map minus that of another run, in diverging colours around 0."""
    other, values = frame.beside[0].run, chart.values - theirs
    most = _rounded_up(float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
    return replace(
        chart,
        title=f"{chart.title}, minus {other}",
        values=values,
        marks=_marks_of_both(chart.marks, frame.theirs_cells.marks),
        low=-most,
        high=most,
        colour_map=DIVERGING,
        value_title=f"{statistic.title} minus {other}",
        note=" · ".join(filter(None, (f"minus {other} {_hows(frame.beside)}", chart.note))),
        other_title=other,
        other_columns=tuple(one.checkpoint for one in frame.beside),
        pair=(chart.values, theirs),
    )


def _marks_of_both(ours: NDArray[np.str_], theirs: NDArray[np.str_]) -> NDArray[np.str_]:
    """A dash where either run has no value, else the sign of this run, else that of the other."""
    unseen = (ours == UNSEEN) | (theirs == UNSEEN)
    return np.where(unseen, UNSEEN, np.where(ours != "", ours, theirs))


def _otherwise(frame: Frame, shares: Sequence[float], *, counted: bool) -> str:
    """How many checkpoints were measured unlike the last one, and how; empty where none was."""
    shown = [
        struct_replace(one.measured, threshold=share) for one, share in zip(frame.ours, shares, strict=True)
    ]
    last = shown[-1]
    found = [text for one in shown if (text := unlike(one, last, counted=counted))]
    how = " or ".join(dict.fromkeys(found))
    return f"{len(found)} of {len(frame.ours)}: {how} as at {last.checkpoint}" if found else ""


def _hows(beside: Sequence[Against]) -> str:
    """Why these checkpoints correspond and how they were measured unlike ours, each once."""
    same = [one.how.split(",")[0] if one.how.startswith("at the same") else "" for one in beside]
    hows = " or ".join(dict.fromkeys(how or "at the nearest share of the training" for how in same))
    otherwise = dict.fromkeys(one.unlike for one in beside if one.unlike)
    return f"{hows} ({' or '.join(otherwise)})" if otherwise else hows


def _rounded_up(most: float) -> float:
    """The next of 1, 2, 2.5, 5 times a power of ten, which the colour bar can name; 1 for 0."""
    return nice_step(most, 1) if most > 0.0 else 1.0
