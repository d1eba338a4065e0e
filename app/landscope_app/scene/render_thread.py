"""Draws the scene in a thread of its own, for software OpenGL: the GUI thread only shows finished images.

A software driver needs tens of milliseconds per picture, and a widget that draws with OpenGL makes Qt compose
the whole window with it. Here the newest order is drawn into a hidden framebuffer, read back and labelled.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication, QThread, Signal
from PySide6.QtGui import QImage, QOffscreenSurface, QOpenGLContext, QPainter

from landscope_app.scene import gl
from landscope_app.scene.probe import offscreen_context
from landscope_app.scene.scene import SceneRenderer, SceneState
from landscope_app.scene.smoothing import PASSES, Smoothing
from landscope_app.scene.surface import Detail
from landscope_app.state.camera import Camera

TURN_S = 0.001  # for how long this thread may keep the interpreter from the GUI thread


@dataclass(frozen=True, eq=False)
class Order:
    """What is to be drawn.

    Attributes:
        state: what is shown; None draws the background alone.
        camera: from where.
        width, height: logical pixels.
        pixel: device pixels per logical pixel.
        empty: the background where there is no state.
        resting: nothing moves any more, so the picture is worth smoothing.
    """

    state: SceneState | None
    camera: Camera
    width: float
    height: float
    pixel: float
    empty: str
    resting: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished image, the order it answers, and how many passes went into it (0: drawn quickly)."""

    image: QImage
    order: Order
    passes: int


class RenderThread(QThread):
    """Draws the newest order; older ones that were not begun are forgotten, smoothing ones are broken off.

    Made and finished in the GUI thread. At most one order and one picture wait, so nothing can pile up.

    Signals:
        picture_ready(): `take_picture` has something new.
        failed(object): one sentence, when OpenGL cannot draw; the thread has then ended.
    """

    picture_ready = Signal()
    failed = Signal(object)

    def __init__(self) -> None:
        """Make the context, which Qt allows in the GUI thread only.

        Raises:
            RuntimeError: when there is no OpenGL 3.3 here after all.
        """
        super().__init__()
        made = offscreen_context()
        if made is None:
            raise RuntimeError("Qt gives no OpenGL 3.3 context on this screen.")
        self._context: QOpenGLContext | None = made[0]
        self._surface: QOffscreenSurface = made[1]
        made[0].doneCurrent()
        made[0].moveToThread(self)
        self._changed = threading.Condition()
        self._order: Order | None = None
        self._picture: Picture | None = None
        self._finished = False
        # Drawing takes turns with the GUI thread in Python; at Python's own 5 ms a turn, events come late.
        sys.setswitchinterval(min(sys.getswitchinterval(), TURN_S))
        # A running thread must not outlive the program, however that ends.
        atexit.register(self.finish)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.finish)

    def draw(self, order: Order) -> None:
        """Ask for a picture; replaces an order that was not begun."""
        with self._changed:
            self._order = order
            self._changed.notify()

    def take_picture(self) -> Picture | None:
        """Return the newest picture that was not taken yet, or None."""
        with self._changed:
            picture, self._picture = self._picture, None
        return picture

    def finish(self) -> None:
        """End the thread and wait for it, one picture at most; safe to call twice."""
        with self._changed:
            if self._finished:
                return
            self._finished = True
            self._changed.notify()
        self.wait()
        self._surface.destroy()
        atexit.unregister(self.finish)

    def run(self) -> None:
        """Draw until `finish`; an exception must not leave a virtual of Qt."""
        context, self._context = self._context, None  # the last reference: it dies in its own thread
        try:
            if context is None or not context.makeCurrent(self._surface):
                raise RuntimeError("Qt refuses its own OpenGL context.")
            self._draw_orders()
        except Exception as error:
            self.failed.emit(f"The surface cannot be drawn with OpenGL here: {error}")
        finally:
            if context is not None:
                context.doneCurrent()

    def _draw_orders(self) -> None:
        studio = Studio()
        try:
            while (order := self._next_order()) is not None:
                for picture in studio.pictures(order, self._is_superseded):
                    self._hand_over(picture)
        finally:
            studio.release()

    def _next_order(self) -> Order | None:
        """Wait for an order; None at the end."""
        with self._changed:
            while self._order is None and not self._finished:
                self._changed.wait()
            order, self._order = self._order, None
            return None if self._finished else order

    def _is_superseded(self) -> bool:
        with self._changed:
            return self._order is not None or self._finished

    def _hand_over(self, picture: Picture) -> None:
        with self._changed:
            waiting, self._picture = self._picture, picture
        if waiting is None:
            self.picture_ready.emit()


class Studio:
    """A renderer with a hidden framebuffer, in the context that is current in this thread."""

    def __init__(self) -> None:
        self._scene = SceneRenderer()
        self._smoothing: Smoothing | None = None
        self._scene.initialise()

    def pictures(self, order: Order, superseded: Callable[[], bool]) -> Iterator[Picture]:
        """Draw an order: one quick picture, or at rest a sharp one and later a smooth one.

        Args:
            order: what is drawn.
            superseded: asked between passes; once it says yes, no further pass is drawn.
        """
        self._scene.set_state(order.state)
        self._scene.set_camera(order.camera)
        self._scene.resize(order.width, order.height, order.pixel)
        smoothing = self._sized_smoothing()
        if not order.resting or order.state is None:
            smoothing.draw_alone(self._scene, Detail.QUICK, order.empty)
            yield Picture(self._image(smoothing, order.pixel), order, 0)
            return
        smoothing.restart()
        while smoothing.passes < PASSES and not superseded():
            smoothing.add_pass(self._scene, detail=Detail.FINE)
            if smoothing.passes in (1, PASSES):
                smoothing.show_own()
                yield Picture(self._image(smoothing, order.pixel), order, smoothing.passes)

    def release(self) -> None:
        """Delete everything; the context must still be current."""
        if self._smoothing is not None:
            self._smoothing.release()
        self._scene.release()

    def _image(self, smoothing: Smoothing, pixel: float) -> QImage:
        """Read the picture back, top row first as Qt wants it, and write the labels on it."""
        # The format of a window's own memory, so that showing the image is a plain copy.
        image = QImage(smoothing.width, smoothing.height, QImage.Format.Format_RGB32)
        rows = np.frombuffer(image.bits(), np.uint8).reshape(smoothing.height, smoothing.width, 4)
        rows[:] = smoothing.read_words()[::-1]
        gl.check("drawing the surface")
        image.setDevicePixelRatio(pixel)
        painter = QPainter(image)
        self._scene.paint_overlay(painter)
        painter.end()
        return image

    def _sized_smoothing(self) -> Smoothing:
        size = self._scene.frame.device_size
        if self._smoothing is not None and (self._smoothing.width, self._smoothing.height) != size:
            self._smoothing.release()
            self._smoothing = None
        if self._smoothing is None:
            self._smoothing = Smoothing(*size)
        return self._smoothing
