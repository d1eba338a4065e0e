"""Another share of the variance for what was measured: intrinsic dimensions anew from the stored spectra."""

from __future__ import annotations

import math

from msgspec.structs import replace

from landscope.contract.deltas import LayerSaturation, SaturationMeasured
from landscope.contract.intrinsic import IdimRule, intrinsic_dimension


def at_threshold(
    measured: SaturationMeasured, threshold: float | None, rule: IdimRule | None = None
) -> SaturationMeasured:
    """``measured`` as it would be with another threshold or by another rule.

    Args:
        measured: all layers at one checkpoint.
        threshold: share of the variance in (0, 1]; None = as measured.
        rule: what ``idim`` counts; None = as measured.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    was = idim_rule(measured)
    share, rule = measured.threshold if threshold is None else threshold, rule or was
    if (share, rule) == (measured.threshold, was):
        return measured
    layers = tuple(_layer_at(layer, share, rule) for layer in measured.layers)
    return replace(
        measured, threshold=share, layers=layers, settings={**measured.settings, "idim_rule": rule}
    )


def idim_rule(measured: SaturationMeasured) -> IdimRule:
    """The rule that ``idim`` was counted by."""
    return "delve" if measured.settings.get("idim_rule") == "delve" else "smallest_k"


def _layer_at(layer: LayerSaturation, threshold: float, rule: IdimRule) -> LayerSaturation:
    if not len(layer.spectrum) or not math.isfinite(layer.lsat):
        return layer
    idim = intrinsic_dimension(layer.spectrum, threshold, rule)
    return replace(layer, idim=idim, lsat=idim / layer.dimension)
