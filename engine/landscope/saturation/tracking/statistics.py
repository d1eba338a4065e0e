"""What a tracker reports of a layer: the original's statistics under its names, and a few more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import OptionError
from landscope.contract.intrinsic import IdimRule, intrinsic_dimension
from landscope.saturation.covariance import STORED_ROWS, Covariance
from landscope.saturation.series_names import SERIES
from landscope.saturation.statistics import effective_rank, participation_ratio

Value = float | int | NDArray[np.float64]


def checked_stats(stats: str | Sequence[str]) -> tuple[str, ...]:
    """The statistics asked for, each once; ``lsat_train`` and ``lsat_eval`` mean ``lsat``, for both modes.

    Raises:
        OptionError: one of them is unknown.
    """
    several = isinstance(stats, Iterable) and not isinstance(stats, str)
    asked: list[Any] = [
        _base(stat) if isinstance(stat, str) else stat for stat in (stats if several else [stats])
    ]
    for stat in asked:
        if not isinstance(stat, str) or stat not in SERIES:
            raise OptionError(f"stats holds {stat!r}, which is none of {', '.join(SERIES)}.")
    return tuple(dict.fromkeys(asked))


def _base(stat: str) -> str:
    return stat if stat in SERIES else stat.removesuffix("_train").removesuffix("_eval")


def statistics_of(
    covariance: Covariance,
    spectrum: NDArray[np.float64],
    stats: Sequence[str],
    threshold: float,
    rule: IdimRule = "smallest_k",
) -> dict[str, Value]:
    """The values of ``stats`` from the covariance and its spectrum; NaN where no row was finite.

    ``embed`` is left out, and ``cov`` for more than 4,096 features, whose matrix would not fit.
    """
    if not covariance.samples:
        return {stat: float("nan") for stat in stats if stat not in ("cov", "embed", "spectrum")}
    scalars: dict[str, Callable[[], Value]] = {
        "idim": lambda: intrinsic_dimension(spectrum, threshold, rule),
        "lsat": lambda: intrinsic_dimension(spectrum, threshold, rule) / covariance.dimension,
        "trc": lambda: float(spectrum.sum()),
        "dtrc": lambda: float(spectrum.sum()),
        "logdet": lambda: _log_determinant(spectrum, covariance.dimension),
        "det": lambda: float(np.exp(np.float64(_log_determinant(spectrum, covariance.dimension)))),
        "participation_ratio": lambda: participation_ratio(spectrum),
        "effective_rank": lambda: effective_rank(spectrum),
        "spectrum": lambda: spectrum,
    }
    if covariance.dimension <= STORED_ROWS:
        scalars["cov"] = covariance.matrix
    with np.errstate(over="ignore", under="ignore"):
        return {stat: scalars[stat]() for stat in stats if stat in scalars}


def _log_determinant(spectrum: NDArray[np.float64], dimension: int) -> float:
    if len(spectrum) < dimension or not spectrum.min() > 0.0:
        return float("-inf")
    return float(np.log(spectrum).sum())
