"""The spectrum of one layer: every eigenvalue's share of the variance, and the shares added up."""

from __future__ import annotations

import dataclasses

import numpy as np
from msgspec.structs import replace

from landscope.contract.deltas import LayerSaturation, SaturationMeasured
from landscope.session.comparison import alike, missing_reason, saturation_of
from landscope.session.model import Session
from landscope.session.threshold import at_threshold, idim_rule
from landscope_app.plots.against import Against, against
from landscope_app.plots.charts import CurveChart, Series
from landscope_app.plots.numbers import count, percent
from landscope_app.plots.saturation_values import without_spectrum

FAINTEST = 1e-12
"""Share of the variance below which an eigenvalue is rounding and has no place on a logarithmic axis."""


def spectrum_chart(
    session: Session,
    run: str,
    checkpoint: str,
    layer: str,
    mode: str = "train",
    threshold: float | None = None,
    other: str = "",
) -> CurveChart:
    """Shares of the variance over the number of directions; the level is the threshold, the mark is idim.

    ``other``: a run whose spectrum of the layer of that name is drawn with it, as dashes.

    Without anything to draw the chart has no series and says why in ``empty``.
    """
    saturation = saturation_of(session, run, mode)
    measured = saturation.measured.get(checkpoint) if saturation is not None else None
    if measured is None:
        return _nothing(layer, f"“{checkpoint}” has not been measured yet.")
    found = _of_layer(measured, layer)
    if found is None:
        return _nothing(layer, f"{layer} {missing_reason(measured, layer)}.")
    if why := without_spectrum(found):
        return _nothing(layer, f"{why}, so it has no spectrum.")
    alone = at_threshold(replace(measured, layers=(found,)), threshold)
    chart = _chart(f"{run} · spectrum of {layer} at {checkpoint}", alone)
    beside = against(session, run, checkpoint, other, measured.mode)
    return chart if beside is None else _with(chart, alone, beside, layer)


def _of_layer(measured: SaturationMeasured, layer: str) -> LayerSaturation | None:
    return next((one for one in measured.layers if one.layer == layer), None)


def _nothing(layer: str, why: str) -> CurveChart:
    return CurveChart(f"Spectrum of {layer}", "", "", (), empty=why)


def _chart(title: str, measured: SaturationMeasured) -> CurveChart:
    (layer,) = measured.layers
    return CurveChart(
        title=title,
        x_title="direction",
        y_title="share",
        right_title="sum",
        series=_series(layer, "share of variance", "sum of shares"),
        note=f"{_count(layer, measured)} · n {count(layer.samples)}",
        marks=(float(layer.idim),),
        log_y=True,
        level=measured.threshold,
        whole_x=True,
    )


def _with(chart: CurveChart, ours: SaturationMeasured, beside: Against, layer: str) -> CurveChart:
    """The chart with the spectrum of another run, or with why there is none."""
    theirs = _of_layer(beside.measured, layer) if beside.measured is not None else None
    if beside.measured is None or theirs is None or not float(theirs.spectrum.sum()) > 0.0:
        return dataclasses.replace(chart, note=f"{chart.note} · {_why_not(beside, layer, theirs)}")
    (mine,) = ours.layers
    otherwise = f" ({beside.unlike})" if beside.unlike else ""
    (found,) = alike(ours, ours.threshold, replace(beside.measured, layers=(theirs,))).layers
    return dataclasses.replace(
        chart,
        series=(
            *_series(mine, "share", "sum"),
            *_series(found, f"share, {beside.run}", f"sum, {beside.run}", beside.run),
        ),
        note=f"{chart.note} · {beside.run} {count(found.idim)} of {count(found.dimension)}{otherwise}",
        marks=(*chart.marks, float(found.idim)),
    )


def _why_not(beside: Against, layer: str, theirs: LayerSaturation | None) -> str:
    if beside.measured is None:
        return beside.note
    if theirs is None:
        return f"{beside.run}: {layer} {missing_reason(beside.measured, layer)}"
    return f"{beside.run}: {without_spectrum(theirs)}"


def _series(layer: LayerSaturation, each: str, added: str, other: str = "") -> tuple[Series, ...]:
    """Both curves of a layer; those of another run are dashed and named together."""
    shares = np.asarray(layer.spectrum, float) / float(layer.spectrum.sum())
    directions = np.arange(1.0, len(shares) + 1)
    drawn = np.where(shares >= FAINTEST, shares, np.nan)
    return (
        Series(each, directions, drawn, dashed=bool(other), group=other),
        Series(added, directions, np.cumsum(shares), colour=1, right=True, dashed=bool(other), group=other),
    )


def _count(layer: LayerSaturation, measured: SaturationMeasured) -> str:
    rule = " by delve's rule" if idim_rule(measured) == "delve" else ""
    return (
        f"{count(layer.idim)} of {count(layer.dimension)} directions hold "
        f"{percent(measured.threshold, 1)}{rule}"
    )
