"""A quantity of the weights as a map: layers or parameters down, checkpoints across."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from landscope.session.model import Distances, Run, Session
from landscope_app.plots.charts import MapChart
from landscope_app.plots.distance_chart import EMPTY, measured_note
from landscope_app.plots.distance_rows import SIGNS, Owner, layers, marks, parameters
from landscope_app.plots.loss_chart import step_title
from landscope_app.plots.numbers import whole
from landscope_app.plots.quantities import BY_KEY, Quantity, quantity_title, rows_of
from landscope_app.plots.slices import at_once

DIVERGING = "vik"
Values = NDArray[np.float64]


def distance_map(
    session: Session, run: str, key: str = "distance", *, by_parameter: bool = False, log: bool = False
) -> MapChart:
    """A quantity of every layer (or parameter) at every checkpoint, in training order.

    Raises:
        KeyError: there is no such quantity.
    """
    steps = distance_map_steps(session, run, key, by_parameter=by_parameter, log=log)
    return at_once(steps)


def distance_map_steps(
    session: Session, run: str, key: str, *, by_parameter: bool, log: bool
) -> Generator[None, None, MapChart]:
    """``distance_map`` in steps of a few milliseconds."""
    quantity, known, distances = BY_KEY[key], session.runs.get(run), rows_of(session, run, key)
    title = quantity_title(quantity, distances)
    if known is None or distances is None or not distances.measured:
        return MapChart(title, (), (), empty=EMPTY)
    owners = (parameters if by_parameter else layers)(distances.opened)
    yield
    values = _values(distances, known.names, key, by_parameter)
    yield
    norms = _norms(distances, known.names, key, by_parameter)
    yield
    measured = np.array([name in distances.measured for name in known.names], bool)
    signs = marks(values, owners, values if norms is None else norms, measured)
    yield
    titled = f"{run} · {title[0].lower()}{title[1:]}"
    return _chart(titled, quantity, distances, known, owners, values.T, signs.T, log)


def _values(distances: Distances, names: tuple[str, ...], key: str, by_parameter: bool) -> Values:
    return (distances.parameters if by_parameter else distances.layers)(key, names)


def _norms(distances: Distances, names: tuple[str, ...], key: str, by_parameter: bool) -> Values | None:
    """What tells weights that are not finite; None = the values themselves do (gradients)."""
    if key == "gradient_norm" or not any("norm" in one.total for one in distances.measured.values()):
        return None
    return _values(distances, names, "norm", by_parameter)


def _chart(
    title: str,
    quantity: Quantity,
    distances: Distances,
    run: Run,
    owners: tuple[Owner, ...],
    values: Values,
    signs: NDArray[np.str_],
    log: bool,
) -> MapChart:
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0.0]
    logarithmic = log and quantity.length and positive.size > 0 and positive.min() < positive.max()
    low, high = (float(positive.min()), float(positive.max())) if logarithmic else _limits(quantity, finite)
    return MapChart(
        title=title,
        rows=tuple(one.name for one in owners),
        columns=run.names,
        values=values,
        marks=signs,
        low=low,
        high=high,
        log=logarithmic,
        colour_map=DIVERGING if low < 0.0 else "viridis",
        value_title=quantity.formula,
        note=measured_note(distances, run),
        column_labels=tuple(whole(float(step)) for step in run.steps),
        column_title=step_title(run),
        signs=SIGNS,
        unit="°" if quantity.unit == "°" else "",
    )


def _limits(quantity: Quantity, finite: Values) -> tuple[float, float]:
    """Of the colours: a whole turn, the whole range of a cosine, else from 0."""
    if quantity.key == "angle":
        return 0.0, 180.0
    if quantity.key == "cosine":
        low = float(finite.min(initial=1.0))
        return (-1.0, 1.0) if low < 0.0 else (min(low, 0.99), 1.0)
    return 0.0, float(finite.max(initial=0.0)) or 1.0
