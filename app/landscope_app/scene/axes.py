"""The axes box: which walls are far, where its ticks and edges lie, and how its walls and lines are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from landscope_app.scene import gl
from landscope_app.scene.frame import Frame
from landscope_app.scene.model import SceneState
from landscope_app.scene.programs import Buffer, Program, linear_colour
from landscope_app.scene.ribbons import Ribbon, Stroke
from landscope_app.scene.ticks import Ticks, axis_ticks

Doubles = npt.NDArray[np.float64]
GRID_WIDTH, FRAME_WIDTH = 1.0, 1.3
TINY_PICTURE = 320  # logical pixels; below, every axis has fewer ticks


@dataclass(frozen=True)
class BoxSides:
    """Which side (−1 or 1) of the box is far from the eye along x, y and z; its walls carry the grid."""

    x: int
    y: int
    z: int

    @classmethod
    def of(cls, frame: Frame, half: tuple[float, float, float]) -> BoxSides:
        """Choose the far sides; ties put labels where a reader looks for them: to the left and below."""
        x, y, z, perspective = frame.eye
        right, up, _ = frame.camera.axes()
        far_x = -1 if x > 1e-6 * (right[0] + up[0]) else 1
        far_y = -1 if y > 1e-6 * (right[1] + up[1]) else 1
        # Between floor and ceiling both are seen from inside the box; a reader expects the floor.
        return cls(far_x, far_y, -1 if z > (-0.5 * half[2] if perspective else -0.02) else 1)


def box_ticks(state: SceneState, frame: Frame) -> tuple[Ticks, Ticks, Ticks]:
    """Return the ticks of x, y and z in data coordinates, fewer in a small picture."""
    small = min(frame.width, frame.height) < TINY_PICTURE
    box, across, upward = state.box, 3 if small else 5, 3 if small else 5
    return (
        axis_ticks(box.low[0], box.high[0], across),
        axis_ticks(box.low[1], box.high[1], across),
        axis_ticks(box.low[2], box.high[2], upward, state.log_scale),
    )


def world_ticks(state: SceneState, ticks: tuple[Ticks, Ticks, Ticks]) -> tuple[Doubles, Doubles, Doubles]:
    """Return the tick positions along each axis in world units."""
    box = state.box
    x, y, z = ((t.positions - box.middle[k]) * box.scale[k] for k, t in enumerate(ticks))
    return x, y, z


def wall_triangles(half: tuple[float, float, float], sides: BoxSides) -> Doubles:
    """Return the (18, 3) corners of the two far walls and the floor (or ceiling)."""
    hx, hy, hz = half
    x, y, z = sides.x * hx, sides.y * hy, sides.z * hz
    faces = [
        [(x, -hy, -hz), (x, hy, -hz), (x, hy, hz), (x, -hy, hz)],
        [(-hx, y, -hz), (hx, y, -hz), (hx, y, hz), (-hx, y, hz)],
        [(-hx, -hy, z), (hx, -hy, z), (hx, hy, z), (-hx, hy, z)],
    ]
    return np.array([face[k] for face in faces for k in (0, 1, 2, 0, 2, 3)], float)


def grid_segments(
    half: tuple[float, float, float], sides: BoxSides, at: tuple[Doubles, Doubles, Doubles]
) -> Doubles:
    """Return the ends (2K, 3) of the grid lines on the far walls, at the ticks that are not on an edge."""
    hx, hy, hz = half
    x, y, z = sides.x * hx, sides.y * hy, sides.z * hz
    ends: list[tuple[float, float, float]] = []
    for t in _inner(at[0], hx):
        ends += [(t, -hy, z), (t, hy, z), (t, y, -hz), (t, y, hz)]
    for t in _inner(at[1], hy):
        ends += [(-hx, t, z), (hx, t, z), (x, t, -hz), (x, t, hz)]
    for t in _inner(at[2], hz):
        ends += [(-hx, y, t), (hx, y, t), (x, -hy, t), (x, hy, t)]
    return np.array(ends, float).reshape(-1, 3)


def edge_segments(half: tuple[float, float, float], sides: BoxSides) -> Doubles:
    """Return the ends (18, 3) of the nine edges of the two far walls and the floor."""
    hx, hy, hz = half
    x, y, z = sides.x * hx, sides.y * hy, sides.z * hz
    ends = [
        *((-hx, y, z), (hx, y, z), (-hx, -y, z), (hx, -y, z)),
        *((x, -hy, z), (x, hy, z), (-x, -hy, z), (-x, hy, z)),
        *((x, y, -hz), (x, y, hz), (-x, y, -hz), (-x, y, hz), (x, -y, -hz), (x, -y, hz)),
        *((-hx, y, -z), (hx, y, -z), (x, -hy, -z), (x, hy, -z)),
    ]
    return np.array(ends, float)


class AxesBox:
    """The drawn box of one OpenGL context: faint walls, grid lines at the ticks, edges."""

    def __init__(self) -> None:
        self._program = Program("wall", "wall", ("a_point",))
        self._walls = Buffer(gl.GL_ARRAY_BUFFER)
        self._vertices = gl.glGenVertexArrays(1)
        self._grid = Ribbon(connected=False)
        self._edges = Ribbon(connected=False)
        self._shown: object = None
        gl.glBindVertexArray(self._vertices)
        self._walls.bind()
        gl.vertex_attribute(0, 3)
        gl.glBindVertexArray(0)

    def draw(self, frame: Frame, state: SceneState, walls: bool = True) -> None:
        """Draw the box behind everything else; depth is neither tested nor written."""
        self._update(frame, state)
        if walls:
            self._draw_walls(frame, state.theme.wall)
        self._grid.draw(frame, Stroke(state.theme.grid, GRID_WIDTH))
        self._edges.draw(frame, Stroke(state.theme.frame, FRAME_WIDTH))

    def release(self) -> None:
        """Delete everything of this box; its context must be current."""
        for owner in (self._program, self._walls, self._grid, self._edges):
            owner.release()
        gl.glDeleteVertexArrays(1, [self._vertices])

    def _draw_walls(self, frame: Frame, text: str) -> None:
        colour = linear_colour(text)
        self._program.use()
        self._program.set_matrix("u_matrix", frame.matrix)
        self._program.set("u_colour", *colour)
        if colour[3] == 1.0:
            gl.glDisable(gl.GL_BLEND)  # half the picture need not be read back
        gl.glBindVertexArray(self._vertices)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 18)
        gl.glBindVertexArray(0)
        gl.glEnable(gl.GL_BLEND)

    def _update(self, frame: Frame, state: SceneState) -> None:
        """Upload the lines again when other walls are far or other ticks are shown."""
        sides, small = BoxSides.of(frame, state.box.half), min(frame.width, frame.height) < TINY_PICTURE
        shown = (sides, state.box, state.log_scale, small)
        if shown == self._shown:
            return
        self._shown = shown
        half = state.box.half
        self._walls.upload(wall_triangles(half, sides).astype(np.float32))
        self._grid.set_points(grid_segments(half, sides, world_ticks(state, box_ticks(state, frame))))
        self._edges.set_points(edge_segments(half, sides))


def _inner(positions: Doubles, half: float) -> Doubles:
    return np.asarray(positions[np.abs(positions) < half * (1 - 1e-3)])
