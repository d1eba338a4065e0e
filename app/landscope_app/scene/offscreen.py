"""Pictures of a scene at any size, independent of a window: through Qt's OpenGL, or without any display."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication, QThread
from PySide6.QtGui import QGuiApplication, QImage, QOffscreenSurface, QOpenGLContext, QPainter

from landscope.contract.errors import LandscopeError
from landscope_app.scene import gl
from landscope_app.scene.egl import EglContext
from landscope_app.scene.probe import PLATFORMS_WITHOUT_GL, offscreen_context
from landscope_app.scene.scene import SceneRenderer, SceneState
from landscope_app.scene.smoothing import PASSES, Smoothing
from landscope_app.state.camera import Camera

_applications: list[QCoreApplication] = []  # kept alive: Qt's fonts live in it


class NoOpenGLError(LandscopeError):
    """Nothing here can draw in three dimensions; show the heat map instead."""


class _Context(Protocol):
    """An OpenGL context that can be entered and left."""

    def make_current(self) -> None:
        """Make it current."""

    def leave(self) -> None:
        """Make none current."""

    def release(self) -> None:
        """Destroy it."""


class _QtContext:
    """A context of the running QGuiApplication with a hidden surface."""

    def __init__(self) -> None:
        made = offscreen_context()
        if made is None:
            raise OSError("Qt gives no OpenGL 3.3 context on this screen.")
        self._context: QOpenGLContext = made[0]
        self._surface: QOffscreenSurface = made[1]

    def make_current(self) -> None:
        if not self._context.makeCurrent(self._surface):
            raise OSError("Qt refuses its own OpenGL context.")

    def leave(self) -> None:
        self._context.doneCurrent()

    def release(self) -> None:
        self._surface.destroy()


class OffscreenRenderer:
    """Draws many pictures in one hidden context; use it as a context manager.

    What was current before each call (the window's own context) is current again afterwards.
    """

    def __init__(self) -> None:
        """Find a context.

        Raises:
            NoOpenGLError: when there is none.
        """
        self._scene = SceneRenderer()
        self._smoothing: Smoothing | None = None
        self._released = False
        ensure_application()
        with _set_aside():
            self._context = _open_context()
        with self._current():
            self._scene.initialise()

    def __enter__(self) -> OffscreenRenderer:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release everything."""
        self.release()

    def image(
        self,
        state: SceneState,
        camera: Camera,
        width: int,
        height: int,
        scale: float = 1.0,
        transparent: bool = False,
    ) -> QImage:
        """Return one picture.

        Args:
            state: what is shown.
            camera: from where.
            width: device pixels.
            height: device pixels.
            scale: device pixels per logical pixel; lines, markers and text grow with it.
            transparent: without a background; the image is premultiplied.

        Raises:
            NoOpenGLError: when the driver cannot draw this size.
        """
        with self._current():
            image = self._drawn(state, camera, width, height, scale, transparent)
        painter = QPainter(image)
        self._scene.paint_overlay(painter, scale)
        painter.end()
        return image

    def release(self) -> None:
        """Destroy the context; safe to call twice."""
        if self._released:
            return
        self._released = True
        with self._current():
            self._scene.release()
            if self._smoothing is not None:
                self._smoothing.release()
                self._smoothing = None
        self._context.release()

    @contextmanager
    def _current(self) -> Iterator[None]:
        """Make this context current, and afterwards the one that was before."""
        with _set_aside():
            self._context.make_current()
            try:
                yield
            finally:
                self._context.leave()

    def _drawn(
        self, state: SceneState, camera: Camera, width: int, height: int, scale: float, transparent: bool
    ) -> QImage:
        self._scene.set_state(state)
        self._scene.set_camera(camera)
        self._scene.resize(width / scale, height / scale, scale)
        smoothing = self._sized(*self._scene.frame.device_size)
        smoothing.restart()
        for _ in range(PASSES):
            smoothing.add_pass(self._scene, transparent)
        data = smoothing.read()
        gl.check("drawing a picture")
        rows = np.frombuffer(data, np.uint8).reshape(height, 4 * width)[
            ::-1
        ]  # OpenGL's first row is the lowest
        image = QImage(rows.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888_Premultiplied)
        return image.copy()  # the bytes above do not outlive this call

    def _sized(self, width: int, height: int) -> Smoothing:
        kept = self._smoothing
        if kept is not None and (kept.width, kept.height) == (width, height):
            return kept
        if kept is not None:
            kept.release()
            self._smoothing = None
        largest = min(
            int(gl.glGetIntegerv(gl.GL_MAX_TEXTURE_SIZE)), int(gl.glGetIntegerv(gl.GL_MAX_RENDERBUFFER_SIZE))
        )
        if max(width, height) > largest:
            raise NoOpenGLError(
                f"A picture of {width} × {height} pixels is larger than this graphics driver can draw; "
                f"choose at most {largest} each way."
            )
        self._smoothing = Smoothing(width, height)
        return self._smoothing


def render_image(
    state: SceneState,
    camera: Camera,
    width: int,
    height: int,
    scale: float = 1.0,
    transparent: bool = False,
) -> QImage:
    """Return one picture of `width` × `height` device pixels; see `OffscreenRenderer.image`.

    Raises:
        NoOpenGLError: when nothing here can draw it.
    """
    with OffscreenRenderer() as renderer:
        return renderer.image(state, camera, width, height, scale, transparent)


def ensure_application() -> None:
    """Make sure that text can be painted: Qt keeps its fonts in a QGuiApplication, even without a screen."""
    if QCoreApplication.instance() is not None:
        return
    has_screen = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not has_screen:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _applications.append(QGuiApplication(["landscope"]))


def _open_context() -> _Context:
    """Return a new context, not current: Qt's where its platform has one, else EGL's on Linux."""
    application = QCoreApplication.instance()
    gui_thread = application is not None and QThread.currentThread() is application.thread()
    has_qt = (
        isinstance(application, QGuiApplication)
        and QGuiApplication.platformName() not in PLATFORMS_WITHOUT_GL
    )
    if has_qt and gui_thread:
        try:
            return _left(_QtContext())
        except OSError:
            pass  # no OpenGL on this screen: a picture can still be drawn without one
    try:
        return _left(EglContext())
    except OSError as error:
        raise NoOpenGLError(
            "No OpenGL 3.3 was found on this machine, so the surface is shown as a heat map instead.",
            str(error),
        ) from error


def _left(context: _Context) -> _Context:
    context.leave()
    return context


@contextmanager
def _set_aside() -> Iterator[None]:
    """Leave Qt's current context meanwhile: EGL's and GLX's cannot both be current in one thread."""
    context = QOpenGLContext.currentContext()
    surface = context.surface() if context is not None else None
    if context is not None:
        context.doneCurrent()
    try:
        yield
    finally:
        if context is not None and surface is not None:
            context.makeCurrent(surface)


def image_array(image: QImage) -> npt.NDArray[np.uint8]:
    """Return an image as (height, width, 4) bytes: red, green, blue, alpha, not premultiplied."""
    straight = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(straight.constBits(), np.uint8).reshape(straight.height(), straight.bytesPerLine())
    return rows[:, : 4 * straight.width()].reshape(straight.height(), straight.width(), 4).copy()
