"""Taking the first samples out of what ``build_data`` gives: loaders, lists, generators, endless streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader

from landscope.contract.errors import DataError
from landscope.contract.events import Notice
from landscope.contract.options import DataOptions
from landscope.project.batches import can_cut, count_samples, cut, frozen
from landscope.project.script import ModelScript

_ENDLESS = 2_000_000
"""Samples after which a stream without a length is taken to be endless."""
_NO_WORKERS = "The data is loaded without worker processes (num_workers was set to 0)."


@dataclass(frozen=True)
class Drawn:
    """Frozen batches of a split with their sizes, and how many samples the split has (None = unknown)."""

    batches: tuple[tuple[Any, int], ...]
    population: int | None


def draw(script: ModelScript, split: str, options: DataOptions, notices: list[Notice]) -> Drawn | None:
    """The first ``options.samples`` samples of a split, exactly: the last batch is cut.

    Returns:
        None for a test split for which ``build_data`` gives None.

    Raises:
        ScriptError: the script's data raised. DataError: there is none, or it never ends.
    """
    source = script.build_data(split, options.seed)
    if source is None and split != script.splits[0]:
        sentence = f"build_data({split!r}) gave nothing: that split is left out."
        notices.append(Notice(level="info", sentence=sentence))
        return None
    taking = _Taking(script, split, options.samples, notices)
    with script.environment.entered():
        had_workers = [_without_workers(loader) for loader in _loaders_of(source)]
        if any(had_workers):
            notices.append(Notice(level="info", sentence=_NO_WORKERS))
        taking.take(source)
    if not taking.count:
        raise DataError(f"{script.where('build_data')}: build_data() gave no batches for {split!r}.")
    population = taking.count if taking.ended else _length(source)
    return Drawn(tuple(_recut(taking.batches, options.batch_size)), population)


class _Taking:
    """Draws batches until there are enough samples.

    Attributes:
        batches: with their sizes. count: samples so far. ended: whether the data came to its end.
    """

    def __init__(self, script: ModelScript, split: str, samples: int, notices: list[Notice]) -> None:
        self._script, self._split, self._samples, self._notices = script, split, samples, notices
        self._function = getattr(script.module, "build_data", None)
        self.batches: list[tuple[Any, int]] = []
        self.count = 0
        self.ended = False

    def take(self, source: Any) -> None:
        """Draw from the source until there are enough samples (0 = all) or no more."""
        where = self._script.where("build_data")
        if not isinstance(source, Iterable):
            kind = type(source).__name__
            raise DataError(f"{where}: build_data() gave {kind}, which has no batches to iterate over.")
        for value in self._each(source):
            self._keep(value)
            if self._samples and self.count >= self._samples:
                return
            if self.count > _ENDLESS and not hasattr(source, "__len__"):
                raise DataError(
                    f"{where}: the data of {self._split!r} does not end; set a number of samples."
                )
        self.ended = True

    def _keep(self, value: Any) -> None:
        size = self._size(value)
        left = self._samples - self.count if self._samples else size
        if size > left and can_cut(value, size):
            value, size = cut(value, size, 0, left), left
        elif size > left:
            sentence = f"The last batch of {self._split} cannot be cut: {self.count + size} samples are used."
            self._notices.append(Notice(level="info", sentence=sentence))
        self.batches.append((frozen(value), size))
        self.count += size

    def _size(self, value: Any) -> int:
        own = self._script.batch_size
        if own is None:
            return count_samples(value)
        with self._script.blaming("batch_size()", own):
            return int(own(value))

    def _each(self, source: Iterable[Any]) -> Iterator[Any]:
        """The source's batches, its errors told with the number of the batch."""
        with self._script.blaming(f"iterating over the data of {self._split!r}", self._function):
            iterator = iter(source)
        while True:
            doing = f"batch {len(self.batches) + 1} of the data ({self._split})"
            with self._script.blaming(doing, self._function):
                try:
                    value = next(iterator)
                except StopIteration:
                    return
            yield value


def _loaders_of(source: Any) -> list[DataLoader[Any]]:
    """The data loader, or those that a wrapper holds."""
    if isinstance(source, DataLoader):
        return [source]
    return [v for v in getattr(source, "__dict__", {}).values() if isinstance(v, DataLoader)]


def _without_workers(loader: DataLoader[Any]) -> bool:
    """Let a loader work in this process; whether it had worker processes."""
    had = bool(loader.num_workers)
    if had:
        loader.num_workers, loader.prefetch_factor, loader.timeout = 0, None, 0
    loader.pin_memory = False
    return had


def _length(source: Any) -> int | None:
    """Samples of the data set behind a loader."""
    dataset = getattr(source, "dataset", None)
    try:
        return len(dataset) if dataset is not None else None
    except TypeError:
        return None


def _recut(batches: list[tuple[Any, int]], wanted: int) -> Iterator[tuple[Any, int]]:
    """Batches of at most ``wanted`` samples (0 = as they are); those that cannot be sliced stay."""
    for value, size in batches:
        if wanted <= 0 or size <= wanted or not can_cut(value, size):
            yield value, size
            continue
        for first in range(0, size, wanted):
            last = min(first + wanted, size)
            yield frozen(cut(value, size, first, last)), last - first
