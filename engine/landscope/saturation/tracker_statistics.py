"""What a tracker reports of a layer: the original's statistics under its names, and a few more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from landscope.contract.errors import OptionError
from landscope.contract.intrinsic import IdimRule, intrinsic_dimension
from landscope.saturation.covariance import STORED_ROWS, Covariance
from landscope.saturation.precision import wide
from landscope.saturation.series_names import SERIES
from landscope.saturation.statistics import effective_rank, participation_ratio
from landscope.saturation.stored_rows import StoredRows
from landscope.saturation.tracker_labels import without_labels

Value = float | int | NDArray[np.float64]


def checked_stats(stats: str | Sequence[str]) -> tuple[str, ...]:
    """The statistics asked for, each once; ``lsat_train`` and ``lsat_eval`` mean ``lsat``, for both modes.

    Raises:
        OptionError: one of them is unknown.
    """
    asked = [_base(stat) for stat in ([stats] if isinstance(stats, str) else stats)]
    for stat in asked:
        if stat not in SERIES:
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
    rows: StoredRows | None = None,
) -> dict[str, Value]:
    """The values of ``stats`` from the covariance and its spectrum; NaN where no row was finite.

    ``rows``: those to embed.
    ``cov`` is left out for more than 4,096 features, whose matrix would not fit, and ``embed`` without rows.
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
    if rows is not None and rows.kept:
        scalars["embed"] = lambda: embedding(covariance, rows)
    with np.errstate(over="ignore", under="ignore"):
        return {stat: scalars[stat]() for stat in stats if stat in scalars}


def embedding(covariance: Covariance, rows: StoredRows) -> NDArray[np.float64]:
    """(m, 2) the rows about their mean along the first two eigenvectors; the second is 0 for one feature.

    Of each eigenvector the sign is taken that makes its largest entry positive.
    """
    held = wide(without_labels(rows.rows())[0]).cpu()
    centred = (held - held.mean(0)).numpy()
    if covariance.dimension <= STORED_ROWS:
        axes = np.linalg.eigh(covariance.matrix())[1][:, ::-1][:, :2]
    else:
        axes = torch.linalg.svd(torch.from_numpy(centred), full_matrices=False).Vh[:2].numpy().T
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), range(axes.shape[1])])
    placed = np.zeros((len(centred), 2))
    placed[:, : axes.shape[1]] = centred @ axes
    return placed


def _log_determinant(spectrum: NDArray[np.float64], dimension: int) -> float:
    if len(spectrum) < dimension or not spectrum.min() > 0.0:
        return float("-inf")
    return float(np.log(spectrum).sum())
