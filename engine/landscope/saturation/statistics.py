"""What a spectrum says about a layer. Eigenvalues λ1 ≥ … ≥ λk of a D × D covariance, D − k of them zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import LayerSaturation
from landscope.contract.intrinsic import IdimRule, intrinsic_dimension
from landscope.saturation.covariance import Covariance
from landscope.saturation.embedding import DIRECTIONS, KeptRows

ENOUGH_SAMPLES = 10
"""Rows per feature below which a value is flagged ``too_few_samples``."""


def participation_ratio(spectrum: NDArray[np.float64]) -> float:
    """(Σλ)² / Σλ², between 1 and D; 0 if Σλ = 0."""
    largest = spectrum.max(initial=0.0)
    if not largest > 0.0:
        return 0.0
    shares = spectrum / largest  # neither square can overflow
    return float(shares.sum() ** 2 / np.square(shares).sum())


def effective_rank(spectrum: NDArray[np.float64]) -> float:
    """exp of the entropy of λ / Σλ (Roy and Vetterli 2007), between 1 and D; 0 if Σλ = 0."""
    total = spectrum.sum()
    if not total > 0.0:
        return 0.0
    shares = spectrum[spectrum > 0.0] / total
    return float(np.exp(-(shares * np.log(shares)).sum()))


def layer_saturation(
    name: str,
    kind: str,
    covariance: Covariance,
    threshold: float,
    rule: IdimRule = "smallest_k",
    rows: KeptRows | None = None,
) -> LayerSaturation:
    """All statistics of one layer from its covariance; lsat and trace are NaN if no row was finite.

    ``rows``: those to place in the first two directions, None = none.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    spectrum, directions = covariance.decomposed(0 if rows is None else DIRECTIONS)
    idim = intrinsic_dimension(spectrum, threshold, rule)
    known = covariance.samples > 0
    return LayerSaturation(
        layer=name,
        kind=kind,
        dimension=covariance.dimension,
        samples=covariance.samples,
        idim=idim,
        lsat=idim / covariance.dimension if known else float("nan"),
        trace=float(spectrum.sum()) if known else float("nan"),
        participation_ratio=participation_ratio(spectrum) if known else float("nan"),
        effective_rank=effective_rank(spectrum) if known else float("nan"),
        spectrum=spectrum,
        nonfinite=covariance.nonfinite,
        flags=flags_of(covariance, spectrum),
        **(rows.along(directions) if rows is not None and known else {}),
    )


def flags_of(covariance: Covariance, spectrum: NDArray[np.float64]) -> tuple[str, ...]:
    """What keeps the values of a layer from being trusted, of ``dead too_few_samples nonfinite sampled``."""
    told = {
        "dead": covariance.samples > 1 and not spectrum.sum() > 0.0,  # one row never varies
        "too_few_samples": covariance.samples < ENOUGH_SAMPLES * covariance.dimension,
        "nonfinite": covariance.nonfinite > 0,
        "sampled": covariance.sampled,
    }
    return tuple(flag for flag, holds in told.items() if holds)
