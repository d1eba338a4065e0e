"""The turning surface in the window: mouse, keys and hovering, over a canvas that draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEasingCurve, QEvent, QPointF, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QMouseEvent,
    QOpenGLContext,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from landscope_app.scene.gl_canvas import GlCanvas
from landscope_app.scene.probe import GlInfo
from landscope_app.scene.raster_canvas import RasterCanvas
from landscope_app.scene.scene import SceneRenderer, SceneState
from landscope_app.state.camera import PRESET_KEYS, PRESETS, Camera

ORBIT_DEGREES = 0.4  # per logical pixel
WHEEL_ZOOM = 1.0015  # per eighth of a degree
KEY_STEP = 5.0  # degrees per arrow key
HOVER_MS, FLIGHT_MS = 33, 260
REST_MS = 400  # longer than the time between partial results: nothing is smoothed while they arrive
CLICK_REACH = 3.0  # logical pixels; a press that moves less is a click


class SurfaceView(QWidget):
    """Shows a scene and lets a person turn it.

    Left drag turns, right or Shift drag moves, the wheel zooms, a double click brings a point to the middle;
    keys 1, 3, 7, 9, 0 and 5 are front, side, top, diagonal, reset and parallel projection; arrows turn.

    Signals:
        hovered(object): (α, β, height) under the pointer, or None; at most 30 times a second.
        camera_changed(object): the new `Camera`, after every move by hand or by preset.
        checkpoint_clicked(object): the number of the checkpoint whose marker was clicked.
        failed(object): one sentence, when OpenGL cannot draw the scene after all.
    """

    hovered = Signal(object)
    camera_changed = Signal(object)
    checkpoint_clicked = Signal(object)
    failed = Signal(object)

    def __init__(self, info: GlInfo, parent: QWidget | None = None) -> None:
        """Make the view for what `probe_gl` has found."""
        super().__init__(parent)
        self._scene = SceneRenderer()
        self._canvas = _canvas(info, self._scene, self)
        self._canvas.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._canvas.failed.connect(self.failed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(160, 120)
        self.setAccessibleName("Loss surface")
        self.setAccessibleDescription(
            "Drag to turn, Shift and drag to move, wheel to zoom, 0 resets the view."
        )
        self._grip: QPointF | None = None
        self._pressed: QPointF | None = None
        self._pointer: QPointF | None = None
        self._last_hover: object = None
        self._flight = QVariantAnimation(self)
        self._flight.setDuration(FLIGHT_MS)
        self._flight.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._flight.valueChanged.connect(self._fly)
        self._route = (self._scene.camera, self._scene.camera)
        self._hover_timer = self._single_shot(HOVER_MS, self._report_hover)
        self._rest_timer = self._single_shot(REST_MS, self._canvas.rest)

    def scene(self) -> SceneRenderer:
        """Return what is shown and its geometry, for picking and for tests."""
        return self._scene

    def image(self) -> QImage:
        """Return the picture that is shown, in device pixels."""
        return self._canvas.image()

    @property
    def frames_painted(self) -> int:
        """How many pictures were shown, for benchmarks."""
        return self._canvas.frames_painted

    def camera(self) -> Camera:
        """Return where the person looks from."""
        return self._scene.camera

    def smoothing_passes(self) -> int:
        """Return how many pictures have gone into the smooth one that is shown; 0 while something moves."""
        return self._canvas.smoothing_passes()

    def set_state(self, state: SceneState | None) -> None:
        """Show another state; many calls between two pictures cost one upload."""
        self._scene.set_state(state)
        self._changed()

    def set_camera(self, camera: Camera) -> None:
        """Look from elsewhere, without a signal: for linked views and sessions."""
        self._flight.stop()
        self._scene.set_camera(camera)
        self._changed()

    def fly_to(self, camera: Camera) -> None:
        """Go to another camera in a quarter of a second; `camera_changed` follows the flight."""
        self._flight.stop()
        self._route = (self._scene.camera, camera)
        self._flight.setStartValue(0.0)
        self._flight.setEndValue(1.0)
        self._flight.start()

    def show_preset(self, name: str) -> None:
        """Go to "front", "side", "top" (parallel), "diagonal" or "reset" (perspective)."""
        self.fly_to(PRESETS[name])

    def toggle_projection(self) -> None:
        """Change between perspective and parallel projection."""
        self._move(self.camera().toggled_projection())

    # Qt calls these.

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the picture fill the view."""
        super().resizeEvent(event)
        self._canvas.setGeometry(self.rect())
        self._scene.resize(self.width(), self.height(), self.devicePixelRatioF())
        self._changed()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what changed while hidden."""
        super().showEvent(event)
        self._changed()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the scene."""
        self._flight.stop()
        self._grip = self._pressed = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Turn or move while a button is held, otherwise look at what is under the pointer."""
        position = event.position()
        if self._grip is None or not event.buttons():
            self._pointer = position
            if not self._hover_timer.isActive():
                self._hover_timer.start()
            return
        step = position - self._grip
        self._grip = position
        others = Qt.MouseButton.RightButton | Qt.MouseButton.MiddleButton
        if event.buttons() & others or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            unit = self._scene.frame.world_per_pixel
            self._move(self.camera().pan(unit * step.x(), -unit * step.y()))
        else:
            self._move(self.camera().orbit(-ORBIT_DEGREES * step.x(), ORBIT_DEGREES * step.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go; a press that did not move is a click on a checkpoint or on nothing."""
        pressed, self._grip, self._pressed = self._pressed, None, None
        if pressed is None or (event.position() - pressed).manhattanLength() > CLICK_REACH:
            return
        if event.button() == Qt.MouseButton.LeftButton:
            number = self._scene.pick_checkpoint(event.position().x(), event.position().y())
            if number is not None:
                self.checkpoint_clicked.emit(number)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Bring the point under the pointer to the middle, or the box where there is none."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = self._scene.pick(event.position().x(), event.position().y())
        state = self._scene.state
        if point is None or state is None:
            self.fly_to(self.camera().looking_at(PRESETS["reset"].target))
            return
        x, y, z = (float(v) for v in state.box.to_world(np.asarray(point)))
        self.fly_to(self.camera().looking_at((x, y, z)))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Come closer or go away."""
        turned = event.angleDelta().y()
        if turned:
            self._flight.stop()
            self._move(self.camera().zoom(WHEEL_ZOOM**turned))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Presets, projection and turning by arrows; other keys go on to the window."""
        turns = {
            Qt.Key.Key_Left: (-KEY_STEP, 0.0),
            Qt.Key.Key_Right: (KEY_STEP, 0.0),
            Qt.Key.Key_Up: (0.0, KEY_STEP),
            Qt.Key.Key_Down: (0.0, -KEY_STEP),
        }
        key = Qt.Key(event.key())
        if event.text() in PRESET_KEYS:
            self.show_preset(PRESET_KEYS[event.text()])
        elif event.text() == "5":
            self.toggle_projection()
        elif event.text() in ("+", "-"):
            self._move(self.camera().zoom(1.15 if event.text() == "+" else 1 / 1.15))
        elif key in turns:
            self._move(self.camera().orbit(*turns[key]))
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, _event: QEvent) -> None:
        """Nothing is under the pointer any more."""
        self._pointer = None
        self._report_hover()

    # Moving, resting and hovering.

    def _move(self, camera: Camera) -> None:
        self._scene.set_camera(camera)
        self._changed()
        self.camera_changed.emit(camera)

    def _fly(self, fraction: object) -> None:
        start, end = self._route
        self._move(start.towards(end, float(str(fraction))) if fraction != 1.0 else end)

    def _changed(self) -> None:
        self._rest_timer.start()
        self._canvas.changed()

    def _single_shot(self, interval: int, call: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval)
        timer.timeout.connect(call)
        return timer

    def _report_hover(self) -> None:
        point = self._scene.pick(self._pointer.x(), self._pointer.y()) if self._pointer is not None else None
        if point is None and self._last_hover is None:
            return
        self._last_hover = point
        self.hovered.emit(point)


def _canvas(info: GlInfo, scene: SceneRenderer, parent: QWidget) -> GlCanvas | RasterCanvas:
    """A software driver would hold up the GUI thread: it draws in a thread of its own."""
    if info.software and QOpenGLContext.supportsThreadedOpenGL():
        return RasterCanvas(scene, parent)
    return GlCanvas(scene, info.samples, parent)
