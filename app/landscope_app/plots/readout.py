"""The value under the pointer as a sentence: where, how much, how sure, sampled or interpolated."""

from __future__ import annotations

import numpy as np

from landscope.session.dense import DenseSurface
from landscope.session.model import SAMPLED, Plane
from landscope_app.plots.landscape_chart import Display
from landscope_app.plots.numbers import short


def readout(
    plane: Plane, surface: DenseSurface, display: Display, log: bool, alpha: float, beta: float
) -> str:
    """The nearest drawn point of a plane; at a sampled one the stored value itself, with its error."""
    i = int(np.argmin(np.abs(surface.alpha - alpha)))
    j = int(np.argmin(np.abs(surface.beta - beta)))
    if surface.state[i, j] == SAMPLED:
        at = (
            int(np.argmin(np.abs(plane.opened.alpha - surface.alpha[i]))),
            int(np.argmin(np.abs(plane.opened.beta - surface.beta[j]))),
        )
        value, how = _stored(plane, display.metric, at), "sampled"
    else:
        value, how = short(_undone(float(surface.z[i, j]), log), 4), "interpolated"
    return (
        f"α {short(float(surface.alpha[i]))}   β {short(float(surface.beta[j]))}   "
        f"{display.metric} {value}   {how}"
    )


def _stored(plane: Plane, metric: str, at: tuple[int, int]) -> str:
    value = float(plane.values[metric][at])
    if np.isnan(value):
        return "NaN"
    error = plane.values.get(f"{metric}_se")
    known = error is not None and np.isfinite(error[at])
    return (
        f"{short(value, 4)} ± {short(float(error[at]), 2)}"
        if known and error is not None
        else short(value, 4)
    )


def _undone(displayed: float, log: bool) -> float:
    return float(10.0**displayed) if log else displayed
