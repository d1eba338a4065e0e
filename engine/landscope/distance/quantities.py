"""What a person reads about a path of weights, computed from the sums of ``norms``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]

QUANTITIES = (
    "distance",
    "relative",
    "update",
    "path_length",
    "straightness",
    "cosine",
    "angle",
    "update_ratio",
    "norm",
    "filter_relative",
)


class PathQuantities:
    """All quantities along one run, one checkpoint after the other, for N rows at once.

    With θ0 the reference (the earliest checkpoint), θt the current one and ut = θt − θt₋₁:

    * ``distance`` ‖θt − θ0‖, ``norm`` ‖θt‖, ``update`` ‖ut‖
    * ``relative`` ‖θt − θ0‖ / ‖θ0‖
    * ``path_length`` Σ ‖ui‖, i ≤ t: a lower bound of the way really taken when checkpoints are sparse
    * ``straightness`` ‖θt − θ0‖ / path length
    * ``cosine`` cos(θt, θ0); 1 − cosine is the layer rotation of Carbonnelle and De Vleeschouwer (2019)
    * ``angle`` between ut and ut₋₁, in degrees
    * ``update_ratio`` ‖ut‖ / ‖θt₋₁‖
    * ``filter_relative`` mean over units f (rows of the first dimension) of ‖θt,f − θ0,f‖ / ‖θ0,f‖, units
      with ‖θ0,f‖ = 0 left out

    NaN = undefined (a zero in a denominator, no earlier checkpoint) or weights that are not finite.
    """

    def __init__(self) -> None:
        self._reference_norm: Rows | None = None
        self._previous_norm: Rows | None = None
        self._previous_update: Rows | None = None
        self._path: Rows | None = None

    def follow(self, sums: NDArray[np.float64]) -> dict[str, Rows]:
        """The quantities of the next checkpoint, each (N,); the first call must be the reference itself.

        Args:
            sums: (7, N) in the order of ``norms.Sums``.
        """
        squared_norm, dot, squared_distance, squared_update, turn, unit_ratio, unit_count = sums
        norm, distance, update = map(np.sqrt, (squared_norm, squared_distance, squared_update))
        first = self._reference_norm is None
        if self._reference_norm is None or self._path is None:
            self._reference_norm, self._path = norm, np.where(np.isnan(norm), np.nan, 0.0)
        else:
            self._path = self._path + update
        found = {
            "distance": distance,
            "relative": _ratio(distance, self._reference_norm),
            "update": update,
            "path_length": self._path,
            "straightness": _ratio(distance, self._path),
            "cosine": np.clip(_ratio(dot, norm * self._reference_norm), -1.0, 1.0),
            "angle": self._angle(turn, update),
            "update_ratio": np.full_like(norm, np.nan) if first else _ratio(update, self._previous_norm),
            "norm": norm,
            "filter_relative": _ratio(unit_ratio, unit_count),
        }
        self._previous_norm, self._previous_update = norm, update
        return found

    def _angle(self, turn: Rows, update: Rows) -> Rows:
        if self._previous_update is None:
            return np.full_like(update, np.nan)
        cosine = np.clip(_ratio(turn, update * self._previous_update), -1.0, 1.0)
        return np.degrees(np.arccos(cosine))


def _ratio(above: Rows, below: Rows | None) -> Rows:
    """above / below where below > 0, else NaN."""
    assert below is not None
    out = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=out, where=below > 0)
    return out
