"""Two runs side by side: which of their checkpoints correspond, and which of their layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import LayerSaturation, NotObserved, SaturationMeasured
from landscope.session.model import Run, Saturation, Session
from landscope.session.threshold import at_threshold, idim_rule


@dataclass(frozen=True)
class Counterpart:
    """A checkpoint of another run.

    Attributes:
        run, checkpoint: its names. how: why it is this one, such as "at the same step, 264".
    """

    run: str
    checkpoint: str
    how: str


@dataclass(frozen=True)
class LayerPair:
    """A layer of two runs, matched by name; None where a run does not have it or did not observe it."""

    layer: str
    first: LayerSaturation | None
    second: LayerSaturation | None

    def difference(self, statistic: str) -> float:
        """The first run's value minus the second's; NaN where one is missing or is NaN itself."""
        if self.first is None or self.second is None:
            return float("nan")
        return self.first.value(statistic) - self.second.value(statistic)


def saturation_of(session: Session, run: str, mode: str = "train") -> Saturation | None:
    """The saturation of a run in a mode; in any other where that one was not measured."""
    found = {s.mode: s for s in session.saturation.values() if s.run == run}
    return found.get(mode) or next(iter(found.values()), None)


def counterpart(run: Run, checkpoint: str, other: Run) -> Counterpart | None:
    """The ready checkpoint of ``other`` that corresponds to a checkpoint of ``run``.

    The one at the same step; where there is none, at the same epoch; else the one at the nearest share of
    its training, from the first checkpoint (0) to the last (1). None where either run has no such checkpoint.
    """
    if checkpoint not in run.names or not other.names:
        return None
    here = run.names.index(checkpoint)
    for unit in ("step", "epoch"):
        value = getattr(run.checkpoints[here], unit)
        same = [c.name for c in other.checkpoints if value is not None and getattr(c, unit) == value]
        if same:
            name = checkpoint if checkpoint in same else same[-1]
            return Counterpart(other.name, name, f"at the same {unit}, {value:,}")
    share, shares = _shares(run)[here], _shares(other)
    there = int(np.argmin(np.abs(shares - share)))
    return Counterpart(
        other.name,
        other.names[there],
        f"at {_percent(shares[there])} of its training, nearest to {_percent(share)} here",
    )


def alike(measured: SaturationMeasured, threshold: float, other: SaturationMeasured) -> SaturationMeasured:
    """``other`` as it would be at this threshold and by the rule of ``measured``: only so they compare.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    return at_threshold(other, threshold, idim_rule(measured))


def paired(first: SaturationMeasured, second: SaturationMeasured) -> tuple[LayerPair, ...]:
    """Every layer of both, matched by name: those of ``first`` in its order, then what only ``second`` has.

    Layers that a run has but could not observe are among them, without a value of that run.
    """
    ours = {layer.layer: layer for layer in first.layers}
    theirs = {layer.layer: layer for layer in second.layers}
    names = dict.fromkeys((*ours, *_names(first.not_observed), *theirs, *_names(second.not_observed)))
    return tuple(LayerPair(name, ours.get(name), theirs.get(name)) for name in names)


def missing_reason(measured: SaturationMeasured, layer: str) -> str:
    """Why a run has no value of a layer, as the end of a sentence."""
    reasons = {one.layer: one.reason for one in measured.not_observed}
    if layer not in reasons:
        return "is not in this model"
    reason = reasons[layer].removesuffix(".")
    return f"was not observed: {reason[:1].lower()}{reason[1:]}"


def _names(missing: tuple[NotObserved, ...]) -> tuple[str, ...]:
    return tuple(one.layer for one in missing)


def _shares(run: Run) -> NDArray[np.float64]:
    """(M,) how much of its training a run had behind it; a single checkpoint is the end."""
    steps = run.steps
    span = steps[-1] - steps[0]
    return (
        (steps - steps[0]) / span
        if span > 0
        else np.linspace(0.0, 1.0, len(steps))
        if len(steps) > 1
        else np.ones(1)
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
