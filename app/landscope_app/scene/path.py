"""The training path over the surface: a line that follows it, a marker per checkpoint, faint where hidden."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from landscope_app.scene import gl
from landscope_app.scene.frame import Frame
from landscope_app.scene.heightfield import height_at
from landscope_app.scene.model import SceneState
from landscope_app.scene.ribbons import Markers, Ribbon, Stroke

Doubles = npt.NDArray[np.float64]

MOST_PIECES = 320  # of the draped line; each is one rectangle on the screen
LINE_LIFT, MARKER_LIFT = 0.02, 0.05  # world units towards the eye, over the surface they lie on
HIDDEN_OPACITY = 0.26
MARKER_RADIUS, CURRENT_RADIUS = 4.0, 7.5
CROWDED = 80  # with more checkpoints than this the ordinary markers shrink


@lru_cache(maxsize=4)
def checkpoint_points(state: SceneState) -> Doubles:
    """Return the checkpoints (M, 3) in data coordinates; a missing height is read from the surface.

    A checkpoint whose place in the plane is unknown keeps NaN coordinates and is not drawn. Heights that
    stay unknown (outside the plane, in a hole) are put on the box's floor; heights beyond the box are brought
    to its border, so that every checkpoint can be seen. Kept for the newest states and read-only.
    """
    if state.path is None:
        return np.empty((0, 3))
    points = np.array(state.path, float)
    surface = height_at(state.x, state.y, state.z, points[:, 0], points[:, 1])
    low, high = state.box.low[2], state.box.high[2]
    heights = np.where(np.isnan(points[:, 2]), surface, points[:, 2])
    points[:, 2] = np.clip(np.where(np.isnan(heights), low, heights), low, high)
    points.setflags(write=False)
    return points


def draped_line(state: SceneState, points: Doubles) -> Doubles:
    """Return the line (K, 3) through the checkpoints that keeps its height over the surface in between.

    The offset from the surface runs linearly from one checkpoint to the next; where the surface is unknown
    the line is straight.
    """
    if len(points) < 2 or not state.drape:
        return points
    cell = np.array([np.ptp(state.x) / (state.x.size - 1), np.ptp(state.y) / (state.y.size - 1)])
    lengths = np.linalg.norm(np.diff(points[:, :2], axis=0) / cell, axis=1)
    pieces = np.maximum(1, np.ceil(lengths * min(1.25, MOST_PIECES / max(lengths.sum(), 1e-9)))).astype(int)
    at = np.concatenate([k + np.arange(n) / n for k, n in enumerate(pieces)] + [[float(len(pieces))]])
    knots = np.arange(len(points))
    line = np.stack([np.interp(at, knots, points[:, axis]) for axis in range(3)], axis=1)
    at_knots = height_at(state.x, state.y, state.z, points[:, 0], points[:, 1])
    sag = height_at(state.x, state.y, state.z, line[:, 0], line[:, 1]) - np.interp(at, knots, at_knots)
    line[:, 2] += np.where(np.isfinite(sag), sag, 0.0)
    line[:, 2] = np.clip(line[:, 2], state.box.low[2], state.box.high[2])
    return line


class Path:
    """The drawn path of one OpenGL context."""

    def __init__(self) -> None:
        self._line = Ribbon(connected=True)
        self._markers = Markers()
        self._state: SceneState | None = None
        self._shown: npt.NDArray[np.intp] = np.empty(0, np.intp)

    def set_state(self, state: SceneState) -> None:
        """Drape the line again when the path, the surface or the box has changed."""
        last, self._state = self._state, state
        if last is not None and state.path is last.path and state.z is last.z and state.box == last.box:
            return
        points = checkpoint_points(state)
        self._shown = np.flatnonzero(np.isfinite(points).all(axis=1))
        points = points[self._shown]
        self._markers.set_points(state.box.to_world(points))
        self._line.set_points(state.box.to_world(draped_line(state, points)))

    def draw(self, frame: Frame) -> None:
        """Draw what is hidden faintly, then what is seen; depth is tested and not written."""
        if self._state is None or self._shown.size == 0:
            return
        gl.glDepthFunc(gl.GL_GREATER)
        self._draw_once(frame, HIDDEN_OPACITY)
        gl.glDepthFunc(gl.GL_LEQUAL)
        self._draw_once(frame, 1.0)

    def release(self) -> None:
        """Delete everything of this path; its context must be current."""
        self._line.release()
        self._markers.release()

    def _draw_once(self, frame: Frame, opacity: float) -> None:
        assert self._state is not None
        theme, chosen = self._state.theme, np.flatnonzero(self._shown == self._state.current)
        current = int(chosen[0]) if chosen.size else None
        stroke = Stroke(theme.path, 2.6, theme.halo, 1.6)
        shrunk = min(1.0, max(0.55, min(frame.width, frame.height) / 420))
        radius = shrunk * (MARKER_RADIUS if self._shown.size <= CROWDED else 2.2)
        self._line.draw(frame, stroke, LINE_LIFT, opacity)
        colours = (theme.marker, theme.rim, theme.accent)
        self._markers.draw(frame, colours, (radius, shrunk * CURRENT_RADIUS), current, MARKER_LIFT, opacity)
