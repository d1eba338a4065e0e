"""Training order of a run's files: by stored step, else by numbers in the names; initialisation first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from landscope.checkpoints.file_names import (
    epoch_in,
    is_initial,
    is_special,
    natural_key,
    numbers_in,
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


Source = Callable[[Placed], int | None]

_SOURCES: tuple[tuple[Unit, Source], ...] = (
    ("step", lambda p: p.step),
    ("step", lambda p: p.step if p.step is not None else step_in(p.name)),
    ("step", lambda p: step_in(p.name)),
    ("epoch", lambda p: p.epoch),
    ("epoch", lambda p: p.epoch if p.epoch is not None else epoch_in(p.name)),
    ("epoch", lambda p: epoch_in(p.name)),
)


def in_order(files: Sequence[Placed]) -> tuple[tuple[Placed, ...], tuple[Placed, ...]]:
    """Files in training order, and those whose place cannot be told (``best.pt`` without a stored step).

    The first source of numbers that all ordinary files have, and that is not the same in all, decides: the
    stored step, a step in the name, the epoch, the one number of the names that varies; without one, natural
    order of the names. Files of several runs that count alike stay together by the words of their names.
    """
    ordinary = [f for f in files if not f.special and not _unnumbered_start(f)] or list(files)
    unit, source = _common_source(ordinary)
    if unit == "step" and source is not None and all(_counts_epochs(file, source) for file in ordinary):
        unit = "epoch"
    by_words = source is not None and _several_runs(ordinary, source)
    placed, lost = [], []
    for file in files:
        key = None if source is None else source(file)
        if file.special and key is None and len(ordinary) < len(files) and _is_best(file):
            lost.append(file)
        else:
            words = _words(file) if by_words else ()
            placed.append(((words, _sort_key(file, key)), _completed(file, unit, key)))
    return tuple(file for _, file in sorted(placed, key=lambda pair: pair[0])), tuple(lost)


def _counts_epochs(file: Placed, source: Source) -> bool:
    """Whether the number of its name is its stored epoch: timm's ``checkpoint-9`` is that of epoch 9."""
    return file.step is None and file.epoch is not None and file.epoch == source(file)


def _unnumbered_start(file: Placed) -> bool:
    return is_initial(file.name) and file.step is None and file.epoch is None and step_in(file.name) is None


def _is_best(file: Placed) -> bool:
    return "best" in file.name.lower()


def _common_source(files: Sequence[Placed]) -> tuple[Unit, Source | None]:
    same: tuple[Unit, Source | None] = ("step", None)
    for unit, source in (*_SOURCES, ("step", _varying_number(files))):
        values = [source(file) for file in files]
        if not values or None in values:
            continue
        if len(values) == 1 or len(set(values)) > 1:
            return unit, source
        same = same if same[1] is not None else (unit, source)
    return same


def _varying_number(files: Sequence[Placed]) -> Source:
    """The one number that differs between names which are otherwise the same (the 5 of ``resnet18_5``).

    Or the only number of each name, if the same follows it everywhere (``first_0``, ``middle_5``, ``end_9``).
    """
    named = {file.name: numbers_in(file.name) for file in files}
    patterns = {words for words, _ in named.values()}
    alike = len(patterns) == 1 or (all(len(p) == 2 for p in patterns) and len({p[1] for p in patterns}) == 1)
    columns = list(zip(*(numbers for _, numbers in named.values()), strict=True)) if alike else []
    varying = [place for place, column in enumerate(columns) if len(set(column)) > 1]

    def source(file: Placed) -> int | None:
        words, numbers = named.get(file.name) or numbers_in(file.name)
        return numbers[varying[0]] if len(varying) == 1 and words in patterns else None

    return source


def _words(file: Placed) -> tuple[str, ...]:
    return numbers_in(file.name)[0]


def _several_runs(files: Sequence[Placed], source: Source) -> bool:
    """Whether files with other words in their names repeat the same numbers: ``a_step1``, ``b_step1``."""
    words = {_words(file) for file in files}
    return len(words) > 1 and len({source(file) for file in files}) <= len(files) / 2


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
