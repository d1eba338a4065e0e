"""The renderer: draws a scene into whatever OpenGL context and framebuffer is current; knows no widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from landscope_app.scene import gl
from landscope_app.scene.axes import AxesBox
from landscope_app.scene.frame import Frame, Insets
from landscope_app.scene.heightfield import first_hit
from landscope_app.scene.model import DARK, LIGHT, SceneState, SceneTheme
from landscope_app.scene.path import Path, checkpoint_points
from landscope_app.scene.programs import linear_colour
from landscope_app.scene.surface import Detail, Surface
from landscope_app.state.camera import Camera

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

__all__ = ["DARK", "LIGHT", "SceneRenderer", "SceneState", "SceneTheme"]


class SceneRenderer:
    """One scene in one OpenGL context.

    The order of use: `initialise` with the context current, then `set_state`, `set_camera` and `resize` at
    any time and without a context, `draw` with it, `release` with it. `pick` and `paint_overlay` need none.
    """

    def __init__(self) -> None:
        self.state: SceneState | None = None
        self.camera = Camera()
        self._width, self._height, self._pixel = 1.0, 1.0, 1.0
        self._parts: tuple[AxesBox, Surface, Path] | None = None
        self._uploaded: SceneState | None = None
        self._frame: Frame | None = None

    def initialise(self) -> None:
        """Compile the shaders and make the buffers in the current context.

        Raises:
            RuntimeError: when a shader does not compile here; the message is the driver's.
        """
        self._parts = (AxesBox(), Surface(), Path())
        self._uploaded = None
        gl.check("preparing the scene")

    def release(self) -> None:
        """Delete everything that `initialise` made; its context must be current. Safe to call twice."""
        for part in self._parts or ():
            part.release()
        self._parts = None

    def set_state(self, state: SceneState | None) -> None:
        """Show another state; what differs is uploaded at the next `draw`."""
        self.state, self._frame = state, None

    def set_camera(self, camera: Camera) -> None:
        """Look from elsewhere."""
        self.camera, self._frame = camera, None

    def resize(self, width: float, height: float, pixel: float = 1.0) -> None:
        """Set the picture's size in logical pixels, and device pixels per logical one."""
        self._width, self._height, self._pixel = max(1.0, width), max(1.0, height), pixel
        self._frame = None

    @property
    def frame(self) -> Frame:
        """Return the geometry of the picture as it would be drawn now."""
        if self._frame is None:
            insets = Insets.of(self.state, self._width, self._height) if self.state else Insets(0, 0, 0, 0)
            self._frame = Frame(self.camera, self._width, self._height, self._pixel, insets)
        return self._frame

    def draw(
        self,
        jitter: tuple[float, float] = (0.0, 0.0),
        transparent: bool = False,
        detail: Detail = Detail.FULL,
        empty: str = "#000000",
    ) -> None:
        """Draw into the bound framebuffer, premultiplied alpha.

        Args:
            jitter: shift in device pixels, for smoothing over several pictures.
            transparent: leave out the background and the faint walls.
            detail: draw a very fine surface with fewer triangles, while something moves.
            empty: the background where there is no state yet.
        """
        if self._parts is None:
            raise RuntimeError("The scene was not initialised in this context before it was drawn.")
        frame = self.frame.jittered(*jitter)
        _prepare(frame, self.state.theme.background if self.state else empty, transparent)
        if self.state is None:
            return
        axes, surface, path = self._parts
        self._upload(surface, path)
        if self.state.show_axes:
            axes.draw(frame, self.state, walls=not transparent)
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthMask(True)
        gl.glDisable(gl.GL_BLEND)
        surface.draw(frame, detail)
        gl.glDepthMask(False)
        gl.glEnable(gl.GL_BLEND)
        if self.state.show_floor:
            surface.draw_floor(frame, -self.state.box.half[2], detail)
        path.draw(frame)
        _leave()

    def paint_overlay(self, painter: QPainter, scale: float = 1.0) -> None:
        """Paint labels and colour bar; `scale` is the painter's device pixels per logical pixel."""
        from landscope_app.scene.overlay import paint_overlay  # the rest of this module needs no Qt

        if self.state is None:
            return
        painter.save()
        painter.scale(scale, scale)
        paint_overlay(painter, self.state, self.frame)
        painter.restore()

    def pick(self, px: float, py: float) -> tuple[float, float, float] | None:
        """Return (α, β, height) of the surface under a logical pixel, None beside it and in holes."""
        if self.state is None:
            return None
        state = self.state
        near, far = (state.box.to_data(point) for point in self.frame.ray(px, py))
        hit = first_hit(state.x, state.y, state.z, near, far)
        if hit is None or not state.box.low[2] <= hit[2] <= state.box.high[2]:
            return None
        return float(hit[0]), float(hit[1]), float(hit[2])

    def pick_checkpoint(self, px: float, py: float, reach: float = 10.0) -> int | None:
        """Return the number of the checkpoint whose marker is nearest, within `reach` logical pixels."""
        if self.state is None or self.state.path is None or len(self.state.path) == 0:
            return None
        screen = self.frame.on_screen(self.state.box.to_world(checkpoint_points(self.state)))
        away = np.linalg.norm(screen - [px, py], axis=1)
        if not (away <= reach).any():
            return None
        return int(np.nanargmin(away))

    def _upload(self, surface: Surface, path: Path) -> None:
        if self.state is not self._uploaded and self.state is not None:
            surface.set_state(self.state)
            path.set_state(self.state)
            self._uploaded = self.state


def _prepare(frame: Frame, background: str, transparent: bool) -> None:
    """Bring the context into a known state: other painters (Qt's) use it as well."""
    gl.glViewport(0, 0, *frame.device_size)
    for switch in (gl.GL_SCISSOR_TEST, gl.GL_STENCIL_TEST, gl.GL_CULL_FACE, gl.GL_DEPTH_TEST):
        gl.glDisable(switch)
    gl.glColorMask(True, True, True, True)
    gl.glDepthMask(True)
    gl.glFrontFace(gl.GL_CCW)
    gl.glDepthFunc(gl.GL_LEQUAL)
    gl.glBlendEquation(gl.GL_FUNC_ADD)
    gl.glBlendFunc(gl.GL_ONE, gl.GL_ONE_MINUS_SRC_ALPHA)
    gl.glEnable(gl.GL_BLEND)
    red, green, blue, _ = linear_colour(background)
    gl.glClearColor(*((0.0, 0.0, 0.0, 0.0) if transparent else (red, green, blue, 1.0)))
    gl.glClearDepth(1.0)
    gl.glClear(gl.GL_COLOR_BUFFER_BIT | gl.GL_DEPTH_BUFFER_BIT)


def _leave() -> None:
    """Leave nothing bound that another painter would trip over."""
    gl.glDisable(gl.GL_DEPTH_TEST)
    gl.glDepthMask(True)
    gl.glUseProgram(0)
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, 0)
    gl.glActiveTexture(gl.GL_TEXTURE0)
    gl.glBindTexture(gl.GL_TEXTURE_2D, 0)
