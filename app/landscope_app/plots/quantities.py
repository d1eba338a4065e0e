"""The quantities of the distance panel: title, formula, unit, where from and how each is read."""

from __future__ import annotations

from dataclasses import dataclass

from landscope.session.model import Distances, Session


@dataclass(frozen=True)
class Quantity:
    """A quantity per parameter, layer and in total.

    Attributes:
        key: its name in results. title: ``{from}`` is where it counts from. formula, unit: as written.
        reading: how to read it, in a sentence or two. source: what it is made of, and who described it.
        length: it is a length or a ratio of lengths, never negative, so that a logarithm shows it well.
        pair: the same relative to the weights, or the same absolute; empty = none.
    """

    key: str
    title: str
    formula: str
    unit: str
    reading: str
    source: str
    length: bool = True
    pair: str = ""


_WEIGHTS = "as the weights"
_FILES = "the weights in the checkpoint files"
QUANTITIES = (
    Quantity(
        "distance",
        "Distance from {from}",
        "‖θₜ − θ₀‖",
        _WEIGHTS,
        "How far the weights are from where they were. A layer that hardly moves may be kept as it is; "
        "large layers have larger distances, so compare layers by the relative distance.",
        _FILES,
        pair="relative",
    ),
    Quantity(
        "relative",
        "Relative distance from {from}",
        "‖θₜ − θ₀‖ / ‖θ₀‖",
        "1",
        "1: the weights have moved by as much as they were long. Undefined where they began at zero.",
        _FILES,
        pair="distance",
    ),
    Quantity(
        "update",
        "Update since the last checkpoint",
        "‖θₜ − θₜ₋₁‖",
        _WEIGHTS,
        "How far the weights went between two checkpoints. Checkpoints that lie further apart show more.",
        _FILES,
        pair="update_ratio",
    ),
    Quantity(
        "path_length",
        "Path length (at least)",
        "Σᵢ₌₁…ₜ ‖θᵢ − θᵢ₋₁‖",
        _WEIGHTS,
        "The way from checkpoint to checkpoint. The true way is longer: what lies between is not seen.",
        _FILES,
    ),
    Quantity(
        "straightness",
        "Straightness",
        "‖θₜ − θ₀‖ / path length",
        "1",
        "1: straight ahead. Near 0: much way for little distance. It is an upper bound, as the path length "
        "is a lower one.",
        _FILES,
        length=False,
    ),
    Quantity(
        "cosine",
        "Cosine to {from}",
        "cos ∠(θₜ, θ₀)",
        "1",
        "1: the same direction as at first, 0: at right angles. One minus it is the layer rotation.",
        f"{_FILES}; layer rotation, Carbonnelle and De Vleeschouwer 2019, arXiv 1806.01603",
        length=False,
    ),
    Quantity(
        "angle",
        "Angle between updates (°)",
        "∠(θₜ − θₜ₋₁, θₜ₋₁ − θₜ₋₂)",
        "°",
        "0°: on in the same direction; 90°: no relation; above it: back again. Needs three checkpoints.",
        _FILES,
        length=False,
    ),
    Quantity(
        "update_ratio",
        "Relative update since the last checkpoint",
        "‖θₜ − θₜ₋₁‖ / ‖θₜ₋₁‖",
        "1",
        "The update as a share of the weights. A layer far below the others learns slowly. It belongs to "
        "all steps between two checkpoints, not to one.",
        _FILES,
        pair="update",
    ),
    Quantity(
        "norm",
        "Norm of the weights",
        "‖θₜ‖",
        _WEIGHTS,
        "How long the weights are. Steady growth is common without weight decay.",
        _FILES,
    ),
    Quantity(
        "filter_relative",
        "Mean relative distance of filters",
        "mean over f of ‖θₜ,f − θ₀,f‖ / ‖θ₀,f‖",
        "1",
        "As the relative distance, but every filter (row of the weights) counts alike. Only for tensors of "
        "two or more dimensions; filters that began at zero are left out.",
        _FILES,
    ),
    Quantity(
        "last_update",
        "Last step of the optimizer (reconstructed)",
        "‖θₛ − θₛ₋₁‖, s = one step",
        _WEIGHTS,
        "The length of the very last step before the file was saved. If a scheduler was stepped before "
        "saving, it is off by the ratio of the two learning rates.",
        "the state of SGD, Adam or AdamW in the checkpoint file",
    ),
    Quantity(
        "gradient_norm",
        "Norm of the gradient",
        "‖∂L/∂θ‖",
        "loss per weight",
        "How steep the loss L is. 0: frozen, or not used by the loss.",
        "model and data, on request (Analysis menu)",
    ),
)
BY_KEY = {one.key: one for one in QUANTITIES}
_SOMETIMES = ("last_update", "gradient_norm")
"""Quantities that many runs do not have."""
_READ = (
    "\n\nFrozen layers stay at 0 and are marked “=”. “–” is undefined, such as an angle before the third "
    "checkpoint or a share of zero weights; “!” are weights with NaN or infinite values. Tied parameters "
    "count once, buffers in no layer and not in the total."
)


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


def with_unit(quantity: Quantity) -> str:
    """Its formula, and its unit where that is not plain from it."""
    return f"{quantity.formula} in °" if quantity.unit == "°" else quantity.formula


def reading(quantity: Quantity, distances: Distances | None) -> str:
    """How to read a quantity: title, formula, unit, what θ₀ is, what values mean, the source."""
    unit = "a number without unit" if quantity.unit == "1" else f"unit: {quantity.unit}"
    lines = [
        f"How to read this\n\n{quantity_title(quantity, distances)}",
        f"{quantity.formula}   ({unit})",
        _where_from(quantity, distances),
        f"\n{quantity.reading}",
    ]
    return "\n".join(filter(None, lines)) + _READ + f"\n\nSource: {quantity.source}."


def reading_all(session: Session, run: str) -> str:
    """Title and formula of every quantity of a run, for a table of them."""
    found = offered(session, run)
    titles = (f"{quantity_title(q, rows_of(session, run, q.key))}: {with_unit(q)}" for q in found)
    return "How to read this\n\n" + "\n".join(titles) + _READ


def _where_from(quantity: Quantity, distances: Distances | None) -> str:
    if distances is None or "₀" not in quantity.formula:
        return ""
    opened, step = distances.opened, distances.opened.reference_step
    at = f"step {step:,}" if step is not None else "a step that is not known"
    return f"θ₀: {opened.reference}, the earliest checkpoint, at {at}"


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
