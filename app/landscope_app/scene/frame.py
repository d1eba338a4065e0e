"""What is the same for everything drawn in one picture: size, matrix, eye and lamp."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from landscope_app.scene.model import SceneState
from landscope_app.state.camera import Camera

Matrix = npt.NDArray[np.float64]

LAMP = (-0.42, 0.62, 0.66)  # right, up, back: over the person's left shoulder


@dataclass(frozen=True)
class Insets:
    """Logical pixels around the scene that labels and the colour bar need."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, state: SceneState, width: float, height: float) -> Insets:
        """Choose the insets for a picture; small pictures give up less room."""
        bar = min(96.0, 0.2 * width) if state.show_colour_bar else 0.0
        if not state.show_axes:
            return cls(0.0, 0.0, bar, 0.0)
        side = min(46.0, 0.09 * width)
        return cls(side, min(16.0, 0.04 * height), max(bar, side), min(40.0, 0.09 * height))


@dataclass(frozen=True)
class Frame:
    """One picture of a scene.

    Attributes:
        camera: where the person looks from.
        width, height: logical pixels.
        pixel: device pixels per logical pixel; widths of lines and text grow with it.
        insets: room left around the scene.
        jitter: shift of the whole picture in device pixels, for smoothing over several passes.
    """

    camera: Camera
    width: float
    height: float
    pixel: float
    insets: Insets
    jitter: tuple[float, float] = (0.0, 0.0)

    @property
    def device_size(self) -> tuple[int, int]:
        """Return width and height in device pixels."""
        # Halves go up, as in Qt; Python's own rounding takes the even neighbour.
        return max(1, int(self.width * self.pixel + 0.5)), max(1, int(self.height * self.pixel + 0.5))

    @cached_property
    def _inner(self) -> tuple[float, float]:
        """Return width and height of the scene within its insets, in logical pixels."""
        width = self.width - self.insets.left - self.insets.right
        return max(1.0, width), max(1.0, self.height - self.insets.top - self.insets.bottom)

    @cached_property
    def steady_matrix(self) -> Matrix:
        """Return the (4, 4) matrix from world to clip coordinates, without the jitter."""
        width, height = self._inner
        place = np.diag([width / self.width, height / self.height, 1.0, 1.0])
        place[0, 3] = (self.insets.left - self.insets.right) / self.width
        place[1, 3] = (self.insets.bottom - self.insets.top) / self.height
        return np.asarray(place @ self.camera.projection(width / height) @ self.camera.view())

    @property
    def world_per_pixel(self) -> float:
        """Return the world units that a logical pixel covers at the camera's target."""
        width, height = self._inner
        across = float(self.camera.projection(width / height)[0, 0])
        return 2.0 * (1.0 if self.camera.orthographic else self.camera.distance) / (across * width)

    @cached_property
    def matrix(self) -> Matrix:
        """Return the (4, 4) matrix from world to clip coordinates, jitter included."""
        matrix = self.steady_matrix.copy()
        width, height = self.device_size
        matrix[0] += 2 * self.jitter[0] / width * matrix[3]
        matrix[1] += 2 * self.jitter[1] / height * matrix[3]
        return matrix

    @cached_property
    def eye(self) -> tuple[float, float, float, float]:
        """Return the eye with w = 1, or with w = 0 the direction towards it (parallel projection)."""
        if self.camera.orthographic:
            x, y, z = self.camera.axes()[2]
            return float(x), float(y), float(z), 0.0
        x, y, z = self.camera.eye()
        return float(x), float(y), float(z), 1.0

    @cached_property
    def lamp(self) -> tuple[Matrix, Matrix]:
        """Return the unit vectors towards the lamp and half way between lamp and eye."""
        right, up, back = self.camera.axes()
        light = _unit(LAMP[0] * right + LAMP[1] * up + LAMP[2] * back)
        # A lamp that turned fully with the eye would leave the surface flat from straight above.
        light = _unit(light + np.array([0.0, 0.0, 0.35]))
        return light, _unit(light + back)

    def on_screen(self, points: npt.ArrayLike) -> Matrix:
        """Project world points (..., 3) to logical pixels (..., 2), y downwards; NaN behind the eye."""
        world = np.asarray(points, float)
        clip = world @ self.steady_matrix[:, :3].T + self.steady_matrix[:, 3]
        depth = np.where(clip[..., 3:] > 1e-6, clip[..., 3:], np.nan)
        plane = clip[..., :2] / depth
        return np.asarray((plane * [0.5, -0.5] + 0.5) * [self.width, self.height])

    def ray(self, px: float, py: float) -> tuple[Matrix, Matrix]:
        """Return the world points (3,) on the near and far plane under a logical pixel."""
        plane = np.array([2 * px / self.width - 1, 1 - 2 * py / self.height])
        inverse = np.linalg.inv(self.steady_matrix)
        near, far = (inverse @ np.array([*plane, depth, 1.0]) for depth in (-1.0, 1.0))
        return near[:3] / near[3], far[:3] / far[3]

    def jittered(self, right: float, up: float) -> Frame:
        """Return the same picture shifted by a part of a device pixel."""
        return replace(self, jitter=(right, up))


def _unit(vector: Matrix) -> Matrix:
    return np.asarray(vector / np.linalg.norm(vector))
