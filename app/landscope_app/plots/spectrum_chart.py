"""The spectrum of one layer: every eigenvalue's share of the variance, and the shares added up."""

from __future__ import annotations

import numpy as np

from landscope.contract.deltas import LayerSaturation, SaturationMeasured
from landscope.session.model import Session
from landscope.session.threshold import at_threshold, idim_rule
from landscope_app.plots.charts import CurveChart, Series
from landscope_app.plots.numbers import count, percent
from landscope_app.plots.saturation_chart import saturation_of

FAINTEST = 1e-12
"""Share of the variance below which an eigenvalue is rounding and has no place on a logarithmic axis."""


def spectrum_chart(
    session: Session,
    run: str,
    checkpoint: str,
    layer: str,
    mode: str = "train",
    threshold: float | None = None,
) -> CurveChart:
    """Shares of the variance over the number of directions; the level is the threshold, the mark is idim.

    Without anything to draw the chart has no series and says why in ``empty``.
    """
    saturation = saturation_of(session, run, mode)
    measured = saturation.measured.get(checkpoint) if saturation is not None else None
    if measured is None:
        return _nothing(layer, f"“{checkpoint}” has not been measured yet.")
    measured = at_threshold(measured, threshold)
    found = next((one for one in measured.layers if one.layer == layer), None)
    if found is None:
        reasons = {missing.layer: missing.reason for missing in measured.not_observed}
        return _nothing(layer, f"{layer} was not observed: {reasons.get(layer, 'it is not in this model')}.")
    if not float(found.spectrum.sum()) > 0.0:
        return _nothing(layer, f"The output of {layer} never varies here, so it has no spectrum.")
    return _chart(f"{run} · spectrum of {layer} at {checkpoint}", found, measured)


def _nothing(layer: str, why: str) -> CurveChart:
    return CurveChart(f"Spectrum of {layer}", "", "", (), empty=why)


def _chart(title: str, layer: LayerSaturation, measured: SaturationMeasured) -> CurveChart:
    shares = np.asarray(layer.spectrum, float) / float(layer.spectrum.sum())
    directions = np.arange(1.0, len(shares) + 1)
    drawn = np.where(shares >= FAINTEST, shares, np.nan)
    return CurveChart(
        title=title,
        x_title="direction",
        y_title="share",
        right_title="sum",
        series=(
            Series("share of variance", directions, drawn),
            Series("sum of shares", directions, np.cumsum(shares), colour=1, right=True),
        ),
        note=_note(layer, measured),
        marks=(float(layer.idim),),
        log_y=True,
        level=measured.threshold,
    )


def _note(layer: LayerSaturation, measured: SaturationMeasured) -> str:
    rule = " by delve's rule" if idim_rule(measured) == "delve" else ""
    return (
        f"{count(layer.idim)} of {count(layer.dimension)} directions hold "
        f"{percent(measured.threshold, 1)}{rule} · n = {count(layer.samples)}"
    )
