"""Where the texts of the axes box stand: beside their edges, inside the picture, never over one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from landscope_app.scene.axes import BoxSides, box_ticks, world_ticks
from landscope_app.scene.frame import Frame
from landscope_app.scene.model import SceneState
from landscope_app.scene.path import checkpoint_points

Doubles = npt.NDArray[np.float64]
Measure = Callable[[str, bool], tuple[float, float]]  # text, bold → width and height in logical pixels

TICK_GAP, TITLE_GAP, BORDER, BREATH = 7.0, 9.0, 3.0, 3.0
MARKER_GAP, PANEL = 13.0, 5.0  # from the marker's middle; from the text to the border of its panel
STEEP = 0.8  # the sine of the elevation
SHORTEST_EDGE = 28.0  # logical pixels; an axis seen end-on has no labels


@dataclass(frozen=True)
class Label:
    """A text with its middle and size in logical pixels."""

    text: str
    x: float
    y: float
    width: float
    height: float
    title: bool

    def overlaps(self, other: Label) -> bool:
        """Tell whether two labels come closer than a breath."""
        return (
            abs(self.x - other.x) < (self.width + other.width) / 2 + BREATH
            and abs(self.y - other.y) < (self.height + other.height) / 2
        )


@dataclass(frozen=True)
class _Edge:
    """One labelled edge on the screen: its ends, the way outwards, its ticks and its title."""

    start: Doubles
    end: Doubles
    outward: Doubles
    ticks: Doubles  # (K, 2)
    texts: tuple[str, ...]
    title: str
    upright: bool


def place_labels(state: SceneState, frame: Frame, measure: Measure) -> list[Label]:
    """Return the labels of all axes that fit; ticks that would touch an earlier label are left out."""
    placed: list[Label] = []
    edges = [edge for edge in _edges(state, frame) if np.linalg.norm(edge.end - edge.start) >= SHORTEST_EDGE]
    reach = [_place_ticks(edge, frame, measure, placed) for edge in edges]
    for edge, far in zip(edges, reach, strict=True):
        title = _title(edge, far, frame, measure, placed)
        if title is not None:
            placed.append(title)
    return placed


def place_checkpoint_label(
    state: SceneState, frame: Frame, measure: Measure, placed: list[Label]
) -> Label | None:
    """Return the label of the current checkpoint: beside its marker, on the first side that is free."""
    current = state.current
    if (
        state.path is None
        or current is None
        or not 0 <= current < min(len(state.path), len(state.path_labels))
    ):
        return None
    point = frame.on_screen(state.box.to_world(checkpoint_points(state)[current]))
    text = state.path_labels[current]
    if not text or not np.isfinite(point).all():
        return None
    width, height = (size + 2 * PANEL for size in measure(text, True))
    aside, above = MARKER_GAP + width / 2, MARKER_GAP + height / 2
    for dx, dy in ((aside, -above / 2), (-aside, -above / 2), (0.0, -above), (0.0, above)):
        label = Label(text, float(point[0] + dx), float(point[1] + dy), width, height, title=True)
        if _inside(label, frame) and not any(label.overlaps(other) for other in placed):
            return label
    return None


def _edges(state: SceneState, frame: Frame) -> list[_Edge]:
    """Return the edges that carry labels: the near ones of the floor, and the upright one to the left."""
    sides, half = BoxSides.of(frame, state.box.half), state.box.half
    ticks = box_ticks(state, frame)
    at = world_ticks(state, ticks)
    hx, hy, hz = half
    x, y, z = sides.x * hx, sides.y * hy, sides.z * hz
    corners = np.array([(x, -y), (-x, y)])
    lefts = frame.on_screen(np.column_stack([corners, np.zeros(2)]))[:, 0]
    zx, zy = corners[int(np.nanargmin(lefts))] if np.isfinite(lefts).any() else corners[0]
    # Seen steeply from above, the floor's edges lie under the surface and its rim is outside.
    levels = (z, -z) if abs(frame.camera.axes()[2][2]) > STEEP else (z,)
    lines = (
        (0, state.title_x, [np.array([(-hx, -y, k), (hx, -y, k)]) for k in levels]),
        (1, state.title_y, [np.array([(-x, -hy, k), (-x, hy, k)]) for k in levels]),
        (2, state.title_z, [np.array([(zx, zy, -hz), (zx, zy, hz)])]),
    )
    middle = frame.on_screen(np.zeros(3))
    edges = []
    for axis, title, candidates in lines:
        ends = max(candidates, key=lambda ends: _reach(frame.on_screen(ends), middle))
        points = np.repeat(ends[:1], at[axis].size, axis=0)
        points[:, axis] = at[axis]
        screen = frame.on_screen(ends)
        if np.isfinite(screen).all():
            outward = _outward(screen, middle)
            on_screen = frame.on_screen(points)
            edges.append(
                _Edge(screen[0], screen[1], outward, on_screen, ticks[axis].texts, title, upright=axis == 2)
            )
    return edges


def _reach(ends: Doubles, middle: Doubles) -> float:
    """Return how far outside an edge lies; seen from above, the rim is further out than the floor."""
    if not np.isfinite(ends).all():
        return -np.inf
    return float(np.round(_outward(ends, middle) @ (ends.mean(axis=0) - middle)))


def _outward(ends: Doubles, middle: Doubles) -> Doubles:
    along = ends[1] - ends[0]
    across = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-9)
    return across if across @ (ends.mean(axis=0) - middle) >= 0 else -across


def _place_ticks(edge: _Edge, frame: Frame, measure: Measure, placed: list[Label]) -> float:
    """Place the ticks of one edge; return how far they reach outwards in logical pixels."""
    far = 0.0
    for point, text in zip(edge.ticks, edge.texts, strict=True):
        if not np.isfinite(point).all():
            continue
        width, height = measure(text, False)
        extent = abs(edge.outward[0]) * width / 2 + abs(edge.outward[1]) * height / 2
        x, y = point + edge.outward * (TICK_GAP + extent)
        label = Label(text, float(x), float(y), width, height, title=False)
        if _inside(label, frame) and not any(label.overlaps(other) for other in placed):
            placed.append(label)
            far = max(far, TICK_GAP + 2 * extent)
    return far


def _title(edge: _Edge, far: float, frame: Frame, measure: Measure, placed: list[Label]) -> Label | None:
    """Place a title beyond its ticks, further out while something is in the way; None without room."""
    if not edge.title:
        return None
    width, height = measure(edge.title, True)
    if edge.upright:
        top = min(edge.start, edge.end, key=lambda point: float(point[1]))
        anchor, outward, far = top, np.array([0.0, -1.0]), 0.0
    else:
        anchor, outward = (edge.start + edge.end) / 2, edge.outward
    extent = abs(outward[0]) * width / 2 + abs(outward[1]) * height / 2
    for push in range(0, 60, 4):
        x, y = anchor + outward * (far + TITLE_GAP + extent + push)
        x = float(np.clip(x, width / 2 + BORDER, frame.width - width / 2 - BORDER))
        y = float(np.clip(y, height / 2 + BORDER, frame.height - height / 2 - BORDER))
        label = Label(edge.title, x, y, width, height, title=True)
        if width + 2 * BORDER <= frame.width and not any(label.overlaps(other) for other in placed):
            return label
    return None


def _inside(label: Label, frame: Frame) -> bool:
    return (
        label.width / 2 <= label.x <= frame.width - label.width / 2
        and label.height / 2 <= label.y <= frame.height - label.height / 2
    )
