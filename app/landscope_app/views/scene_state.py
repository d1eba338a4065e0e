"""A plane as the 3-D scene shows it: the one function behind the window and the rendered pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from landscope.session.dense import DenseSurface
from landscope.session.model import Plane
from landscope_app.plots.landscape_chart import Display, dense, is_log, plane_limits, value_title
from landscope_app.scene.model import DARK, LIGHT, SceneState, SceneTheme
from landscope_app.theme.colors import Theme


def scene_theme(theme: Theme) -> SceneTheme:
    """The colours of the scene that go with a theme of the window."""
    base = DARK if theme.is_dark else LIGHT
    return replace(base, background=theme.panel, text=theme.muted, title=theme.text, accent=theme.accent)


def scene_state(
    plane: Plane,
    theme: Theme,
    checkpoint: str = "",
    display: Display | None = None,
    surface: DenseSurface | None = None,
    log: bool | None = None,
) -> SceneState:
    """What the scene draws.

    Args:
        plane: with at least one measured point.
        theme: of the window.
        checkpoint: the one highlighted on the path of the plane's own run.
        display: metric, scale, colours.
        surface: the dense values if they are known already.
        log: the decision about the scale if it was taken already (linked views share one).
    """
    display = display or Display()
    log = is_log(plane, display) if log is None else log
    surface = surface if surface is not None else dense(plane, display, log)
    limits = display.limits or plane_limits(surface.z)
    names, path = plane_path(plane)
    return SceneState(
        x=surface.alpha,
        y=surface.beta,
        z=np.asarray(surface.z, np.float32),
        z_limits=padded(limits) if display.limits is not None else None,
        colour_limits=limits,
        colour_map=display.colour_map or theme.colormap,
        title_x=plane.opened.axis_titles[0],
        title_y=plane.opened.axis_titles[1],
        title_z=value_title(display.metric, log),
        title_colour=value_title(display.metric, log),
        log_scale=log,
        path=path,
        path_labels=names,
        current=names.index(checkpoint) if checkpoint in names else None,
        contour_count=display.contours,
        theme=scene_theme(theme),
        font_family=theme.font,
    )


def plane_path(plane: Plane) -> tuple[tuple[str, ...], NDArray[np.float64] | None]:
    """Names and (M, 3) points of the path of the plane's own run; heights are left to the surface (NaN)."""
    found = plane.trajectories.get(plane.opened.run)
    if found is None or not len(found.checkpoints):
        return (), None
    coordinates = np.asarray(found.coordinates, float)
    return found.checkpoints, np.column_stack([coordinates, np.full(len(coordinates), np.nan)])


def padded(limits: tuple[float, float]) -> tuple[float, float]:
    """The height of the box for given limits: a little air below and above."""
    low, high = limits
    span = high - low if high > low else abs(low) or 1.0
    return low - 0.1 * span, high + 0.03 * span


def common_limits(surfaces: list[DenseSurface]) -> tuple[float, float]:
    """One range for several surfaces, so that equal heights have equal colours."""
    ranges = [plane_limits(s.z) for s in surfaces]
    return min(r[0] for r in ranges), max(r[1] for r in ranges)
