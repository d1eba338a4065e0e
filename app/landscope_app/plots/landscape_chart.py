"""Lines and planes of the loss landscape, as a profile and as a map."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from landscope.session.dense import DenseSurface, dense_surface
from landscope.session.model import SAMPLED, Line, Plane, Session
from landscope_app.plots.charts import CurveChart, FieldChart, Floats, Series
from landscope_app.plots.numbers import count, short
from landscope_app.scene.ticks import nice_step

LINE_EMPTY = "The loss along a line between two checkpoints appears here once it has been computed."
PLANE_EMPTY = "The loss around a checkpoint appears here once a plane has been computed."
_LOG_RATIO = 30.0  # beyond it a linear scale shows walls and nothing of the valley


@dataclass(frozen=True)
class Display:
    """How a plane is shown.

    Attributes:
        metric: name of the value drawn. scale: ``auto``, ``linear`` or ``log``.
        colour_map: a name that cmap knows; empty = the theme's. contours: about how many lines.
        limits: colour limits in the displayed transform, None = of the data.
    """

    metric: str = "loss"
    scale: str = "auto"
    colour_map: str = ""
    contours: int = 16
    limits: tuple[float, float] | None = None


def is_log(plane: Plane, display: Display) -> bool:
    """Whether the display is logarithmic; ``auto`` when the largest loss towers over the rest."""
    if display.scale != "auto":
        return display.scale == "log"
    values = plane.values.get(display.metric)
    finite = values[np.isfinite(values)] if values is not None else np.empty(0)
    if display.metric != "loss" or finite.size == 0 or finite.min() <= 0:
        return False
    return bool(finite.max() > _LOG_RATIO * np.median(finite) or finite.max() > 1e3 * finite.min())


def dense(plane: Plane, display: Display, log: bool | None = None) -> DenseSurface:
    """The plane as drawn: interpolated in the displayed transform, log10 on a logarithmic scale."""
    log = is_log(plane, display) if log is None else log
    return dense_surface(plane, display.metric, "log" if log else "linear")


def metrics_of_plane(plane: Plane) -> tuple[str, ...]:
    """What can be drawn as height, the loss first."""
    sampled = plane.state == SAMPLED
    return tuple(m for m in plane.values if not m.endswith("_se") and _is_field(plane.values[m], sampled))


def _is_field(values: Floats, sampled: NDArray[np.bool_]) -> bool:
    """Whether a metric was measured over the plane, not at its centre only."""
    return int(np.sum(~np.isnan(values[sampled]))) > 1 or int(sampled.sum()) <= 1


def value_title(metric: str, log: bool) -> str:
    """The title of the height and of the colour bar."""
    return f"{metric} (log)" if log else metric


def contour_levels(limits: tuple[float, float], wanted: int) -> tuple[float, ...]:
    """About ``wanted`` round heights strictly within the limits; equal steps on the displayed scale."""
    low, high = limits
    if wanted <= 0 or not math.isfinite(high - low) or high <= low:
        return ()
    step = nice_step(high - low, wanted)
    first = math.ceil(low / step + 1e-9)
    last = math.floor(high / step - 1e-9)
    return tuple(k * step for k in range(first, last + 1))


def plane_limits(z: Floats) -> tuple[float, float]:
    """Lowest and highest finite value; (0, 1) where there is none."""
    finite = z[np.isfinite(z)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def field_chart(
    session: Session,
    plane_id: str,
    checkpoint: str = "",
    display: Display | None = None,
    log: bool | None = None,
    surface: DenseSurface | None = None,
) -> FieldChart | None:
    """A plane as a map with its path; None where nothing was measured yet.

    Args:
        session: holds the plane.
        plane_id: its id.
        checkpoint: the one marked on the path.
        display: metric, scale, colours.
        log: the decision about the scale if it was taken already.
        surface: the dense values if they are known already.
    """
    display = display or Display()
    plane = session.planes.get(plane_id)
    if plane is None or not np.any(plane.state == SAMPLED):
        return None
    log = is_log(plane, display) if log is None else log
    surface = surface if surface is not None else dense(plane, display, log)
    limits = display.limits or plane_limits(surface.z)
    path = plane.trajectories.get(plane.opened.run)
    names = path.checkpoints if path is not None else ()
    return FieldChart(
        title=plane_title(plane),
        alpha=surface.alpha,
        beta=surface.beta,
        z=surface.z,
        state=surface.state,
        axis_titles=plane.opened.axis_titles,
        value_title=value_title(display.metric, log),
        limits=limits,
        levels=contour_levels(limits, display.contours),
        log=log,
        path=np.asarray(path.coordinates, float) if path is not None else None,
        names=names,
        current=names.index(checkpoint) if checkpoint in names else -1,
        colour_map=display.colour_map or "viridis",
        note=plane_note(plane, display.metric),
    )


def plane_title(plane: Plane) -> str:
    """The title of a plane, with its run in front unless it is named already."""
    opened = plane.opened
    return opened.title if opened.run in opened.title else f"{opened.run} · {opened.title}"


def plane_note(plane: Plane, metric: str = "loss") -> str:
    """How much of a plane is measured and how: points, non-finite ones, BatchNorm policy, samples."""
    sampled = plane.state == SAMPLED
    parts = [f"{count(int(sampled.sum()))} of {count(plane.state.size)} points"]
    values = plane.values.get(metric)
    broken = int(np.sum(~np.isfinite(values[sampled]))) if values is not None else 0
    if broken:
        parts.append(f"{count(broken)} not finite")
    parts += _setting_parts(plane.opened.settings)
    return " · ".join(parts)


def _setting_parts(settings: dict) -> list[str]:  # type: ignore[type-arg]
    parts = []
    if settings.get("batchnorm"):
        parts.append(f"BatchNorm {settings['batchnorm']}")
    if isinstance(settings.get("samples"), int):
        parts.append(f"{count(settings['samples'])} samples")
    if settings.get("split"):
        parts.append(str(settings["split"]))
    return parts


def line_chart(session: Session, line_id: str, log_y: bool = False) -> CurveChart:
    """Loss along a line: under its BatchNorm policy, under stored statistics, and the accuracy."""
    line = session.lines.get(line_id)
    if line is None or not line.values:
        return CurveChart("Line", "position on the line", "loss", (), empty=LINE_EMPTY)
    opened = line.opened
    return CurveChart(
        title=f"{opened.run} · {opened.title}",
        x_title=f"position between {opened.start} (0) and {opened.end} (1)",
        y_title="loss",
        right_title="accuracy" if "accuracy" in line.values else "",
        series=tuple(_line_series(line)),
        note=_line_note(line),
        log_y=log_y,
        marks=(0.0, 1.0),
    )


def _line_series(line: Line) -> list[Series]:
    x, values = line.opened.coordinates, line.values
    policy = line.opened.settings.get("batchnorm")
    name = f"loss ({policy} BatchNorm)" if policy and "loss_stored" in values else "loss"
    found = [Series(name, x, values["loss"], values.get("loss_se"), 0)] if "loss" in values else []
    if "loss_stored" in values:
        found.append(Series("loss (stored statistics)", x, values["loss_stored"], None, 1))
    others = [m for m in ("accuracy", "accuracy_stored") if m in values]
    for k, metric in enumerate(others):
        found.append(
            Series(
                metric.replace("_stored", " (stored)"), x, values[metric], None, k, dashed=True, right=True
            )
        )
    return found


def _line_note(line: Line) -> str:
    sampled = int(np.sum(line.state == SAMPLED))
    parts = [f"{count(sampled)} of {count(line.state.size)} points"]
    heights = barriers(line)
    if heights is not None:
        parts.append(f"barrier {short(heights[0])} (Frankle 2020), {short(heights[1])} (Entezari 2022)")
    parts += _setting_parts({k: v for k, v in line.opened.settings.items() if k != "batchnorm"})
    return " · ".join(parts)


def barriers(line: Line) -> tuple[float, float] | None:
    """Heights of the barrier between the ends of a complete line: above the mean of the ends (Frankle et al.
    2020) and above the chord (Entezari et al. 2022, definition 2.1); None before all points are there.
    """
    t, losses = line.opened.coordinates, line.values.get("loss")
    if losses is None or not np.all(line.state == SAMPLED):
        return None
    between = (t >= 0) & (t <= 1)
    t, losses = t[between], losses[between]
    if not np.isfinite(losses).all() or len(t) < 2 or t[0] != 0 or t[-1] != 1:
        return None
    chord = (1 - t) * losses[0] + t * losses[-1]
    return float(np.max(losses) - (losses[0] + losses[-1]) / 2), float(np.max(losses - chord))
