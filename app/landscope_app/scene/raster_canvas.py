"""Shows what a render thread draws: a plain widget, so that the window needs no OpenGL to repaint itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, QThread, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from landscope_app.scene.render_thread import Order, Picture, RenderThread
from landscope_app.scene.scene import SceneRenderer


class RasterCanvas(QWidget):
    """The drawing part of a `SurfaceView` where OpenGL is drawn by the processor.

    Signals:
        failed(object): one sentence, when OpenGL cannot draw the scene after all.

    Attributes:
        frames_painted: how many different pictures were shown.
    """

    failed = Signal(object)

    def __init__(self, scene: SceneRenderer, parent: QWidget | None = None) -> None:
        """Show `scene`, of which only state, camera and geometry are used here."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.frames_painted = 0
        self._scene = scene
        self._thread: RenderThread | None = None
        self._order: Order | None = None
        self._picture: Picture | None = None
        self._is_new = self._has_failed = False

    def changed(self) -> None:
        """Draw the scene as it is now, quickly."""
        self._draw(resting=False)

    def rest(self) -> None:
        """Draw the scene as it is now, smoothly."""
        self._draw(resting=True)

    def smoothing_passes(self) -> int:
        """Return how many pictures have gone into the one that is shown; 0 until a newer order is drawn."""
        picture = self._picture
        return picture.passes if picture is not None and picture.order is self._order else 0

    def image(self) -> QImage:
        """Return what is shown, in device pixels; a null image before the first picture."""
        return self._picture.image if self._picture is not None else QImage()

    # Qt calls these.

    def changeEvent(self, event: QEvent) -> None:
        """Another palette has another background where there is no scene."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.changed()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Copy the newest picture to the window."""
        painter = QPainter(self)
        if self._picture is None:
            painter.fillRect(self.rect(), self._background())
        else:
            # A plain copy where the sizes agree; Qt finds that out itself.
            painter.drawImage(QRectF(self.rect()), self._picture.image)
        painter.end()
        if self._order is None or self._order.pixel != self.devicePixelRatioF():
            self.changed()  # the window has come to another screen
        self.frames_painted += self._is_new
        self._is_new = False

    # Ordering and receiving.

    def _draw(self, resting: bool) -> None:
        if not self.isVisible() or self._has_failed:
            return
        pixel = self.devicePixelRatioF()
        self._scene.resize(self.width(), self.height(), pixel)
        empty = self._background().name()
        scene, size = self._scene, (self.width(), self.height())
        self._order = Order(scene.state, scene.camera, *size, pixel, empty, resting)
        try:
            self._running_thread().draw(self._order)
        except RuntimeError as error:
            self._give_up(f"The surface cannot be drawn with OpenGL here: {error}")

    def _running_thread(self) -> RenderThread:
        """Return the thread, begun when the first picture is wanted: most planes are never compared."""
        if self._thread is None:
            thread = RenderThread()
            thread.picture_ready.connect(self._receive, Qt.ConnectionType.QueuedConnection)
            thread.failed.connect(self._give_up, Qt.ConnectionType.QueuedConnection)
            self.destroyed.connect(lambda *_: thread.finish())
            thread.start(QThread.Priority.LowPriority)
            self._thread = thread
        return self._thread

    def _receive(self) -> None:
        picture = self._thread.take_picture() if self._thread is not None else None
        if picture is not None:
            self._picture, self._is_new = picture, True
            self.update()

    def _give_up(self, sentence: object) -> None:
        self._has_failed = True
        self.failed.emit(sentence)

    def _background(self) -> QColor:
        return self.palette().window().color()
