"""Where the person looks from: an orbiting camera without any toolkit, with its matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

NEAREST, FARTHEST = 0.4, 60.0  # world units; the drawn box has half width 1
WIDE = 1.25  # the box is wider than high on the screen: narrower pictures are fitted by their width
SCENE_RADIUS = 2.2  # a sphere that holds the box with its labels' anchor points


@dataclass(frozen=True)
class Camera:
    """An orbit around `target`, in world units (the drawn box spans −1…1 in x and y).

    The axes of the view come from the two angles, never from an "up" vector that is crossed with the viewing
    direction: straight down and straight up are ordinary places, the orbit does not lock there.

    Attributes:
        azimuth: degrees around the vertical axis; −90 looks along +y, with x to the right.
        elevation: degrees above the floor, −90 … 90.
        distance: from the target, in world units.
        target: the point in the middle of the picture.
        fov: opening angle in degrees over the height of a wide picture; narrow ones are fitted by width.
        orthographic: parallel projection, of the same size as the perspective one at the target.
    """

    azimuth: float = -124.0
    elevation: float = 27.0
    distance: float = 5.1
    target: tuple[float, float, float] = (0.0, 0.0, -0.12)
    fov: float = 30.0
    orthographic: bool = False

    def axes(self) -> tuple[Matrix, Matrix, Matrix]:
        """Return the unit vectors to the right, up and back (towards the eye), each (3,)."""
        a, e = np.radians(self.azimuth), np.radians(self.elevation)
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        up = np.array([-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)])
        back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        return right, up, back

    def eye(self) -> Matrix:
        """Return the position of the eye, (3,) in world units."""
        return np.asarray(self.target, float) + self.distance * self.axes()[2]

    def view(self) -> Matrix:
        """Return the (4, 4) matrix from world to eye coordinates (column vectors, eye looks along −z)."""
        matrix = np.eye(4)
        matrix[:3, :3] = np.stack(self.axes())
        matrix[:3, 3] = -matrix[:3, :3] @ self.eye()
        return matrix

    def projection(self, aspect: float) -> Matrix:
        """Return the (4, 4) matrix from eye to clip coordinates; `aspect` is the picture's width / height."""
        tangent = np.tan(np.radians(self.fov) / 2)
        across = (1 / tangent) / max(aspect, WIDE)
        upward = across * aspect
        reach = SCENE_RADIUS + float(np.linalg.norm(self.target))
        near, far = max(self.distance - reach, 0.02 * self.distance), self.distance + reach
        if self.orthographic:
            near = self.distance - reach  # parallel rays see behind the eye as well
            return _orthographic(across / self.distance, upward / self.distance, near, far)
        return _perspective(across, upward, near, far)

    def orbit(self, azimuth: float, elevation: float) -> Camera:
        """Turn by degrees; the elevation stops at straight up and straight down."""
        tilted = min(90.0, max(-90.0, self.elevation + elevation))
        return replace(self, azimuth=_wrapped(self.azimuth + azimuth), elevation=tilted)

    def pan(self, right: float, up: float) -> Camera:
        """Move what is seen by world units to the right and up, as if held by the hand."""
        across, upward, _ = self.axes()
        moved = np.asarray(self.target) - (right * across + up * upward)
        x, y, z = (float(v) for v in np.clip(moved, -3.0, 3.0))
        return replace(self, target=(x, y, z))

    def zoom(self, factor: float) -> Camera:
        """Come closer by `factor` (2 halves the distance), within sensible bounds."""
        return replace(self, distance=min(FARTHEST, max(NEAREST, self.distance / factor)))

    def looking_at(self, target: tuple[float, float, float]) -> Camera:
        """Put another world point in the middle of the picture."""
        return replace(self, target=target)

    def toggled_projection(self) -> Camera:
        """Change between perspective and parallel projection."""
        return replace(self, orthographic=not self.orthographic)

    def towards(self, other: Camera, fraction: float) -> Camera:
        """Blend into `other` (0 … 1) along the shorter way around; the projection is the other's."""
        turn = _wrapped(other.azimuth - self.azimuth)
        x, y, z = (a + (b - a) * fraction for a, b in zip(self.target, other.target, strict=True))
        return Camera(
            azimuth=_wrapped(self.azimuth + turn * fraction),
            elevation=self.elevation + (other.elevation - self.elevation) * fraction,
            distance=float(self.distance * (other.distance / self.distance) ** fraction),
            target=(x, y, z),
            fov=self.fov + (other.fov - self.fov) * fraction,
            orthographic=other.orthographic,
        )

    def turntable(self, frames: int) -> Iterator[Camera]:
        """Yield `frames` cameras in equal steps around the vertical axis; the next one would be the first."""
        for k in range(frames):
            yield replace(self, azimuth=_wrapped(self.azimuth + 360.0 * k / frames))

    def to_dict(self) -> dict[str, object]:
        """Return plain values for a session file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Camera:
        """Read what `to_dict` wrote; missing names keep their defaults, non-finite values are refused.

        Raises:
            ValueError: when a value is no finite number or out of its bounds.
        """
        camera = cls()
        numbers = {
            name: float(str(values.get(name, getattr(camera, name))))
            for name in ("azimuth", "elevation", "distance", "fov")
        }
        target = np.asarray(values.get("target", camera.target), float)
        if target.shape != (3,) or not np.isfinite([*numbers.values(), *target]).all():
            raise ValueError(
                "The stored camera has a value that is no finite number; use the reset view instead."
            )
        if not (numbers["distance"] > 0 and 1 <= numbers["fov"] <= 120):
            raise ValueError("The stored camera has no usable distance or angle; use the reset view instead.")
        point = (float(target[0]), float(target[1]), float(target[2]))
        return cls(**numbers, target=point, orthographic=bool(values.get("orthographic", False))).orbit(0, 0)


RESET = Camera()
# Along an axis a parallel projection reads like a drawing; the others are perspective.
PRESETS: dict[str, Camera] = {
    "front": replace(RESET, azimuth=-90.0, elevation=0.0, target=(0.0, 0.0, 0.0), orthographic=True),
    "side": replace(RESET, azimuth=0.0, elevation=0.0, target=(0.0, 0.0, 0.0), orthographic=True),
    "top": replace(RESET, azimuth=-90.0, elevation=90.0, target=(0.0, 0.0, 0.0), orthographic=True),
    "diagonal": replace(RESET, azimuth=-135.0, elevation=35.264, distance=5.4),
    "reset": RESET,
}
PRESET_KEYS = {"1": "front", "3": "side", "7": "top", "9": "diagonal", "0": "reset"}


def _wrapped(angle: float) -> float:
    return (angle + 180.0) % 360.0 - 180.0


def _perspective(across: float, upward: float, near: float, far: float) -> Matrix:
    matrix = np.zeros((4, 4))
    matrix[0, 0], matrix[1, 1] = across, upward
    matrix[2, 2], matrix[2, 3] = (far + near) / (near - far), 2 * far * near / (near - far)
    matrix[3, 2] = -1.0
    return matrix


def _orthographic(across: float, upward: float, near: float, far: float) -> Matrix:
    matrix = np.eye(4)
    matrix[0, 0], matrix[1, 1] = across, upward
    matrix[2, 2], matrix[2, 3] = 2 / (near - far), (far + near) / (near - far)
    return matrix
