"""Draws the scene by a graphics processor: a QOpenGLWidget, which Qt composes with the rest of the window."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QWidget

from landscope_app.scene.probe import surface_format
from landscope_app.scene.scene import SceneRenderer
from landscope_app.scene.smoothing import PASSES, Smoothing
from landscope_app.scene.surface import Detail


class GlCanvas(QOpenGLWidget):
    """The drawing part of a `SurfaceView` where there is a graphics processor.

    Signals:
        failed(object): one sentence, when OpenGL cannot draw the scene after all.

    Attributes:
        frames_painted: how many pictures were drawn.
    """

    failed = Signal(object)

    def __init__(self, scene: SceneRenderer, samples: int, parent: QWidget | None = None) -> None:
        """Draw `scene` with so many multisamples; without any, a resting picture is smoothed by averaging."""
        super().__init__(parent)
        self.setFormat(surface_format(samples))
        self.frames_painted = 0
        self._scene = scene
        self._smoothing: Smoothing | None = None
        self._ready, self._resting = False, False

    def changed(self) -> None:
        """Draw the scene as it is now, quickly."""
        self._resting = False
        self.update()

    def rest(self) -> None:
        """Begin to smooth: nothing has changed for a moment."""
        self._resting = True
        if self._smoothing is not None:
            self._smoothing.restart()
        self.update()

    def smoothing_passes(self) -> int:
        """Return how many pictures have gone into the smooth one that is shown; 0 while something moves."""
        return self._smoothing.passes if self._resting and self._smoothing is not None else 0

    def image(self) -> QImage:
        """Return what is shown, in device pixels; draws it anew."""
        return self.grabFramebuffer()

    # Qt calls these.

    def initializeGL(self) -> None:
        """Prepare the scene in this widget's context; also after the widget moved to another window."""
        context = self.context()
        if context is not None:
            context.aboutToBeDestroyed.connect(self._release)
        try:
            self._scene.initialise()
        except Exception as error:  # an exception must not leave a virtual of Qt
            self._give_up(error)
            return
        self._ready = True

    def resizeGL(self, _width: int, _height: int) -> None:
        """Take the new size; Qt's numbers are rounded, the widget's are not."""
        self._scene.resize(self.width(), self.height(), self.devicePixelRatioF())
        self._resting = False

    def paintGL(self) -> None:
        """Draw one picture: at once while something moves, one more smoothing pass while it rests."""
        if not self._ready:
            return
        try:
            self._scene.resize(self.width(), self.height(), self.devicePixelRatioF())
            self._draw()
            painter = QPainter(self)
            self._scene.paint_overlay(painter)
            painter.end()
        except Exception as error:  # an exception must not leave a virtual of Qt
            self._give_up(error)
            return
        self.frames_painted += 1

    def _draw(self) -> None:
        multisampled = self.format().samples() > 0
        if multisampled or not self._resting or self._scene.state is None:
            detail = Detail.FULL if multisampled else Detail.QUICK
            self._scene.draw(detail=detail, empty=self.palette().window().color().name())
            return
        smoothing = self._sized_smoothing()
        if smoothing.passes < PASSES:
            smoothing.add_pass(self._scene, detail=Detail.FINE)
        smoothing.show(self.defaultFramebufferObject())
        if smoothing.passes < PASSES:
            self.update()

    def _sized_smoothing(self) -> Smoothing:
        size = self._scene.frame.device_size
        if self._smoothing is not None and (self._smoothing.width, self._smoothing.height) != size:
            self._smoothing.release()
            self._smoothing = None
        if self._smoothing is None:
            self._smoothing = Smoothing(*size)
        return self._smoothing

    def _release(self) -> None:
        """Delete everything of a context that is about to go."""
        self.makeCurrent()
        if self._smoothing is not None:
            self._smoothing.release()
            self._smoothing = None
        self._scene.release()
        self._ready = False
        self.doneCurrent()

    def _give_up(self, error: Exception) -> None:
        self._ready = False
        self.failed.emit(f"The surface cannot be drawn with OpenGL here: {error}")
