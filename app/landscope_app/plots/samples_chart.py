"""The samples of a layer in its first two directions, laid out so that they can be followed in training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import UNKNOWN_LABEL, LayerSaturation, SaturationMeasured
from landscope.session.comparison import missing_reason, saturation_of
from landscope.session.model import Saturation, Session
from landscope_app.plots.charts import PointsChart, Series
from landscope_app.plots.numbers import count, percent
from landscope_app.plots.saturation_values import without_spectrum

NAMED = 10
"""Up to so many classes have a colour and a sign each; more share a ramp of colours."""

NONE_KEPT = "No samples were kept here; measure the saturation again to see them."
NOT_YET = "Samples appear once all batches of this checkpoint have been measured."
_NO_LABEL = "no label"
_NOTHING = np.empty(0)
_Points = NDArray[np.float64]
_Limits = tuple[tuple[float, float], tuple[float, float]]


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
    if why := without_spectrum(found):
        return PointsChart(title, empty=f"{why}: there is no direction.")
    if not len(found.embedding):
        return PointsChart(title, empty=NOT_YET if measured.settings.get("partial") else NONE_KEPT)
    names = session.runs[run].names if run in session.runs else ()
    points, limits = _in_place(saturation, names if checkpoint in names else (checkpoint,), found, checkpoint)
    return _chart(f"{run} · samples of {layer} at {checkpoint}", found, points, limits)


def layer_of(measured: SaturationMeasured, layer: str) -> LayerSaturation | None:
    """The layer of that name among those measured."""
    return next((one for one in measured.layers if one.layer == layer), None)


def _in_place(
    saturation: Saturation, names: tuple[str, ...], here: LayerSaturation, checkpoint: str
) -> tuple[_Points, _Limits]:
    """(m, 2) points of a checkpoint, and what holds those of all checkpoints that have as many.

    Each direction has the sign that brings the points closest to where they were at the checkpoint before.
    """
    at = {
        name: layer_of(saturation.measured[name], here.layer) for name in names if name in saturation.measured
    }
    shown = {n: one.embedding for n, one in at.items() if one and one.embedding.shape == here.embedding.shape}
    points = np.stack(list(shown.values())).astype(np.float64)
    finite = np.isfinite(points[..., 0]) & np.isfinite(points[..., 1])
    points[~finite] = 0.0
    along = (points[1:] * points[:-1]).sum(axis=1)
    points[1:] *= np.cumprod(np.where(along < 0, -1.0, 1.0), axis=0)[:, None]
    x, y = (_span(points[..., axis][finite]) for axis in range(2))
    k = list(shown).index(checkpoint)
    return np.where(finite[k, :, None], points[k], np.nan), (x, y)


def _span(values: _Points) -> tuple[float, float]:
    if not len(values):
        return -1.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _chart(title: str, layer: LayerSaturation, points: _Points, limits: _Limits) -> PointsChart:
    classes, group = np.unique(np.asarray(layer.labels), return_inverse=True)
    with np.errstate(invalid="ignore"):  # a variance that is not finite has no shares
        shares = np.asarray(layer.spectrum, float)[:2] / float(layer.spectrum.sum())
    first, second = (*shares, 0.0)[:2]
    groups = _groups(classes)
    return PointsChart(
        title=title,
        axis_titles=(
            f"first direction · {percent(float(first), 1)}",
            f"second direction · {percent(float(second), 1)}",
        ),
        short_titles=f"→ {percent(float(first), 1)}, ↑ {percent(float(second), 1)}",
        points=points,
        group=group.reshape(-1),
        groups=groups,
        texts=tuple(
            _text(groups[k], label, item)
            for k, label, item in zip(
                group.reshape(-1).tolist(), layer.labels.tolist(), layer.items.tolist(), strict=True
            )
        ),
        limits=limits,
        note=_note(layer, points),
        empty="" if np.isfinite(points).any() else "None of the kept samples is finite here.",
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
