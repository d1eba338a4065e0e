"""How far a finer grid is from what the coarser one promised: the error that is left, roughly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def refinement_matrix(nodes: int) -> Doubles:
    """(2·nodes − 1, nodes) values of the natural cubic spline at the nodes and halfway between them.

    For equal steps of one the second derivatives m solve m_{i−1} + 4 m_i + m_{i+1} =
    6 (y_{i−1} − 2 y_i + y_{i+1}) with m = 0 at both ends, and the middle of an interval is
    (y_i + y_{i+1}) / 2 − (m_i + m_{i+1}) / 16 (de Boor, A Practical Guide to Splines, chapter IV).
    """
    second = np.zeros((nodes, nodes))
    inner = nodes - 2
    if inner > 0:
        system = 4 * np.eye(inner) + np.eye(inner, k=1) + np.eye(inner, k=-1)
        bends = np.eye(inner, nodes) - 2 * np.eye(inner, nodes, k=1) + np.eye(inner, nodes, k=2)
        second[1:-1] = np.linalg.solve(system, 6 * bends)
    values = np.eye(nodes)
    out = np.empty((2 * nodes - 1, nodes))
    out[::2] = values
    out[1::2] = (values[:-1] + values[1:]) / 2 - (second[:-1] + second[1:]) / 16
    return out


def largest_surplus(fine: Doubles) -> float:
    """Largest |value − bicubic prediction from every second node|, as a share of the range.

    Args:
        fine: (n, n) values of a level, n odd.

    Returns:
        The share in [0, …); 0 for a flat surface; NaN where too few values are finite to say. Nodes beside
        a coarse value that is not finite are left out.
    """
    coarse = fine[::2, ::2]
    usable = np.isfinite(coarse)
    if not usable.any():
        return float("nan")
    filled = np.where(usable, coarse, coarse[usable].max())
    matrix = refinement_matrix(len(coarse))
    predicted = matrix @ filled @ matrix.T
    trusted = _surrounded(usable) & np.isfinite(fine)
    if not trusted[1::2].any() and not trusted[:, 1::2].any():
        return float("nan")
    found = fine[np.isfinite(fine)]
    extent = float(found.max() - found.min())
    worst = float(np.abs(fine - predicted, where=trusted, out=np.zeros_like(fine)).max())
    return worst / extent if extent > 0 else 0.0


def _surrounded(usable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(2n − 1, 2n − 1): whether all coarse nodes beside a fine node are usable."""
    rows = np.repeat(usable, 2, axis=0)[:-1]
    rows[1::2] &= usable[1:]
    both = np.repeat(rows, 2, axis=1)[:, :-1]
    both[:, 1::2] &= rows[:, 1:]
    return both
