"""Training order of a run's files: by stored step, else by numbers in the names; initialisation first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from landscope.checkpoints.names import (
    epoch_in,
    is_initial,
    is_special,
    natural_key,
    only_number_in,
    step_in,
)

Unit = Literal["step", "epoch"]


@dataclass(frozen=True)
class Placed:
    """A file with what is known about its place: ``step`` and ``epoch`` as stored (later also as named)."""

    name: str
    step: int | None = None
    epoch: int | None = None

    @property
    def special(self) -> bool:
        """Whether its name says ``best``, ``last`` or ``final``."""
        return is_special(self.name)


_SOURCES: tuple[tuple[Unit, Callable[[Placed], int | None]], ...] = (
    ("step", lambda p: p.step),
    ("step", lambda p: p.step if p.step is not None else step_in(p.name)),
    ("epoch", lambda p: p.epoch),
    ("epoch", lambda p: p.epoch if p.epoch is not None else epoch_in(p.name)),
    ("step", lambda p: only_number_in(p.name)),
)


def in_order(files: Sequence[Placed]) -> tuple[tuple[Placed, ...], tuple[Placed, ...]]:
    """Files in training order, and those whose place cannot be told (``best.pt`` without a stored step).

    The first source of numbers that all ordinary files share decides: the stored step, a step in the name,
    the epoch, the only number of the name; without one, natural order of the names.
    """
    ordinary = [f for f in files if not f.special and not _unnumbered_start(f)] or list(files)
    unit, source = _common_source(ordinary)
    placed, lost = [], []
    for file in files:
        key = None if source is None else source(file)
        if file.special and key is None and len(ordinary) < len(files) and _is_best(file):
            lost.append(file)
        else:
            placed.append((_sort_key(file, key), _completed(file, unit, key)))
    return tuple(file for _, file in sorted(placed, key=lambda pair: pair[0])), tuple(lost)


def _unnumbered_start(file: Placed) -> bool:
    return is_initial(file.name) and file.step is None and file.epoch is None and step_in(file.name) is None


def _is_best(file: Placed) -> bool:
    return "best" in file.name.lower()


def _common_source(files: Sequence[Placed]) -> tuple[Unit, Callable[[Placed], int | None] | None]:
    for unit, source in _SOURCES:
        if files and all(source(file) is not None for file in files):
            return unit, source
    return "step", None


def _sort_key(file: Placed, key: int | None) -> tuple[int, int, bool, tuple[tuple[int, int, str], ...]]:
    """Start, then numbered, then unnumbered copies such as ``last.pt``."""
    name = natural_key(file.name)
    if is_initial(file.name) and not key:
        return (0, 0, False, name)
    if key is None:
        return (2 if file.special else 1, 0, file.special, name)
    return (1, key, file.special, name)


def _completed(file: Placed, unit: Unit, key: int | None) -> Placed:
    """The file with the number that placed it, and whatever else its name tells."""
    step = key if unit == "step" and key is not None else file.step
    epoch = key if unit == "epoch" and key is not None else file.epoch
    if epoch is None:
        epoch = epoch_in(file.name)
    return replace(file, step=step, epoch=epoch)
