"""Layers and parameters of a distance result: what is known of each, and how runs match."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import DistanceOpened
from landscope.session.model import Distances, Run
from landscope_app.plots.numbers import UNDEFINED

FROZEN, NONFINITE = "=", "!"
SIGNS = f"{FROZEN} frozen · {NONFINITE} NaN or inf · {UNDEFINED} undefined"
SHOWN = 3  # names that a sentence spells out


@dataclass(frozen=True)
class Owner:
    """A layer or a parameter.

    Attributes:
        name: its name. flags: ``frozen``, ``buffer``, ``nonfinite``, ``tied``. also: other names of it.
    """

    name: str
    flags: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What is to be known about it, in a few words."""
        also = f"tied: also {', '.join(self.also)}" if self.also else ""
        nonfinite = "NaN or inf" if "nonfinite" in self.flags else ""
        plain = (flag for flag in ("frozen", "buffer") if flag in self.flags)
        return "; ".join(filter(None, (*plain, nonfinite, also)))


def parameters(opened: DistanceOpened) -> tuple[Owner, ...]:
    """P parameters in model order."""
    return tuple(
        _parameter(name, flags) for name, flags in zip(opened.parameters, _flags(opened), strict=True)
    )


def layers(opened: DistanceOpened) -> tuple[Owner, ...]:
    """L layers: frozen where all parameters are, not finite where one is; buffers belong to none."""
    members: list[list[Owner]] = [[] for _ in opened.layers]
    for owner, layer in zip(parameters(opened), opened.layer_of, strict=True):
        if 0 <= int(layer) < len(members) and "buffer" not in owner.flags:
            members[int(layer)].append(owner)
    return tuple(_layer(name, found) for name, found in zip(opened.layers, members, strict=True))


def marks(
    values: NDArray[np.float64],
    owners: tuple[Owner, ...],
    norms: NDArray[np.float64],
    measured: NDArray[np.bool_],
) -> NDArray[np.str_]:
    """(M, K) signs of values (M, K) in the order of training.

    Args:
        norms: (M, K), NaN where weights are not finite: what has no value then or later has none for that.
        measured: (M,) whether anything is known of a checkpoint; the others have no sign.
    """
    missing = ~np.isfinite(values)
    broken = np.logical_or.accumulate(~np.isfinite(norms) & measured[:, None])
    frozen = np.array(["frozen" in one.flags for one in owners], bool)
    found = np.where(missing, np.where(broken, NONFINITE, UNDEFINED), np.where(frozen, FROZEN, ""))
    return np.where(measured[:, None], found, "")


def unmeasured(distances: Distances, run: Run) -> tuple[str, ...]:
    """Checkpoints of a run without a value: not read yet, or left out because they hold another network."""
    return tuple(name for name in run.names if name not in distances.measured)


def unmatched(ours: tuple[str, ...], theirs: tuple[str, ...], run: str, other: str) -> str:
    """Which layers only one of two runs has, in a sentence; empty where all match."""
    here, there = set(ours), set(theirs)
    parts = [
        f"only in {name}: {some(missing)}"
        for name, missing in (
            (run, tuple(one for one in ours if one not in there)),
            (other, tuple(one for one in theirs if one not in here)),
        )
        if missing
    ]
    return "; ".join(parts)


def some(names: tuple[str, ...]) -> str:
    """The first few names, and how many more."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _flags(opened: DistanceOpened) -> tuple[tuple[str, ...], ...]:
    return opened.flags or ((),) * len(opened.parameters)


def _parameter(name: str, flags: tuple[str, ...]) -> Owner:
    also = tuple(flag.removeprefix("tied:") for flag in flags if flag.startswith("tied:"))
    plain = frozenset(flag for flag in flags if not flag.startswith("tied:"))
    return Owner(name, plain | ({"tied"} if also else frozenset()), also)


def _layer(name: str, members: list[Owner]) -> Owner:
    found = {flag for one in members for flag in one.flags if flag == "nonfinite"}
    if members and all("frozen" in one.flags for one in members):
        found.add("frozen")
    also = tuple(other for one in members for other in one.also)
    return Owner(name, frozenset(found | ({"tied"} if also else set())), also)
