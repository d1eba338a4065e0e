"""How far a run travelled, in total and per layer, as curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from landscope.contract.deltas import GradientOpened
from landscope.session.model import Distances, Run, Session
from landscope_app.plots.charts import CurveChart, Series
from landscope_app.plots.loss_chart import step_title


@dataclass(frozen=True)
class Quantity:
    """A distance quantity: its key, its title (``{from}`` is where it counts from) and its formula."""

    key: str
    title: str
    formula: str


QUANTITIES = (
    Quantity("distance", "Distance from {from}", "‖θ − θ₀‖"),
    Quantity("relative", "Relative distance from {from}", "‖θ − θ₀‖ / ‖θ₀‖"),
    Quantity("update", "Update since the last checkpoint", "‖θₜ − θₜ₋₁‖"),
    Quantity("path_length", "Path length (at least)", "Σ ‖θₜ − θₜ₋₁‖"),
    Quantity("straightness", "Straightness", "‖θₜ − θ₀‖ / path length"),
    Quantity("cosine", "Cosine to {from}", "cos(θ, θ₀)"),
    Quantity("angle", "Angle between updates (°)", "∠(Δθₜ, Δθₜ₋₁)"),
    Quantity("update_ratio", "Update / weights", "‖Δθ‖ / ‖θ‖"),
    Quantity("norm", "Norm of the weights", "‖θ‖"),
    Quantity("filter_relative", "Mean relative distance of filters", "mean ‖Δf‖ / ‖f₀‖"),
    Quantity("last_update", "Last step of the optimizer (reconstructed)", "‖θₛ − θₛ₋₁‖, s = one step"),
    Quantity("gradient_norm", "Norm of the gradient", "‖∂L/∂θ‖"),
)
_SOMETIMES = ("last_update", "gradient_norm")
"""Quantities that many runs do not have."""
EMPTY = "How far the weights travelled appears here as soon as two checkpoints have been read."


def reference_title(distances: Distances | None) -> str:
    """What distances count from: "init" only when that checkpoint is of step 0."""
    if distances is None:
        return "the first checkpoint"
    step = distances.opened.reference_step
    if step == 0:
        return "init"
    return f"step {step:,}" if step is not None else distances.opened.reference


def quantity_title(quantity: Quantity, distances: Distances | None) -> str:
    """The title of a quantity for this run."""
    return quantity.title.replace("{from}", reference_title(distances))


def offered(session: Session, run: str) -> tuple[Quantity, ...]:
    """The quantities that a run has, or will have as soon as its files are read."""
    return tuple(
        q for q in QUANTITIES if q.key not in _SOMETIMES or _has(rows_of(session, run, q.key), q.key)
    )


def rows_of(session: Session, run: str, key: str) -> Distances | None:
    """The result that a quantity belongs to: distances from files, or gradients on data."""
    return (session.gradients if key == "gradient_norm" else session.distances).get(run)


def _has(rows: Distances | None, key: str) -> bool:
    return rows is not None and any(key in one.total for one in rows.measured.values())


def distance_chart(
    session: Session,
    run: str,
    checkpoint: str = "",
    key: str = "distance",
    per_layer: bool = False,
    log_y: bool = False,
) -> CurveChart:
    """A quantity over the steps of a run: one curve, or one per layer from first (dark) to last (bright).

    Raises:
        KeyError: there is no such quantity.
    """
    quantity = {q.key: q for q in QUANTITIES}[key]
    distances, known = rows_of(session, run, key), session.runs.get(run)
    title = quantity_title(quantity, distances)
    if distances is None or known is None or not distances.measured:
        return CurveChart(title, "step", quantity.formula, (), empty=EMPTY)
    series = _layers(distances, known, key) if per_layer else _total(distances, known, key)
    return CurveChart(
        title=f"{run} · {title[0].lower()}{title[1:]}",
        x_title=step_title(known),
        y_title=quantity.formula,
        series=series,
        note=_note(distances),
        cursor=_cursor(known, checkpoint),
        stops=known.steps,
        names=known.names,
        log_y=log_y,
    )


def _total(distances: Distances, run: Run, key: str) -> tuple[Series, ...]:
    return (Series("all parameters", run.steps, distances.total(key, run.names)),)


def _layers(distances: Distances, run: Run, key: str) -> tuple[Series, ...]:
    names, values = distances.opened.layers, distances.layers(key, run.names)
    last = max(1, len(names) - 1)
    few = len(names) <= 6
    return tuple(
        Series(name, run.steps, values[:, k], colour=k, shade=None if few else k / last)
        for k, name in enumerate(names)
    )


def _cursor(run: Run, checkpoint: str) -> float | None:
    return float(run.steps[run.names.index(checkpoint)]) if checkpoint in run.names else None


def _note(distances: Distances) -> str:
    opened = distances.opened
    if isinstance(opened, GradientOpened):
        return f"L = mean loss over {opened.samples:,} samples of {opened.split}"
    elements = int(np.sum(opened.sizes))
    frozen = sum("frozen" in flags for flags in opened.flags)
    text = f"{elements:,} weights in {len(opened.parameters):,} tensors"
    return f"{text}, {frozen:,} frozen" if frozen else text
