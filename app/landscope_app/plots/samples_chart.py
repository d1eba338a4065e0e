"""The samples of a layer in its first two directions, laid out so that they can be followed in training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import UNKNOWN_LABEL, LayerSaturation, SaturationMeasured
from landscope.session.comparison import missing_reason, saturation_of
from landscope.session.model import Saturation, Session
from landscope_app.plots.charts import PointsChart, Series
from landscope_app.plots.numbers import count, percent

NAMED = 10
"""Up to so many classes have a colour and a sign each; more share a ramp of colours."""

NONE_KEPT = "No samples were kept here; measure the saturation again to see them."
NOT_YET = "Samples appear once all batches of this checkpoint have been measured."
_NO_LABEL = "no label"
_NOTHING = np.empty(0)
_Points = NDArray[np.float64]


def samples_chart(
    session: Session, run: str, checkpoint: str, layer: str, mode: str = "train"
) -> PointsChart:
    """The kept samples of a layer, on the axes that hold those of all checkpoints of the run.

    An eigenvector may point either way: each direction is turned so that the samples lie as they do at the
    checkpoint before. Without anything to draw the chart has no points and says why in ``empty``.
    """
    saturation = saturation_of(session, run, mode)
    measured = saturation.measured.get(checkpoint) if saturation is not None else None
    title = f"Samples of {layer}"
    if saturation is None or measured is None:
        return PointsChart(title, empty=f"“{checkpoint}” has not been measured yet.")
    found = layer_of(measured, layer)
    if found is None:
        return PointsChart(title, empty=f"{layer} {missing_reason(measured, layer)}.")
    if not float(found.spectrum.sum()) > 0.0:
        return PointsChart(title, empty=f"The output of {layer} never varies here: there is no direction.")
    if not len(found.embedding):
        return PointsChart(title, empty=NOT_YET if measured.settings.get("partial") else NONE_KEPT)
    turned = _turned(saturation, session.runs[run].names if run in session.runs else (), layer)
    here = turned.get(checkpoint, np.asarray(found.embedding, np.float64))
    return _chart(f"{run} · samples of {layer} at {checkpoint}", found, here, _limits(turned or {"": here}))


def layer_of(measured: SaturationMeasured, layer: str) -> LayerSaturation | None:
    """The layer of that name among those measured."""
    return next((one for one in measured.layers if one.layer == layer), None)


def _turned(saturation: Saturation, names: tuple[str, ...], layer: str) -> dict[str, _Points]:
    """(m, 2) points per checkpoint, in training order, each direction with the sign of the one before."""
    turned: dict[str, _Points] = {}
    before: _Points | None = None
    for name in names:
        measured = saturation.measured.get(name)
        found = layer_of(measured, layer) if measured is not None else None
        if found is None or not len(found.embedding):
            continue
        points = np.asarray(found.embedding, np.float64)
        if before is not None and before.shape == points.shape:
            points = points * _signs(before, points)
        turned[name] = before = points
    return turned


def _signs(before: _Points, points: _Points) -> _Points:
    """(2,) the sign of each direction that brings the points closest to where they were before."""
    both = np.isfinite(before).all(axis=1) & np.isfinite(points).all(axis=1)
    along = (_scaled(before[both]) * _scaled(points[both])).sum(axis=0)
    return np.where(along < 0, -1.0, 1.0)


def _scaled(points: _Points) -> _Points:
    """The points with coordinates up to 1, so that no product overflows."""
    return points / max(float(np.abs(points).max(initial=0.0)), np.finfo(float).tiny)


def _limits(turned: dict[str, _Points]) -> tuple[tuple[float, float], tuple[float, float]]:
    """What holds the finite points of all checkpoints."""
    points = np.concatenate(list(turned.values()))
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return (-1.0, 1.0), (-1.0, 1.0)
    x, y = (_span(axis) for axis in points.T)
    return x, y


def _span(values: _Points) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _chart(
    title: str,
    layer: LayerSaturation,
    points: _Points,
    limits: tuple[tuple[float, float], tuple[float, float]],
) -> PointsChart:
    classes, group = np.unique(np.asarray(layer.labels), return_inverse=True)
    shares = np.asarray(layer.spectrum, float)[:2] / float(layer.spectrum.sum())
    first, second = (*shares, 0.0)[:2]
    groups = _groups(classes)
    drawn = np.where(np.isfinite(points).all(axis=1, keepdims=True), points, np.nan)
    return PointsChart(
        title=title,
        axis_titles=(
            f"first direction · {percent(float(first), 1)}",
            f"second direction · {percent(float(second), 1)}",
        ),
        short_titles=f"→ {percent(float(first), 1)}, ↑ {percent(float(second), 1)}",
        points=drawn,
        group=group.reshape(-1),
        groups=groups,
        texts=tuple(
            _text(groups[k], label, item)
            for k, label, item in zip(
                group.reshape(-1).tolist(), layer.labels.tolist(), layer.items.tolist(), strict=True
            )
        ),
        limits=limits,
        note=_note(layer, drawn),
        empty="" if np.isfinite(drawn).any() else "None of the kept samples is finite here.",
    )


def _groups(classes: NDArray[np.integer]) -> tuple[Series, ...]:
    """A legend entry per class; a single class without a label needs no name."""
    named = [int(label) for label in classes if label != UNKNOWN_LABEL]
    if len(named) <= NAMED:
        small = not named or 0 <= named[0] <= named[-1] < NAMED  # then a class has one colour in all layers
        places = named if small else range(len(named))
        found = [Series(f"{n}", _NOTHING, _NOTHING, colour=k) for k, n in zip(places, named, strict=True)]
    else:
        low, span = named[0], named[-1] - named[0]
        found = [Series(f"{n}", _NOTHING, _NOTHING, shade=(n - low) / span) for n in named]
    if len(named) < len(classes):  # the least integer, so it comes first
        found.insert(0, Series(_NO_LABEL, _NOTHING, _NOTHING, colour=-1 if named else 0))
    return tuple(found)


def _text(group: Series, label: int, item: int) -> str:
    parts = [_NO_LABEL if label == UNKNOWN_LABEL else f"class {group.name}"]
    return " · ".join([*parts, f"sample {count(item)}"] if item >= 0 else parts)


def _note(layer: LayerSaturation, points: _Points) -> str:
    few = ", at least 10·D wanted" if "too_few_samples" in layer.flags else ""
    lost = len(points) - int(np.isfinite(points).all(axis=1).sum())
    left_out = f" ({count(lost)} not finite)" if lost else ""
    return (
        f"{count(len(points))} samples{left_out} · n {count(layer.samples)} · D {count(layer.dimension)}{few}"
    )
