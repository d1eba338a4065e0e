"""Another share of the variance for what was measured: intrinsic dimensions anew from the stored spectra."""

from __future__ import annotations

import math

from msgspec.structs import replace

from landscope.contract.deltas import LayerSaturation, SaturationMeasured
from landscope.contract.intrinsic import IdimRule, intrinsic_dimension


def at_threshold(measured: SaturationMeasured, threshold: float | None) -> SaturationMeasured:
    """``measured`` as it would be with another threshold, by the rule it was measured with.

    Args:
        measured: all layers at one checkpoint.
        threshold: share of the variance in (0, 1]; None = as measured.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    if threshold is None or threshold == measured.threshold:
        return measured
    rule = idim_rule(measured)
    layers = tuple(_layer_at(layer, threshold, rule) for layer in measured.layers)
    return replace(measured, threshold=threshold, layers=layers)


def idim_rule(measured: SaturationMeasured) -> IdimRule:
    """The rule that ``idim`` was counted by."""
    return "delve" if measured.settings.get("idim_rule") == "delve" else "smallest_k"


def _layer_at(layer: LayerSaturation, threshold: float, rule: IdimRule) -> LayerSaturation:
    if not len(layer.spectrum) or not math.isfinite(layer.lsat):
        return layer
    idim = intrinsic_dimension(layer.spectrum, threshold, rule)
    return replace(layer, idim=idim, lsat=idim / layer.dimension)
