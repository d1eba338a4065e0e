"""How many directions hold a share of the variance: the rule that engine and window apply to a spectrum."""

from __future__ import annotations

from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import OptionError

IdimRule = Literal["smallest_k", "delve"]


def check_threshold(threshold: float) -> None:
    """Refuse a share of the variance that is no share.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    if not is_share(threshold):
        raise OptionError(f"sat_threshold is {threshold!r}; it must be above 0 and at most 1, such as 0.99.")


def is_share(given: object) -> bool:
    """Whether it is a number above 0 and at most 1."""
    return isinstance(given, Real) and 0.0 < float(given) <= 1.0


def intrinsic_dimension(
    spectrum: NDArray[np.floating], threshold: float, rule: IdimRule = "smallest_k"
) -> int:
    """Smallest k with (λ1 + … + λk) / Σλ ≥ threshold; 0 only if Σλ = 0.

    ``rule="delve"`` counts the eigenvalues whose cumulative share stays below the threshold, one less, as
    delve 0.1.50 does.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    check_threshold(threshold)
    total = spectrum.sum()
    if not total > 0.0:
        return 0
    below = int(np.count_nonzero(np.cumsum(spectrum) / total < threshold))
    below = min(below, len(spectrum) - 1)  # rounding can leave the last share just under 1
    return below if rule == "delve" else below + 1
