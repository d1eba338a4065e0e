"""Geometry of a height field on the processor: triangles, heights between samples, rays that hit it.

Every cell is split along the diagonal from (i+1, j) to (i, j+1); drawing and reading use the same triangles.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.floating]

STEPS_PER_CELL, FEWEST_STEPS, MOST_STEPS = 3, 24, 2048  # samples along a ray
FINER = 33  # samples between two of them, twice over


def triangles(z: Floats, stride: int = 1) -> npt.NDArray[np.uint32]:
    """Return the vertex numbers (K, 3) of all triangles that touch no hole; vertex (i, j) is i·ny + j.

    Args:
        z: (nx, ny) heights; a value that is not finite is a hole.
        stride: take only every so many-th row and column (and the last ones).
    """
    corners = _all_triangles(z.shape[0], z.shape[1], stride)
    finite = np.isfinite(z)
    if finite.all():
        return corners
    finite = finite[np.ix_(_every(z.shape[0], stride), _every(z.shape[1], stride))]
    middle = finite[1:, :-1] & finite[:-1, 1:]  # both ends of each cell's diagonal
    whole = np.stack([finite[:-1, :-1] & middle, finite[1:, 1:] & middle], axis=-1)
    return corners[whole.ravel()]


@lru_cache(maxsize=8)
def _all_triangles(nx: int, ny: int, stride: int) -> npt.NDArray[np.uint32]:
    """Return the vertex numbers of a grid without holes; kept, as only the holes change while it fills."""
    rows, columns = _every(nx, stride), _every(ny, stride)
    vertex = (rows[:, None] * ny + columns[None, :]).astype(np.uint32)
    a, b, c, d = vertex[:-1, :-1], vertex[1:, :-1], vertex[:-1, 1:], vertex[1:, 1:]
    corners = np.stack([a, b, c, c, b, d], axis=-1).reshape(-1, 3)
    corners.setflags(write=False)
    return corners


def height_at(x: Floats, y: Floats, z: Floats, u: Floats, v: Floats) -> Doubles:
    """Return the surface's height over the points (u, v), NaN outside and in holes.

    Args:
        x: (nx,) increasing coordinates; y: (ny,) likewise; z: (nx, ny) heights.
        u: any shape, first coordinates; v: the same shape, second coordinates.
    """
    i, s = _cell(x, np.asarray(u, float))
    j, t = _cell(y, np.asarray(v, float))
    z00, z10, z01, z11 = z[i, j], z[i + 1, j], z[i, j + 1], z[i + 1, j + 1]
    lower = z00 + s * (z10 - z00) + t * (z01 - z00)
    upper = z11 + (1 - s) * (z01 - z11) + (1 - t) * (z10 - z11)
    inside = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    with np.errstate(invalid="ignore"):
        return np.where(inside, np.where(s + t <= 1, lower, upper), np.nan).astype(float)


def first_hit(x: Floats, y: Floats, z: Floats, start: Doubles, end: Doubles) -> Doubles | None:
    """Return the first point (3,) where the straight way from `start` to `end` meets the surface, or None.

    Args:
        x: (nx,) increasing; y: (ny,) increasing; z: (nx, ny) heights with holes as non-finite values.
        start: (3,) in data coordinates; end: likewise.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        z = np.where(np.isfinite(z), z, np.nan)
        span = _inside(x, y, z, start, end - start)
        if span is None:
            return None
        cells = np.abs(end - start)[:2] * (span[1] - span[0]) / [np.ptp(x), np.ptp(y)] @ [x.size, y.size]
        t = np.linspace(*span, int(np.clip(STEPS_PER_CELL * cells, FEWEST_STEPS, MOST_STEPS)))
        above = _above(x, y, z, start, end - start, t)
        crossing = np.flatnonzero(above[:-1] * above[1:] <= 0)
        if crossing.size == 0:
            return None
        k = int(crossing[0])
        hit = _refined(x, y, z, start, end - start, float(t[k]), float(t[k + 1]))
    return np.asarray(start + hit * (end - start))


def _every(count: int, stride: int) -> npt.NDArray[np.int64]:
    return np.unique(np.append(np.arange(0, count, stride), count - 1))


def _cell(axis: Floats, at: Doubles) -> tuple[npt.NDArray[np.intp], Doubles]:
    """Return the cell's index and the position in it (0 … 1 inside), for each coordinate."""
    index = np.clip(np.searchsorted(axis, at, side="right") - 1, 0, axis.size - 2)
    left, right = axis[index].astype(float), axis[index + 1].astype(float)
    return index, (at - left) / (right - left)


def _inside(
    x: Floats, y: Floats, z: Floats, origin: Doubles, direction: Doubles
) -> tuple[float, float] | None:
    """Return the part of the way (0 … 1) within the field's bounding box (slab test), or None."""
    if not np.isfinite(z).any():
        return None
    bottom, top = float(np.nanmin(z)), float(np.nanmax(z))
    pad = 1e-6 * (top - bottom) or 1e-6 * max(abs(top), 1.0)
    slabs = ((float(x[0]), float(x[-1])), (float(y[0]), float(y[-1])), (bottom - pad, top + pad))
    start, end = 0.0, 1.0
    for axis, (low, high) in enumerate(slabs):
        if direction[axis] == 0:
            if not low <= origin[axis] <= high:
                return None
            continue
        a, b = sorted(((low - origin[axis]) / direction[axis], (high - origin[axis]) / direction[axis]))
        start, end = max(start, float(a)), min(end, float(b))
    return (start, end) if end > start else None


def _above(x: Floats, y: Floats, z: Floats, origin: Doubles, direction: Doubles, t: Doubles) -> Doubles:
    points = origin + np.asarray(t)[..., None] * direction
    return np.asarray(points[..., 2] - height_at(x, y, z, points[..., 0], points[..., 1]))


def _refined(
    x: Floats, y: Floats, z: Floats, origin: Doubles, direction: Doubles, low: float, high: float
) -> float:
    """Narrow a crossing to a thousandth, then end on the straight line: the surface is made of planes."""
    for _ in range(2):
        t = np.linspace(low, high, FINER)
        above = _above(x, y, z, origin, direction, t)
        crossing = np.flatnonzero(above[:-1] * above[1:] <= 0)
        k = int(crossing[0]) if crossing.size else 0
        low, high = float(t[k]), float(t[k + 1])
        before, after = float(above[k]), float(above[k + 1])
    share = before / (before - after) if before != after else 0.0
    return low + (high - low) * share
