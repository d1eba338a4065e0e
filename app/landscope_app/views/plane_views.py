"""Planes as turning surfaces and as maps, alone or beside another on one scale."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from landscope.session.model import Session
from landscope_app.plots.contours import ContourWidget
from landscope_app.scene.model import SceneState
from landscope_app.scene.probe import GlInfo
from landscope_app.scene.view import SurfaceView
from landscope_app.state.camera import Camera
from landscope_app.theme.colors import Theme
from landscope_app.views.plane_pair import PlanePair
from landscope_app.views.shown_planes import Look, Shown, pointed_text, shown_charts, shown_scenes


class SurfacePane(QWidget):
    """Two ``SurfaceView`` with one camera.

    Signals:
        pointed: a sentence about the value under the pointer, or "".
        camera_changed: the new ``Camera``.
        picked: (id of the plane, index of the checkpoint on its path).
        failed: a sentence when OpenGL cannot draw after all.
    """

    pointed = Signal(object)
    camera_changed = Signal(object)
    picked = Signal(object)
    failed = Signal(object)

    def __init__(self, theme: Theme, info: GlInfo) -> None:
        super().__init__()
        self._theme = theme
        self._shown: Shown | None = None
        self.views = (SurfaceView(info), SurfaceView(info))
        self._pair = PlanePair(*self.views, theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pair)
        for k, view in enumerate(self.views):
            view.hovered.connect(lambda point, k=k: self._hovered(k, point))
            view.camera_changed.connect(lambda camera, k=k: self._moved(k, camera))
            view.checkpoint_clicked.connect(lambda index, k=k: self._clicked(k, index))
            view.failed.connect(self.failed)

    @property
    def camera(self) -> Camera:
        """Where the person looks from."""
        return self.views[0].camera()

    def set_camera(self, camera: Camera) -> None:
        """Look from elsewhere."""
        for view in self.views:
            view.set_camera(camera)

    def show_planes(self, shown: Shown, checkpoint: str) -> None:
        """Draw one or two planes with the marker at ``checkpoint``."""
        self._shown = shown
        self._pair.set_titles(shown.planes[0].title, shown.planes[1].title if len(shown.planes) > 1 else None)
        look = Look(self._theme, self.camera, checkpoint)
        for view, state in zip(self.views, shown_scenes(shown, look), strict=False):
            view.set_state(state)

    def states(self) -> tuple[SceneState, ...]:
        """What the visible views draw."""
        count = len(self._shown.planes) if self._shown is not None else 0
        drawn = (view.scene().state for view in self.views[:count])
        return tuple(state for state in drawn if state is not None)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours; the planes are drawn anew by the next ``show_planes``."""
        self._theme = theme
        self._pair.apply_theme(theme)

    def _hovered(self, k: int, point: object) -> None:
        self.pointed.emit(pointed_text(self._shown, k, point))

    def _moved(self, k: int, camera: Camera) -> None:
        self.views[1 - k].set_camera(camera)
        self.camera_changed.emit(camera)

    def _clicked(self, k: int, index: object) -> None:
        if self._shown is not None and k < len(self._shown.planes):
            self.picked.emit((self._shown.planes[k].id, index))


class ContourPane(QWidget):
    """Two ``ContourWidget`` with one range of colours.

    Signals:
        pointed: a sentence about the value under the pointer, or "".
        picked: (id of the plane, index of the checkpoint on its path).
    """

    pointed = Signal(object)
    picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._shown: Shown | None = None
        self.views = (ContourWidget(theme), ContourWidget(theme))
        self._pair = PlanePair(*self.views, theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pair)
        for k, view in enumerate(self.views):
            view.hovered.connect(lambda point, k=k: self._hovered(k, point))
            view.picked.connect(lambda index, k=k: self._clicked(k, index))

    def show_planes(self, session: Session, shown: Shown, checkpoint: str) -> None:
        """Draw one or two planes with the marker at ``checkpoint``."""
        self._shown = shown
        self._pair.set_titles(shown.planes[0].title, shown.planes[1].title if len(shown.planes) > 1 else None)
        for view, chart in zip(self.views, shown_charts(session, shown, checkpoint), strict=False):
            view.set_chart(chart)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self._pair.apply_theme(theme)
        for view in self.views:
            view.apply_theme(theme)

    def _hovered(self, k: int, point: object) -> None:
        self.pointed.emit(pointed_text(self._shown, k, point))

    def _clicked(self, k: int, index: object) -> None:
        if self._shown is not None and k < len(self._shown.planes):
            self.picked.emit((self._shown.planes[k].id, index))
