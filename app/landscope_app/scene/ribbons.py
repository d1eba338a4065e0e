"""Lines of any width and round markers, as triangles: OpenGL's own lines are one pixel in a core profile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from landscope_app.scene import gl
from landscope_app.scene.frame import Frame
from landscope_app.scene.programs import Buffer, Program, linear_colour

Points = npt.NDArray[np.float32]
POINT_BYTES = 12
INVISIBLE = "#00000000"


@dataclass(frozen=True)
class Stroke:
    """How a line looks: widths in logical pixels, colours as text."""

    colour: str
    width: float
    halo: str = INVISIBLE
    halo_width: float = 0.0


class Ribbon:
    """Many separate segments, or one connected line, of even width on the screen."""

    def __init__(self, connected: bool) -> None:
        self._program = Program("ribbon", "ribbon", ("a_before", "a_start", "a_end", "a_after"))
        self._points = Buffer(gl.GL_ARRAY_BUFFER)
        self._vertices = gl.glGenVertexArrays(1)
        self._connected = connected
        self._segments = 0
        self._connect()

    def set_points(self, points: npt.NDArray[np.floating]) -> None:
        """Upload world points (N, 3): pairs of ends, or the corners of the connected line."""
        points = np.asarray(points, np.float32)
        if self._connected:
            self._segments = max(0, len(points) - 1)
            if self._segments:
                points = np.concatenate([points[:1], points, points[-1:]])
        else:
            self._segments = len(points) // 2
        self._points.upload(np.ascontiguousarray(points))

    def draw(self, frame: Frame, stroke: Stroke, lift: float = 0.0, opacity: float = 1.0) -> None:
        """Draw the line, premultiplied and blended; `lift` moves its depth towards the eye by world units."""
        if self._segments == 0:
            return
        program = self._program
        program.use()
        core = 0.5 * stroke.width * frame.pixel
        halo = core + stroke.halo_width * frame.pixel if stroke.halo_width else 0.0
        place(program, frame, lift)
        program.set("u_reach", max(core, halo) + 1.0)
        program.set("u_core", core)
        program.set("u_halo", halo)
        program.set("u_core_colour", *linear_colour(stroke.colour))
        program.set("u_halo_colour", *linear_colour(stroke.halo if stroke.halo_width else INVISIBLE))
        program.set("u_opacity", opacity)
        gl.glBindVertexArray(self._vertices)
        gl.glDrawArraysInstanced(gl.GL_TRIANGLE_STRIP, 0, 4, self._segments)
        gl.glBindVertexArray(0)

    def release(self) -> None:
        """Delete everything of this line; its context must be current."""
        self._program.release()
        self._points.release()
        gl.glDeleteVertexArrays(1, [self._vertices])

    def _connect(self) -> None:
        """Read one buffer of points four times, shifted: before, start, end and after of each segment."""
        first = (0, 1, 2, 3) if self._connected else (0, 0, 1, 1)
        stride = POINT_BYTES if self._connected else 2 * POINT_BYTES
        gl.glBindVertexArray(self._vertices)
        self._points.bind()
        for location, point in enumerate(first):
            gl.vertex_attribute(location, 3, stride, point * POINT_BYTES, divisor=1)
        gl.glBindVertexArray(0)


class Markers:
    """Round markers, one of which may be highlighted."""

    def __init__(self) -> None:
        self._program = Program("marker", "marker", ("a_centre",))
        self._points = Buffer(gl.GL_ARRAY_BUFFER)
        self._vertices = gl.glGenVertexArrays(1)
        self._count = 0
        gl.glBindVertexArray(self._vertices)
        self._points.bind()
        gl.vertex_attribute(0, 3, POINT_BYTES, divisor=1)
        gl.glBindVertexArray(0)

    def set_points(self, points: npt.NDArray[np.floating]) -> None:
        """Upload the centres (N, 3) in world units."""
        self._count = len(points)
        self._points.upload(np.ascontiguousarray(points, np.float32))

    def draw(
        self,
        frame: Frame,
        colours: tuple[str, str, str],
        radii: tuple[float, float],
        current: int | None,
        lift: float,
        opacity: float = 1.0,
    ) -> None:
        """Draw in (fill, rim, accent) colours with (ordinary, current) radii in logical pixels."""
        if self._count == 0:
            return
        program = self._program
        program.use()
        place(program, frame, lift)
        program.set("u_radius", radii[0] * frame.pixel)
        program.set("u_current_radius", radii[1] * frame.pixel)
        program.set("u_rim", 0.35 * radii[0] * frame.pixel)
        program.set_int("u_current", -1 if current is None else current)
        for name, colour in zip(("u_fill_colour", "u_rim_colour", "u_accent_colour"), colours, strict=True):
            program.set(name, *linear_colour(colour))
        program.set("u_opacity", opacity)
        gl.glBindVertexArray(self._vertices)
        gl.glDrawArraysInstanced(gl.GL_TRIANGLE_STRIP, 0, 4, self._count)
        gl.glBindVertexArray(0)

    def release(self) -> None:
        """Delete everything of these markers; their context must be current."""
        self._program.release()
        self._points.release()
        gl.glDeleteVertexArrays(1, [self._vertices])


def place(program: Program, frame: Frame, lift: float) -> None:
    """Set the uniforms that say where a screen-space shape stands."""
    program.set_matrix("u_matrix", frame.matrix)
    program.set("u_viewport", *frame.device_size)
    program.set("u_eye", *frame.eye)
    program.set("u_lift", lift)
