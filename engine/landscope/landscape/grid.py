"""Nested grids: which nodes a plane has, at which coordinates, and in which order they are measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import OptionError
from landscope.contract.limits import GRIDS

LEVELS = GRIDS
"""Points per axis of the nested grids: each contains every node of the one before."""

MARGIN = 0.15
"""Room around a path on every side, as a share of its extent along the axis."""

Node = tuple[int, int]
Doubles = NDArray[np.float64]


def levels(points: int) -> tuple[int, ...]:
    """The nested grids up to ``points`` per axis, coarsest first.

    Raises:
        OptionError: ``points`` is not one of LEVELS.
    """
    if points not in LEVELS:
        allowed = ", ".join(map(str, LEVELS))
        raise OptionError(f"A plane has {allowed} points per axis, not {points}.")
    return LEVELS[: LEVELS.index(points) + 1]


def symmetric_axis(reach: float, points: int) -> Doubles:
    """(points,) coordinates from −reach to reach; both ends and zero are exact.

    Raises:
        OptionError: ``reach`` is not a positive number.
    """
    if not (np.isfinite(reach) and reach > 0):
        raise OptionError(f"The reach of a plane must be a positive number, not {reach}.")
    half = (points - 1) // 2
    return np.asarray(reach * ((np.arange(points) - half) / half), np.float64)


def covering_axis(coordinates: Doubles, points: int) -> Doubles:
    """(points,) equal steps that cover ``coordinates`` with a margin; zero is a node of the coarsest grid.

    Of the three inner nodes of the coarsest grid, zero takes the one that needs the smallest step, so the
    axis is asymmetric where the path is.
    """
    low, high = min(0.0, float(coordinates.min())), max(0.0, float(coordinates.max()))
    room = MARGIN * (high - low)
    intervals = LEVELS[0] - 1
    steps = {k: max((room - low) / k, (room + high) / (intervals - k)) for k in range(1, intervals)}
    zero = min(steps, key=steps.__getitem__)
    finer = (points - 1) // intervals
    return np.asarray((np.arange(points) - zero * finer) * (steps[zero] / finer), np.float64)


def level_nodes(level: int, points: int) -> list[Node]:
    """Nodes of the grid of ``level`` points per axis, as indices into the finest grid of ``points``."""
    picked = range(0, points, (points - 1) // (level - 1))
    return [(row, column) for row in picked for column in picked]


def new_nodes(level: int, points: int) -> list[Node]:
    """The nodes of a level that no coarser level has."""
    if level == LEVELS[0]:
        return level_nodes(level, points)
    before = set(level_nodes(LEVELS[LEVELS.index(level) - 1], points))
    return [node for node in level_nodes(level, points) if node not in before]


def inside_out(nodes: list[Node], centre: Node, path: Doubles, spacing: int) -> list[Node]:
    """Order nodes of one level: the centre, then those beside the path, then outwards from both.

    Args:
        nodes: to be ordered. centre: the node at (0, 0).
        path: (M, 2) fractional indices of the path's points into the finest grid.
        spacing: distance of neighbouring nodes of this level, in indices.
    """
    if not nodes:
        return []
    places = np.array(nodes, np.float64)
    from_centre = np.abs(places - centre).max(axis=1)
    from_path = from_centre
    if len(path):
        distances = np.abs(places[:, None, :] - path[None]).max(axis=2).min(axis=1)
        from_path = np.minimum(from_centre, distances)
    rings = np.where(from_centre == 0, -1, np.floor(from_path / spacing))
    order = np.lexsort((places[:, 1], places[:, 0], from_centre, rings))
    return [nodes[index] for index in order]


def line_coordinates(points: int, extend: float) -> Doubles:
    """(points,) coordinates from −extend to 1 + extend; without extension both ends are exact.

    With extension, the grid is that of the unit interval continued by whole steps, so that 0 and 1 stay
    nodes: at least ``extend`` beyond each end.

    Raises:
        OptionError: fewer than two points or a negative extension.
    """
    if points < 2:
        raise OptionError(f"A line needs at least two points, not {points}.")
    if not (np.isfinite(extend) and extend >= 0):
        raise OptionError(f"A line can be extended by zero or more of its length, not by {extend}.")
    beyond = int(np.ceil(round(extend * (points - 1), 9)))
    return np.asarray(np.arange(-beyond, points + beyond) / (points - 1), np.float64)


def bisection_order(coordinates: Doubles) -> list[int]:
    """Indices of a line's coordinates, coarse to fine: both ends of [0, 1], its middle, quarters and so on.

    What lies beyond the ends comes after them, before the finer points between.
    """
    start, end = int(np.argmin(np.abs(coordinates))), int(np.argmin(np.abs(coordinates - 1)))
    order = dict.fromkeys((start, end, 0, len(coordinates) - 1))
    gaps = [(min(a, b), max(a, b)) for a, b in ((0, start), (start, end), (end, len(coordinates) - 1))]
    while gaps:
        low, high = max(gaps, key=lambda gap: (gap[1] - gap[0], -gap[0]))
        gaps.remove((low, high))
        middle = (low + high) // 2
        if middle not in order:
            order[middle] = None
        gaps += [gap for gap in ((low, middle), (middle, high)) if gap[1] - gap[0] > 1]
    return list(order)
