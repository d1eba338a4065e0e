"""One or two planes as shown together: prepared once, drawn as surfaces, maps or sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace

from landscope.session.dense import DenseSurface
from landscope.session.model import SAMPLED, Plane, Session
from landscope_app.plots.charts import FieldChart
from landscope_app.plots.landscape_chart import Display, dense, field_chart, is_log, plane_title
from landscope_app.plots.readout import readout
from landscope_app.scene.model import SceneState
from landscope_app.state.camera import Camera
from landscope_app.theme.colors import Theme
from landscope_app.views.scene_state import common_limits, scene_state


@dataclass(frozen=True, eq=False)
class ShownPlane:
    """A plane with its dense values, ready to be drawn."""

    id: str
    plane: Plane
    surface: DenseSurface
    title: str


@dataclass(frozen=True, eq=False)
class Shown:
    """One or two planes, drawn with the same display: one scale, one range of colours."""

    planes: tuple[ShownPlane, ...]
    display: Display
    log: bool


def prepare(session: Session, ids: tuple[str, ...], display: Display) -> Shown | None:
    """Interpolate the planes that have points; None where none has. Two planes share scale and limits."""
    planes = [
        (name, session.planes[name])
        for name in ids
        if name in session.planes and (session.planes[name].state == SAMPLED).any()
    ]
    if not planes:
        return None
    if not all(display.metric in plane.values for _, plane in planes):
        display = replace(display, metric="loss")
    log = any(is_log(plane, display) for _, plane in planes)
    shown = tuple(
        ShownPlane(name, plane, dense(plane, display, log), plane_title(plane)) for name, plane in planes
    )
    limits = common_limits([s.surface for s in shown]) if len(shown) > 1 else None
    return Shown(shown, replace(display, limits=display.limits or limits), log)


@dataclass(frozen=True)
class Look:
    """How planes are looked at: colours, from where, and which checkpoint is marked."""

    theme: Theme
    camera: Camera
    checkpoint: str = ""


def shown_scenes(shown: Shown, look: Look) -> tuple[SceneState, ...]:
    """What the 3-D scene draws, one state per plane."""
    return tuple(
        scene_state(one.plane, look.theme, look.checkpoint, shown.display, one.surface, shown.log)
        for one in shown.planes
    )


def shown_charts(session: Session, shown: Shown, checkpoint: str) -> tuple[FieldChart, ...]:
    """The maps, one per plane."""
    charts = (
        field_chart(session, one.id, checkpoint, shown.display, shown.log, one.surface)
        for one in shown.planes
    )
    return tuple(chart for chart in charts if chart is not None)


def pointed_text(shown: Shown | None, k: int, point: object) -> str:
    """The readout of plane ``k`` at (alpha, beta, …); "" for None."""
    if shown is None or k >= len(shown.planes) or not isinstance(point, tuple):
        return ""
    one = shown.planes[k]
    return readout(one.plane, one.surface, shown.display, shown.log, float(point[0]), float(point[1]))
