"""How far a run travelled, in total and per layer, as curves; alone or over those of another run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from landscope.contract.deltas import GradientOpened
from landscope.session.model import Distances, Run, Session
from landscope_app.plots.charts import CurveChart, Series
from landscope_app.plots.distance_rows import some, unmatched, unmeasured
from landscope_app.plots.loss_chart import step_title
from landscope_app.plots.quantities import BY_KEY, quantity_title, rows_of, with_unit

EMPTY = "How far the weights travelled appears here as soon as a checkpoint has been read."
NONE_CHOSEN = (
    "No layer is chosen yet. Show all layers and click a curve while Ctrl is held, "
    "or choose rows of the table."
)
FEW = 6
"""So many curves have a colour and a name each; more are shades from the first layer to the last."""


@dataclass(frozen=True)
class CurveChoice:
    """Which curves, and on which axes.

    Attributes:
        scope: ``total``, ``layers`` (all) or ``chosen``. layers: the chosen ones. layer: the one in front.
        log_x, log_y: logarithmic axes. other: a run drawn with it as dashes; empty = none.
    """

    scope: str = "total"
    layers: tuple[str, ...] = ()
    layer: str = ""
    log_x: bool = False
    log_y: bool = False
    other: str = ""

    @property
    def wanted(self) -> frozenset[str] | None:
        """Names of the chosen layers, the one in front among them; None = all."""
        return frozenset((*self.layers, self.layer)) if self.scope == "chosen" else None


ALONE = CurveChoice()


def distance_chart(
    session: Session,
    run: str,
    checkpoint: str = "",
    key: str = "distance",
    choice: CurveChoice = ALONE,
) -> CurveChart:
    """A quantity over the steps of a run: one curve, or one per layer from first (dark) to last (bright).

    Raises:
        KeyError: there is no such quantity.
    """
    quantity = BY_KEY[key]
    distances, known = rows_of(session, run, key), session.runs.get(run)
    title = quantity_title(quantity, distances)
    if distances is None or known is None or not distances.measured:
        return CurveChart(title, "step", quantity.formula, (), empty=EMPTY)
    series = _series(distances, known, key, choice, {})
    beside = _beside(session, run, key, choice)
    if beside is not None:
        if choice.scope == "total":
            series = tuple(replace(one, name=f"{one.name} · {run}") for one in series)
        series += _others(*beside, key, choice, series)
    return CurveChart(
        title=f"{_runs(run, beside)} · {title[0].lower()}{title[1:]}",
        x_title=step_title(known),
        y_title=with_unit(quantity),
        series=series,
        note=_note(distances, known, beside, choice),
        empty="" if series else NONE_CHOSEN,
        cursor=cursor_at(known, checkpoint, choice.log_x),
        stops=known.steps,
        names=known.names,
        log_x=choice.log_x,
        log_y=choice.log_y and quantity.length,
        style_titles=(run, beside[1].name) if beside is not None else ("", ""),
        front=choice.layer,
    )


def _series(
    distances: Distances, run: Run, key: str, choice: CurveChoice, place: dict[str, int]
) -> tuple[Series, ...]:
    """The curves of one run; ``place`` gives the place of a layer in another one's colours."""
    steps = run.steps
    if choice.scope not in ("layers", "chosen"):
        return (Series("all parameters", steps, distances.total(key, run.names)),)
    names, values, wanted = distances.opened.layers, distances.layers(key, run.names), choice.wanted
    kept = [k for k, name in enumerate(names) if wanted is None or name in wanted]
    last, few = max(1, len(place or names) - 1), len(kept) <= FEW
    colours = {names[k]: j for j, k in enumerate(kept)}
    return tuple(
        Series(
            names[k],
            steps,
            values[:, k],
            colour=place.get(names[k], colours[names[k]]),
            shade=None if few else min(1.0, place.get(names[k], k) / last),
        )
        for k in kept
    )


def _others(
    distances: Distances, run: Run, key: str, choice: CurveChoice, ours: tuple[Series, ...]
) -> tuple[Series, ...]:
    """The curves of the other run as dashes, each in the colour of ours of that name."""
    found = {one.name: one for one in ours}
    made = []
    for one in _series(distances, run, key, choice, {}):
        same = found.get(one.name)
        look = (same.colour, same.shade) if same is not None else (-1, None)
        if choice.scope == "total":
            look = (1, None)
        name = f"{one.name} · {run.name}"
        group = name if choice.scope == "total" else one.name
        made.append(Series(name, one.x, one.y, colour=look[0], shade=look[1], dashed=True, group=group))
    return tuple(made)


def _beside(session: Session, run: str, key: str, choice: CurveChoice) -> tuple[Distances, Run] | None:
    other = choice.other
    distances, known = rows_of(session, other, key), session.runs.get(other)
    if not other or other == run or distances is None or known is None or not distances.measured:
        return None
    return distances, known


def _runs(run: str, beside: tuple[Distances, Run] | None) -> str:
    return run if beside is None else f"{run} and {beside[1].name} (dashed)"


def cursor_at(run: Run, checkpoint: str, log_x: bool) -> float | None:
    """Where a checkpoint stands on the axis of steps; None = nowhere."""
    if checkpoint not in run.names:
        return None
    at = float(run.steps[run.names.index(checkpoint)])
    return at if at > 0.0 or not log_x else None


def _note(distances: Distances, run: Run, beside: tuple[Distances, Run] | None, choice: CurveChoice) -> str:
    parts = [measured_note(distances, run)]
    if beside is not None and choice.scope != "total":
        ours, theirs = distances.opened.layers, beside[0].opened.layers
        parts.append(unmatched(ours, theirs, run.name, beside[1].name))
    return " · ".join(filter(None, parts))


def measured_note(distances: Distances, run: Run) -> str:
    """What was measured: weights and tensors, or the data of a gradient; and what has no value."""
    opened = distances.opened
    missing = unmeasured(distances, run)
    without = f"no value: {some(missing)}" if missing else ""
    if isinstance(opened, GradientOpened):
        return _joined(f"L = mean loss over {opened.samples:,} samples of {opened.split}", without)
    elements = int(np.sum(opened.sizes))
    frozen = sum("frozen" in flags for flags in opened.flags)
    text = f"{elements:,} weights in {len(opened.parameters):,} tensors"
    return _joined(f"{text}, {frozen:,} frozen" if frozen else text, without)


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))
