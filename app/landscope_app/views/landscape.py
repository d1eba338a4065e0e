"""The loss landscape: a surface that turns, a map, or a line, of the current run or of two side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout

from landscope.contract import deltas as d
from landscope.contract.errors import LandscopeError
from landscope_app.plots.charts import Chart
from landscope_app.plots.landscape_chart import (
    LINE_EMPTY,
    PLANE_EMPTY,
    line_chart,
    metrics_of_plane,
    plane_note,
    plane_title,
)
from landscope_app.plots.lines import LineProfile
from landscope_app.state.camera import Camera
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection, settled
from landscope_app.theme.colors import Theme
from landscope_app.views.choosing import choose
from landscope_app.views.display_bar import DisplayBar
from landscope_app.views.labels import Hint, Note
from landscope_app.views.pictured import Pictured
from landscope_app.views.plane_views import ContourPane, SurfacePane
from landscope_app.views.shown_planes import Look, Shown, prepare, shown_charts

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from landscope_app.plots.contours import ContourWidget
    from landscope_app.scene.model import SceneState

Kind = Literal["surface", "contour", "line"]
NO_GL = "OpenGL 3.3 is not available here, so planes are shown as contour maps."


class LandscapeView(Pictured):
    """Shows the plane or line of the selection.

    Signals:
        kind_changed: ``surface``, ``contour`` or ``line`` as now shown.
        camera_changed: the new ``Camera``.
        notice: a sentence a person should read (no OpenGL), once.
    """

    follows = frozenset({"run", "checkpoint", "plane", "line", "metric"})
    kind_changed = Signal(object)
    camera_changed = Signal(object)
    notice = Signal(object)

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self._kind: Kind = "surface"
        self._camera = Camera()
        self._surface: SurfacePane | None = None
        self._has_gl: bool | None = None
        self._beside = ""
        self.bar = DisplayBar()
        self.hint, self._contours, self._line = (
            Hint(theme, PLANE_EMPTY),
            ContourPane(theme),
            LineProfile(theme),
        )
        self.readout = Note(theme, "Value under the pointer, or how it was computed")
        self._note = ""
        self._pages = QStackedWidget()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        for page in (self.hint, self._contours, self._line):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self._pages, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 3, 12, 3)
        foot.addWidget(self.readout)
        layout.addLayout(foot)

    def _connect(self) -> None:
        self.bar.result_chosen.connect(self._choose_result)
        self.bar.changed.connect(self._display_changed)
        self._contours.pointed.connect(self._point)
        self._contours.picked.connect(self._picked)

    # What the window calls.

    @property
    def kind(self) -> Kind:
        """What is shown: without OpenGL a surface is a contour map."""
        return "contour" if self._kind == "surface" and self._has_gl is False else self._kind

    def show_kind(self, kind: Kind) -> None:
        """Show the surface, the contour map or the line."""
        self._kind = kind
        if kind == "surface":
            self._make_surface()
        self.kind_changed.emit(self.kind)
        self.invalidate()

    @property
    def camera(self) -> Camera:
        """Where the person looks from."""
        return self._surface.camera if self._surface is not None else self._camera

    def set_camera(self, camera: Camera) -> None:
        """Look from elsewhere."""
        self._camera = camera
        if self._surface is not None:
            self._surface.set_camera(camera)

    def show_preset(self, name: str) -> None:
        """Go to "front", "side", "top", "diagonal" or "reset"."""
        if self._surface is not None:
            self._surface.views[0].show_preset(name)

    def toggle_projection(self) -> None:
        """Change between perspective and parallel projection."""
        if self._surface is not None:
            self._surface.views[0].toggle_projection()

    def compare(self, plane: str) -> None:
        """Show another plane beside the current one on one scale; "" shows one alone."""
        self._beside = plane
        self.invalidate()

    def view_state(self) -> dict[str, Any]:
        """What a session keeps of this view."""
        return {
            "kind": self._kind,
            "camera": self.camera.to_dict(),
            **self.bar.state(),
            "beside": self._beside,
        }

    def restore_view(self, state: dict[str, Any]) -> None:
        """Take back what ``view_state`` gave; what is missing or unusable is left as it is."""
        if isinstance(state.get("camera"), dict):
            try:
                self.set_camera(Camera.from_dict(state["camera"]))
            except (ValueError, TypeError):
                self.set_camera(Camera())
        for name, choice in (("scale", self.bar.scale), ("colour_map", self.bar.colours)):
            index = choice.findData(state.get(name))
            if index >= 0:
                choice.setCurrentIndex(index)
        self._beside = str(state.get("beside", ""))
        if state.get("kind") in ("surface", "contour", "line"):
            self.show_kind(state["kind"])

    @property
    def picture_title(self) -> str:
        """What its picture shows."""
        return "the line" if self.kind == "line" else "the landscape"

    @property
    def vector(self) -> bool:
        """Whether it can be written as SVG and PDF, too: the surface cannot."""
        return self.kind != "surface"

    def picture(self, width: int, height: int, transparent: bool = False) -> QImage:
        """What is shown now as an image of any size (device pixels).

        Raises:
            LandscopeError: there is nothing to show yet, or nothing here can draw it.
        """
        if self.kind != "surface":
            return super().picture(width, height, transparent)
        from landscope_app.export.surface import surface_image

        return surface_image(self._shown_or_refuse(), self._look(), width, height, transparent)

    def export_image(self, path: str, width: int, height: int, transparent: bool = False) -> None:
        """Write what is shown now to ``path`` (png; contour and line also svg and pdf).

        Raises:
            LandscopeError: there is nothing to show yet, or it cannot be drawn or written.
        """
        if self.kind != "surface":
            super().export_image(path, width, height, transparent)
            return
        from landscope_app.export.surface import save_surface

        save_surface(self._shown_or_refuse(), self._look(), Path(path), width, height, transparent)

    def charts(self) -> tuple[Chart, ...]:
        """The contour maps or the line as now shown, for two-dimensional exports.

        Raises:
            LandscopeError: there is nothing to show yet.
        """
        if self.kind == "line":
            chart = line_chart(self.document.session, self.line_id, self.bar.display.scale == "log")
            if not chart.series:
                raise LandscopeError(f"There is no line to export yet. {LINE_EMPTY}")
            return (chart,)
        return shown_charts(self.document.session, self._shown_or_refuse(), self.selection.checkpoint)

    def _shown_or_refuse(self) -> Shown:
        shown = self.shown()
        if shown is None:
            raise LandscopeError(f"There is no plane to export yet. {PLANE_EMPTY}")
        return shown

    def _look(self) -> Look:
        return Look(self.theme, self.camera, self.selection.checkpoint)

    @property
    def shown_page(self) -> str:
        """What can be seen: ``surface``, ``contour``, ``line``, or ``hint`` while there is nothing."""
        pages = {id(self.hint): "hint", id(self._contours): "contour", id(self._line): "line"}
        return pages.get(id(self._pages.currentWidget()), "surface")

    def surface_states(self) -> tuple[SceneState, ...]:
        """What the visible 3-D views draw."""
        return self._surface.states() if self._surface is not None else ()

    def surface_cameras(self) -> tuple[Camera, ...]:
        """The cameras of both 3-D views; they are always the same."""
        return tuple(view.camera() for view in self._surface.views) if self._surface is not None else ()

    def contour_widgets(self) -> tuple[ContourWidget, ...]:
        """Both maps; the second is hidden until something is compared."""
        return self._contours.views

    # What is drawn.

    def concerns(self, delta: d.AnyDelta) -> bool:
        """Planes and lines."""
        kinds = (
            d.PlaneOpened | d.PlanePoints | d.PlaneLevel | d.TrajectoryMeasured | d.LineOpened | d.LinePoints
        )
        return isinstance(delta, kinds)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.hint, self._contours, self._line, self.readout):
            part.apply_theme(theme)
        if self._surface is not None:
            self._surface.apply_theme(theme)
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Draw what the selection names, or say what will be here."""
        if self._kind == "surface":
            self._make_surface()
        self._offer()
        if self.kind == "line":
            self._draw_line()
        else:
            self._draw_planes()

    def shown(self) -> Shown | None:
        """The planes as drawn now."""
        beside = (self._beside,) if self._beside != self.plane_id else ()
        display = replace(self.bar.display, metric=self.selection.metric)
        return prepare(self.document.session, (self.plane_id, *beside), display)

    @property
    def plane_id(self) -> str:
        """The plane shown: the selected one, else the run's first."""
        return settled(self.selection.chosen, self.document.session).plane

    @property
    def line_id(self) -> str:
        """The line shown: the selected one, else the run's first."""
        return settled(self.selection.chosen, self.document.session).line

    def _draw_planes(self) -> None:
        shown = self.shown()
        plane = self.document.session.planes.get(self.plane_id)
        self._set_note(plane_note(plane, self.selection.metric) if plane is not None else "")
        if shown is None:
            self._say(PLANE_EMPTY)
        elif self.kind == "surface" and self._surface is not None:
            self._surface.show_planes(shown, self.selection.checkpoint)
            self._pages.setCurrentWidget(self._surface)
        else:
            self._contours.show_planes(self.document.session, shown, self.selection.checkpoint)
            self._pages.setCurrentWidget(self._contours)

    def _draw_line(self) -> None:
        chart = line_chart(self.document.session, self.line_id, self.bar.display.scale == "log")
        self._set_note(chart.note)
        if not chart.series:
            self._say(LINE_EMPTY)
            return
        self._line.set_chart(replace(chart, note=""))
        self._pages.setCurrentWidget(self._line)

    def _set_note(self, note: str) -> None:
        """What stands at the foot while nothing is pointed at."""
        if self.readout.whole in ("", self._note) or self.kind == "line":
            self.readout.set_note(note)
        self._note = note

    def _point(self, sentence: object) -> None:
        self.readout.set_note(sentence or self._note)

    def _say(self, sentence: str) -> None:
        self.hint.setText(sentence)
        self._pages.setCurrentWidget(self.hint)

    def _offer(self) -> None:
        session, bar = self.document.session, self.bar
        planes = [(plane_title(p), name) for name, p in session.planes.items()]
        if self.kind == "line":
            lines = [(f"{one.opened.run} · {one.opened.title}", name) for name, one in session.lines.items()]
            bar.offer(bar.result, lines, self.line_id)
        else:
            bar.offer(bar.result, planes, self.plane_id)
        others = [item for item in planes if item[1] != self.plane_id]
        bar.offer(
            bar.beside, [("alone", ""), *((f"beside {title}", name) for title, name in others)], self._beside
        )
        current = session.planes.get(self.plane_id)
        metrics = metrics_of_plane(current) if current is not None else ()
        bar.offer(bar.value, [(m, m) for m in metrics or ("loss",)], self.selection.metric)
        bar.show_for(self.kind, comparable=bool(others))

    def _display_changed(self) -> None:
        self._beside = str(self.bar.beside.currentData() or "")
        self.selection.set(metric=self.bar.display.metric)
        self.invalidate()

    def _choose_result(self, name: object) -> None:
        session, key = self.document.session, str(name)
        result = session.lines.get(key) if self.kind == "line" else session.planes.get(key)
        if result is None:
            return
        field = {"line": key} if self.kind == "line" else {"plane": key}
        chosen = replace(self.selection.chosen, run=result.opened.run, **field)
        self.selection.restore(settled(chosen, session))

    def _picked(self, found: object) -> None:
        if not isinstance(found, tuple):
            return
        plane, index = self.document.session.planes.get(str(found[0])), int(found[1])
        path = plane.trajectories.get(plane.opened.run) if plane is not None else None
        if plane is not None and path is not None and index < len(path.checkpoints):
            choose(self.selection, self.document.session, plane.opened.run, path.checkpoints[index])

    def _make_surface(self) -> None:
        """Make the OpenGL view when it is first needed; without OpenGL say so once."""
        if self._has_gl is not None:
            return
        from landscope_app.scene.probe import probe_gl

        info = probe_gl()
        self._has_gl = info is not None
        if info is None:
            self.notice.emit(NO_GL)
            self.kind_changed.emit(self.kind)
            return
        self._surface = SurfacePane(self.theme, info)
        self._surface.set_camera(self._camera)
        self._surface.pointed.connect(self._point)
        self._surface.picked.connect(self._picked)
        self._surface.camera_changed.connect(self.camera_changed)
        self._surface.failed.connect(self._lose_gl)
        self._pages.addWidget(self._surface)

    def _lose_gl(self, sentence: object) -> None:
        self._has_gl = False
        self.notice.emit(f"{sentence} {NO_GL}")
        self.kind_changed.emit(self.kind)
        self.invalidate()
