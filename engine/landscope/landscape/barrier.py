"""How high the loss rises on the way between two solutions, by both common definitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Barrier:
    """Heights of a barrier, in units of the loss.

    Attributes:
        frankle: max over the line − mean of the two ends (Frankle et al. 2020, "Linear mode connectivity and
            the lottery ticket hypothesis", error barrier height).
        entezari: largest height above the chord, max_t [L(t) − ((1−t) L(0) + t L(1))] (Entezari et al. 2022,
            "The role of permutation invariance in linear mode connectivity", definition 2.1).
        frankle_at, entezari_at: coordinates of the two maxima.
    """

    frankle: float
    entezari: float
    frankle_at: float
    entezari_at: float


def barrier(coordinates: NDArray[np.float64], losses: NDArray[np.float64]) -> Barrier:
    """Barriers of a line from its losses (N,) at coordinates (N,); only 0 ≤ t ≤ 1 counts.

    A loss that is NaN counts as infinite: no height can be promised there.

    Raises:
        ValueError: the coordinates do not hold both 0 and 1.
    """
    between = (coordinates >= 0) & (coordinates <= 1)
    places, heights = coordinates[between], losses[between]
    order = np.argsort(places)
    places, heights = places[order], np.where(np.isnan(heights[order]), np.inf, heights[order])
    if not len(places) or places[0] != 0 or places[-1] != 1:
        raise ValueError("a barrier needs the losses at both ends, t = 0 and t = 1")
    if not np.isfinite(heights[[0, -1]]).all():
        return Barrier(float("nan"), float("nan"), float("nan"), float("nan"))
    above_mean = heights - (heights[0] + heights[-1]) / 2
    above_chord = heights - ((1 - places) * heights[0] + places * heights[-1])
    top, bulge = int(above_mean.argmax()), int(above_chord.argmax())
    return Barrier(
        float(above_mean[top]), float(above_chord[bulge]), float(places[top]), float(places[bulge])
    )
