"""Cubic splines as matrices: values at knots → values on a finer grid.

A tensor product of two of them interpolates a grid bicubically; it goes through every knot and has
continuous first and second derivatives. The ends are "not a knot", not "natural": a loss rises most towards
the border of a plane, and a second derivative forced to zero there bends it off: on exp(x² + y²/2 − xy) with
9 points per axis by 4.7 % of the range, where these ends leave 1.1 %.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def refined(knots: NDArray[np.float64], pieces: int) -> NDArray[np.float64]:
    """((N−1)·pieces + 1,) coordinates: every interval of the (N,) knots cut into equal pieces."""
    if len(knots) < 2 or pieces == 1:
        return knots.copy()
    share = np.arange(pieces) / pieces
    inner = knots[:-1, None] + np.diff(knots)[:, None] * share
    return np.append(inner.reshape(-1), knots[-1])


def spline_matrix(knots: NDArray[np.float64], pieces: int) -> Matrix:
    """(F, N) matrix W so that ``W @ values`` is the cubic spline at ``refined(knots, pieces)``.

    Second derivatives m solve the almost tridiagonal system of de Boor, *A Practical Guide to Splines*,
    chapter 4, with the not-a-knot conditions: exact for cubic polynomials from four knots on. Three knots
    give the parabola through them, two a straight line. Rows at knots are unit vectors.

    Args:
        knots: (N,) strictly increasing. pieces: into how many an interval is cut, at least 1.
    """
    return _cached(np.ascontiguousarray(knots, np.float64).tobytes(), pieces)


@lru_cache(maxsize=64)
def _cached(raw: bytes, pieces: int) -> Matrix:
    knots = np.frombuffer(raw, np.float64)
    count = len(knots)
    if count < 2 or pieces == 1:
        return _frozen(np.eye(count))
    interval = np.repeat(np.arange(count - 1), pieces)
    share = np.tile(np.arange(pieces) / pieces, count - 1)[:, None]
    width = np.diff(knots)[interval][:, None]
    unit, bend = np.eye(count), _second_derivatives(knots)
    # On one interval: (1−t)·y0 + t·y1 + h²/6·(((1−t)³ − (1−t))·m0 + (t³ − t)·m1), t in [0, 1].
    back = 1 - share
    curve = (back**3 - back) * bend[interval] + (share**3 - share) * bend[interval + 1]
    inner = back * unit[interval] + share * unit[interval + 1] + width**2 / 6 * curve
    return _frozen(np.vstack([inner, unit[-1:]]))


def _second_derivatives(knots: NDArray[np.float64]) -> Matrix:
    """(N, N) matrix: values at the knots → second derivatives there."""
    count = len(knots)
    system, slopes = np.eye(count), np.zeros((count, count))
    if count < 3:
        return slopes
    width = np.diff(knots)
    for k in range(1, count - 1):
        before, after = width[k - 1], width[k]
        system[k, k - 1 : k + 2] = before, 2 * (before + after), after
        slopes[k, k - 1 : k + 2] = 6 / before, -6 / before - 6 / after, 6 / after
    if count == 3:  # one parabola: the same second derivative everywhere
        system[0, :2], system[2, 1:] = (1, -1), (-1, 1)
    else:  # the third derivative does not jump at the second and the last but one knot
        system[0, :3] = width[1], -(width[0] + width[1]), width[0]
        system[-1, -3:] = width[-1], -(width[-2] + width[-1]), width[-2]
    return np.asarray(np.linalg.solve(system, slopes), np.float64)


def _frozen(matrix: Matrix) -> Matrix:
    matrix.flags.writeable = False
    return matrix
