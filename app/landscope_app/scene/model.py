"""What the scene shows, as plain values: the surface, its path, its titles and its colours."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]

FLOOR_GAP, CEILING_GAP = 0.10, 0.03  # empty height under and over the surface, as a share of its own


@dataclass(frozen=True)
class SceneTheme:
    """Colours of the scene as `#rrggbb` (or `#aarrggbb`), one set for dark and one for light."""

    background: str
    wall: str
    grid: str
    frame: str
    text: str
    title: str
    accent: str
    path: str
    halo: str
    marker: str
    rim: str


DARK = SceneTheme(
    background="#1b1e25",
    wall="#20242c",
    grid="#343b48",
    frame="#5d6675",
    text="#a3acbb",
    title="#e3e7ee",
    accent="#5aa9ff",
    path="#ff6b5e",
    halo="#c814161b",
    marker="#ffffff",
    rim="#14161b",
)
LIGHT = SceneTheme(
    background="#ffffff",
    wall="#f7f8fb",
    grid="#dde2ea",
    frame="#98a2b3",
    text="#5b6577",
    title="#1d2430",
    accent="#2563eb",
    path="#d92d20",
    halo="#e6ffffff",
    marker="#ffffff",
    rim="#1d2430",
)


@dataclass(frozen=True, eq=False)
class SceneState:
    """Everything that a picture of a plane needs, apart from the camera; arrays are never changed in place.

    Attributes:
        x: (nx,) coordinates along direction one, strictly increasing.
        y: (ny,) coordinates along direction two, strictly increasing.
        z: (nx, ny) heights, already in the displayed transform (log10, clipped …); NaN and inf are holes.
        z_limits: bottom and top of the box; None takes the finite heights. What lies outside is cut off.
        colour_limits: values at the ends of the colour map; None takes the finite heights.
        colour_map: a name that `cmap` knows.
        log_scale: heights are log10 of the value; ticks then read 0.1, 1, 10 ….
        path: (M, 3) checkpoints as x, y, z in the displayed transform; a NaN height is put on the surface.
        path_labels: one text per checkpoint, or none at all.
        current: index of the highlighted checkpoint in `path`.
        drape: the line between checkpoints follows the surface instead of cutting through it.
        contour_count: about how many contour lines; 0 draws none.
        aspect: half widths of the drawn box in world units.
    """

    x: Floats
    y: Floats
    z: Floats
    z_limits: tuple[float, float] | None = None
    colour_limits: tuple[float, float] | None = None
    colour_map: str = "viridis"
    title_x: str = "direction α"
    title_y: str = "direction β"
    title_z: str = "loss"
    title_colour: str = "loss"
    log_scale: bool = False
    path: Floats | None = None
    path_labels: tuple[str, ...] = ()
    current: int | None = None
    drape: bool = True
    contour_count: int = 16
    show_floor: bool = False
    show_axes: bool = True
    show_colour_bar: bool = True
    aspect: tuple[float, float, float] = (1.0, 1.0, 0.62)
    theme: SceneTheme = field(default=DARK)
    font_family: str = "Inter"

    def __post_init__(self) -> None:
        """Refuse shapes that cannot be drawn.

        Raises:
            ValueError: when the arrays do not fit together or an axis does not increase.
        """
        nx, ny = np.size(self.x), np.size(self.y)
        if nx < 2 or ny < 2 or np.shape(self.z) != (nx, ny):
            raise ValueError(
                f"The surface has heights of shape {np.shape(self.z)}, but {nx} and {ny} coordinates; "
                "give at least two along each, and one height for every pair."
            )
        if not (np.all(np.diff(self.x) > 0) and np.all(np.diff(self.y) > 0)):
            raise ValueError("The coordinates of a surface must increase strictly along both axes.")
        if self.path is not None and (np.ndim(self.path) != 2 or np.shape(self.path)[1] != 3):
            raise ValueError(f"The path must have the shape (M, 3), not {np.shape(self.path)}.")

    @cached_property
    def data_limits(self) -> tuple[float, float]:
        """Return the lowest and highest finite height; (0, 1) where there is none."""
        finite = self.z[np.isfinite(self.z)]
        if finite.size == 0:
            return 0.0, 1.0
        return float(finite.min()), float(finite.max())

    @cached_property
    def colour_range(self) -> tuple[float, float]:
        """Return the values at the ends of the colour map, never equal."""
        return _widened(*(self.colour_limits or self.data_limits))

    @cached_property
    def box(self) -> Box:
        """Return the mapping between data and the drawn box."""
        if self.z_limits is None:
            low, high = _widened(*self.data_limits)
            span = high - low
            low, high = low - FLOOR_GAP * span, high + CEILING_GAP * span
        else:
            low, high = _widened(*self.z_limits)
        lows = (float(self.x[0]), float(self.y[0]), low)
        highs = (float(self.x[-1]), float(self.y[-1]), high)
        return Box(lows, highs, self.aspect)


@dataclass(frozen=True)
class Box:
    """The drawn box: data limits per axis, and the world half widths they are stretched to."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    half: tuple[float, float, float]

    @cached_property
    def scale(self) -> npt.NDArray[np.float64]:
        """Return world units per data unit, (3,)."""
        return np.asarray([2 * h / (b - a) for h, a, b in zip(self.half, self.low, self.high, strict=True)])

    @cached_property
    def middle(self) -> npt.NDArray[np.float64]:
        """Return the data point at the world's origin, (3,)."""
        return np.asarray([(a + b) / 2 for a, b in zip(self.low, self.high, strict=True)])

    def to_world(self, points: Floats) -> npt.NDArray[np.float64]:
        """Map data points (..., 3) to world points."""
        world: npt.NDArray[np.float64] = (points - self.middle) * self.scale
        return world

    def to_data(self, points: Floats) -> npt.NDArray[np.float64]:
        """Map world points (..., 3) to data points."""
        data: npt.NDArray[np.float64] = points / self.scale + self.middle
        return data


def _widened(low: float, high: float) -> tuple[float, float]:
    """Give a range without extent a small one, so that a flat surface can be drawn."""
    if high > low:
        return float(low), float(high)
    pad = 0.05 * abs(low) if low else 0.5
    return low - pad, low + pad
