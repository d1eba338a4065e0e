"""The surface that is drawn: what lies between the samples of a plane, interpolated and marked as such.

Nested grids are gone through from coarse to fine. Each starts as the bicubic spline of the one before and
takes over what was sampled on it, so that a half-sampled level is drawn at once and goes through every
sample. Interpolation happens in the displayed transform and before any clipping: a clipped value is a kink,
and a spline through kinks overshoots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from landscope.session.model import EMPTY, FAILED, INTERPOLATED, SAMPLED, Plane
from landscope.session.spline import refined, spline_matrix

Transform = Literal["linear", "log"]
_POINTS = 129
_COARSEST = 5
Grid = NDArray[np.float64]


@dataclass(frozen=True)
class DenseSurface:
    """A plane's surface, ready to be drawn.

    Attributes:
        alpha, beta: (A,), (B,) coordinates; they contain those of the level that was interpolated.
        z: (A, B) in the displayed transform (``log``: base 10); NaN = nothing is known there.
        state: (A, B) SAMPLED (also where the sample is NaN or inf), INTERPOLATED, FAILED or EMPTY.
        transform: of ``z``.
        level: points per axis, along alpha, of the level that was interpolated.
    """

    alpha: Grid
    beta: Grid
    z: Grid
    state: NDArray[np.uint8]
    transform: Transform
    level: int

    @property
    def values(self) -> Grid:
        """(A, B) the metric itself, the transform undone."""
        if self.transform == "linear":
            return self.z
        with np.errstate(over="ignore"):
            return np.power(10.0, self.z)


def dense_surface(
    plane: Plane, metric: str = "loss", transform: Transform = "linear", points: int | None = None
) -> DenseSurface:
    """Interpolate a plane from whatever has been sampled of it.

    The finest level with any sample is cut evenly, so every sample lies on the result and keeps its value.
    Beside a NaN, an infinite or a missing sample the cells that touch it stay empty, and no others.

    Args:
        plane: its metric is read, never changed.
        metric: name of its values; one that the plane lacks gives an empty surface.
        transform: ``log`` is base 10; values that are not positive are then holes.
        points: at least so many per axis (129 if None), more where the cut does not fit evenly.
    """
    alpha, beta = (np.asarray(axis, np.float64) for axis in (plane.opened.alpha, plane.opened.beta))
    raw = plane.values.get(metric, np.full(plane.state.shape, np.nan))
    known = (plane.state == SAMPLED) if metric == "loss" else ~np.isnan(raw)
    values = _transformed(raw, transform)
    levels = _levels(plane.state.shape, known)
    grid = _through_levels(values, known, alpha, beta, levels)
    step = levels[-1]
    axes = (alpha[::step], beta[::step])
    pieces = _pieces(axes, points or _POINTS)
    z = _spread(grid, axes, pieces)
    fine = tuple(refined(axis, count) for axis, count in zip(axes, pieces, strict=True))
    state = _state(plane.state, known, step, z, pieces)
    return DenseSurface(fine[0], fine[1], z, state, transform, len(axes[0]))


def _transformed(values: Grid, transform: Transform) -> Grid:
    if transform == "linear":
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(np.where(values > 0, values, np.nan))


def _levels(shape: tuple[int, ...], known: NDArray[np.bool_]) -> list[int]:
    """Steps through the finest grid, coarse to fine: from 5 points per axis to the finest with samples.

    A level counts when it has a sample that the level before does not have.
    """
    steps = [1]
    while all((n - 1) % (2 * steps[-1]) == 0 and (n - 1) // (2 * steps[-1]) >= _COARSEST - 1 for n in shape):
        steps.append(2 * steps[-1])
    steps.reverse()
    counts = [int(known[::step, ::step].sum()) for step in steps]
    finest = max((k for k in range(len(steps)) if counts[k] > (counts[k - 1] if k else 0)), default=0)
    return steps[: finest + 1]


def _through_levels(
    values: Grid, known: NDArray[np.bool_], alpha: Grid, beta: Grid, levels: list[int]
) -> Grid:
    """The grid of the last level: sampled where it is, else the spline of the level before."""
    grid = np.full(values[:: levels[0], :: levels[0]].shape, np.nan)
    before = levels[0]
    for step in levels:
        if step != before:
            grid = _spread(grid, (alpha[::before], beta[::before]), (before // step, before // step))
        here = known[::step, ::step]
        grid[here] = values[::step, ::step][here]
        before = step
    return grid


def _spread(grid: Grid, axes: tuple[Grid, ...], pieces: tuple[int, ...]) -> Grid:
    """Bicubic interpolation with holes: a cell with a corner that is not finite stays empty."""
    if max(pieces) == 1:
        return grid.copy()
    finite = np.isfinite(grid)
    first, second = (spline_matrix(axis, count) for axis, count in zip(axes, pieces, strict=True))
    whole = bool(finite.all())
    filled = grid if whole else _bridged(grid, finite)
    # einsum, not @: BLAS would start threads, and waiting for one while an engine uses the cores costs 70 ms
    dense: Grid = np.einsum("fj,gj->fg", np.einsum("fi,ij->fj", first, filled), second)
    if not whole:
        dense[_near_holes(~finite, pieces)] = np.nan
    dense[:: pieces[0], :: pieces[1]] = grid
    return dense


def _bridged(grid: Grid, finite: NDArray[np.bool_]) -> Grid:
    """Holes filled, only for the spline, by straight lines along rows and columns: no jump, no overshoot."""
    if not finite.any():
        return np.zeros_like(grid)
    along = np.stack([_bridged_rows(grid, finite), _bridged_rows(grid.T, finite.T).T])
    count = np.isfinite(along).sum(axis=0)
    total = np.where(np.isfinite(along), along, 0.0).sum(axis=0)
    lonely = float(np.median(grid[finite]))  # neither row nor column knows anything
    return np.where(finite, grid, np.where(count > 0, total / np.maximum(count, 1), lonely))


def _bridged_rows(grid: Grid, finite: NDArray[np.bool_]) -> Grid:
    out = np.full(grid.shape, np.nan)
    places = np.arange(grid.shape[1])
    for row in np.flatnonzero(finite.any(axis=1)):
        there = finite[row]
        out[row] = np.interp(places, places[there], grid[row, there])
    return out


def _near_holes(holes: NDArray[np.bool_], pieces: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which points of the fine grid lie in or on a cell whose interpolation would use a hole."""
    wide = _near_along(holes, pieces[0])
    return _near_along(wide.T, pieces[1]).T


def _near_along(holes: NDArray[np.bool_], pieces: int) -> NDArray[np.bool_]:
    """Along the first axis: a knot is near itself, a point between two knots near both."""
    if len(holes) < 2:
        return holes
    inner = np.repeat(holes[:-1] | holes[1:], pieces, axis=0)
    inner[::pieces] = holes[:-1]
    return np.concatenate([inner, holes[-1:]])


def _pieces(axes: tuple[Grid, ...], points: int) -> tuple[int, ...]:
    return tuple(max(1, -(-(points - 1) // max(1, len(axis) - 1))) for axis in axes)


def _state(
    state: NDArray[np.uint8], known: NDArray[np.bool_], step: int, z: Grid, pieces: tuple[int, ...]
) -> NDArray[np.uint8]:
    out = np.where(np.isfinite(z), INTERPOLATED, EMPTY).astype(np.uint8)
    corners = out[:: pieces[0], :: pieces[1]]
    corners[known[::step, ::step]] = SAMPLED
    corners[state[::step, ::step] == FAILED] = FAILED
    return out
