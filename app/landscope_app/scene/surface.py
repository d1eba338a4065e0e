"""The height field: one float per vertex on the graphics side; colour, light and contours in the shader."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from landscope_app.scene import gl
from landscope_app.scene.frame import Frame
from landscope_app.scene.heightfield import triangles
from landscope_app.scene.model import SceneState
from landscope_app.scene.programs import Buffer, Program, Texture
from landscope_app.scene.ticks import nice_step

COLOURS = 1024
MISSING = np.float32(3e30)  # the shader takes 1e30 and more for a hole: NaN is not reliable on every driver
FLOOR_FILL = 0.10


class Detail(IntEnum):
    """How many vertices along an axis are drawn at most; a software driver pays per triangle."""

    FULL = 1_000_000
    FINE = 132
    QUICK = 84


@lru_cache(maxsize=16)
def colour_table(name: str) -> npt.NDArray[np.uint8]:
    """Return a colour map as (1024, 4) bytes.

    Raises:
        ValueError: when `cmap` knows no such map.
    """
    import cmap  # a third of a second, so not at start

    try:
        table = cmap.Colormap(name).lut(COLOURS)
    except Exception as error:
        raise ValueError(f"There is no colour map called {name!r}; choose one of the list.") from error
    return np.ascontiguousarray(np.round(np.asarray(table) * 255), np.uint8)


def contour_step(state: SceneState) -> float:
    """Return the distance between contour lines in displayed units, a round number; 0 for none."""
    if state.contour_count <= 0:
        return 0.0
    low, high = state.colour_range
    return nice_step(high - low, round(1.25 * state.contour_count))


class Surface:
    """The drawn height field of one OpenGL context."""

    def __init__(self) -> None:
        self._lit = Program("surface", "surface", ("a_grid",))
        self._flat = Program("surface", "floor", ("a_grid",))
        self._grid = Buffer(gl.GL_ARRAY_BUFFER)
        self._indices = Buffer(gl.GL_ELEMENT_ARRAY_BUFFER)
        self._heights = Texture(gl.GL_R32F, gl.GL_RED, gl.GL_FLOAT)
        self._colours = Texture(gl.GL_RGBA8, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE)
        self._vertices = gl.glGenVertexArrays(1)
        self._state: SceneState | None = None
        self._finite: npt.NDArray[np.bool_] | None = None
        self._middle = 0.0
        self._ranges: dict[int, tuple[int, int]] = {}  # stride → byte offset and number of indices
        self._connect()

    def set_state(self, state: SceneState) -> None:
        """Upload what differs from the last state; for new heights alone that is one float per vertex."""
        last, self._state = self._state, state
        box, old = state.box, last.box if last else None
        if (
            last is None
            or old is None
            or state.x is not last.x
            or state.y is not last.y
            or old.half != box.half
        ):
            self._grid.upload(_grid(state))
        middle = float(box.middle[2])
        if last is None or state.z is not last.z or middle != self._middle:
            self._middle = middle
            self._upload_heights(state.z)
        if last is None or state.colour_map != last.colour_map:
            self._colours.allocate(COLOURS, 1, colour_table(state.colour_map))

    def draw(self, frame: Frame, detail: Detail) -> None:
        """Draw the lit surface, opaque; depth testing is on."""
        if self._state is None:
            return
        self._lit.use()
        self._describe(self._lit, frame)
        light, half = frame.lamp
        self._lit.set("u_light", *light)
        self._lit.set("u_half", *half)
        self._lit.set("u_flatten", 0.0)
        self._draw_triangles(self._is_cut(), detail)

    def draw_floor(self, frame: Frame, floor: float, detail: Detail) -> None:
        """Draw the contour lines on the plane world z = `floor`, translucent."""
        if self._state is None:
            return
        self._flat.use()
        self._describe(self._flat, frame)
        self._flat.set("u_flatten", 1.0)
        self._flat.set("u_floor", floor)
        self._flat.set("u_fill", FLOOR_FILL)
        self._draw_triangles(False, min(detail, Detail.FINE))

    def release(self) -> None:
        """Delete everything of this surface; its context must be current."""
        for owner in (self._lit, self._flat, self._grid, self._indices, self._heights, self._colours):
            owner.release()
        gl.glDeleteVertexArrays(1, [self._vertices])

    def _connect(self) -> None:
        gl.glBindVertexArray(self._vertices)
        self._grid.bind()
        gl.vertex_attribute(0, 4)
        self._indices.bind()
        gl.glBindVertexArray(0)

    def _upload_heights(self, z: npt.NDArray[np.floating]) -> None:
        finite = np.isfinite(z)
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # what float32 cannot hold is far outside any picture
            heights = np.where(finite, z - self._middle, MISSING).astype(np.float32)
        self._heights.allocate(z.shape[1], z.shape[0], heights)
        if self._finite is None or not np.array_equal(self._finite, finite):
            self._finite = finite
            self._upload_triangles(z)

    def _upload_triangles(self, z: npt.NDArray[np.floating]) -> None:
        """Upload the triangles of every detail, one after another; with holes there is the full one only."""
        self._ranges = {}
        parts, first, whole = [], 0, bool(np.isfinite(z).all())
        for detail in Detail:
            stride = int(np.ceil(max(z.shape) / detail)) if whole else 1
            if stride not in self._ranges:
                parts.append(triangles(z, stride))
                self._ranges[stride] = (4 * first, int(parts[-1].size))
                first += int(parts[-1].size)
        gl.glBindVertexArray(self._vertices)
        self._indices.upload(np.concatenate(parts))
        gl.glBindVertexArray(0)

    def _describe(self, program: Program, frame: Frame) -> None:
        """Set the uniforms that both programs share; heights are relative to the middle of the box."""
        assert self._state is not None
        state, middle = self._state, self._middle
        low, high = state.colour_range
        step = contour_step(state)
        program.set_matrix("u_matrix", frame.matrix)
        program.set_int("u_size", *state.z.shape)
        program.set("u_height_map", float(state.box.scale[2]), 0.0)
        program.set("u_clip", -state.box.half[2] - 1e-5, state.box.half[2] + 1e-5)
        program.set("u_colour_map", 1 / (high - low), (middle - low) / (high - low))
        # Only the index modulo 5 matters (every fifth line is stronger); small numbers keep float32 exact.
        program.set(
            "u_contours", 1 / step if step else 0.0, float(np.fmod(middle / step, 5.0)) if step else 0.0
        )
        program.set("u_pixel", frame.pixel)
        self._heights.bind(0)
        program.set_int("u_heights", 0)
        self._colours.bind(1)
        program.set_int("u_colours", 1)

    def _is_cut(self) -> bool:
        assert self._state is not None
        low, high = self._state.data_limits
        return low < self._state.box.low[2] or high > self._state.box.high[2]

    def _draw_triangles(self, cut: bool, detail: Detail) -> None:
        planes = (gl.GL_CLIP_DISTANCE0, gl.GL_CLIP_DISTANCE1) if cut else ()
        for plane in planes:
            gl.glEnable(plane)
        stride = int(np.ceil(max(self._heights.shape) / detail))
        first, count = self._ranges.get(stride) or self._ranges[1]
        gl.glBindVertexArray(self._vertices)
        gl.glDrawElements(gl.GL_TRIANGLES, count, gl.GL_UNSIGNED_INT, ctypes.c_void_p(first))
        gl.glBindVertexArray(0)
        for plane in planes:
            gl.glDisable(plane)


def _grid(state: SceneState) -> npt.NDArray[np.float32]:
    """Return (nx·ny, 4): world x and y of each vertex, and one over the distance between its neighbours."""
    scale, middle = state.box.scale, state.box.middle
    x = (np.asarray(state.x, float) - middle[0]) * scale[0]
    y = (np.asarray(state.y, float) - middle[1]) * scale[1]
    grid = np.empty((x.size, y.size, 4), np.float32)
    grid[..., 0], grid[..., 1] = x[:, None], y[None, :]
    grid[..., 2], grid[..., 3] = (1 / _reach(x))[:, None], (1 / _reach(y))[None, :]
    return grid.reshape(-1, 4)


def _reach(axis: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the distance between a point's two neighbours; twice the single gap at the borders."""
    gaps = np.diff(axis)
    return np.concatenate([[2 * gaps[0]], gaps[:-1] + gaps[1:], [2 * gaps[-1]]])
