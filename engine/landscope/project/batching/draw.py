"""Taking the first samples out of what ``build_data`` gives: loaders, lists, generators, endless streams."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader

from landscope.contract.errors import DataError
from landscope.contract.events import Notice, Progress
from landscope.contract.job import CancelToken
from landscope.contract.options import DataOptions
from landscope.project.batching.batches import bytes_in, can_cut, count_samples, cut, frozen, with_tensors
from landscope.project.batching.sources import Say, as_batches
from landscope.project.batching.workers import as_only_worker, without_workers
from landscope.project.script import ModelScript

_ENDLESS, _ENDLESS_BYTES, _ENDLESS_S = 2_000_000, 2 << 30, 30.0
"""Samples, bytes and seconds after which a stream without a length is taken to be endless."""
_SLICE_S = 0.5
clock = time.monotonic
_NO_WORKERS = "The data is loaded without worker processes (num_workers was set to 0)."


@dataclass(frozen=True)
class Drawn:
    """Frozen batches of a split with their sizes, and how many samples the split has (None = unknown)."""

    batches: tuple[tuple[Any, int], ...]
    population: int | None


def draw(
    script: ModelScript,
    split: str,
    source: Any,
    options: DataOptions,
    notices: list[Notice],
    token: CancelToken,
) -> Generator[Progress, None, Drawn]:
    """The first ``options.samples`` samples of a split, exactly: the last batch is cut.

    Yields how far it is, before the first batch and every half second, outside the script's surroundings.

    Args:
        script, split: whose data it is. source: what the script gave for the split. options: how much.
        notices: takes what a person should know. token: checked before every batch.

    Raises:
        ScriptError: the script's data raised. JobCancelled: somebody cancelled.
        DataError: there is none, it never ends, or it does not fit into memory.
    """

    def say(sentence: str) -> None:
        notices.append(Notice(level="info", sentence=sentence))

    with script.environment.entered():
        source = as_batches(source, say)
        loaders = _loaders_of(source)
        alone = [loader for loader in loaders if without_workers(loader)]
    if alone:
        say(_NO_WORKERS)
    taking = _Taking(script, split, source, options.samples, say)
    while not taking.finished:
        yield taking.progress
        with script.environment.entered(), as_only_worker(alone):
            taking.take_for(_SLICE_S, token)
    if not taking.count:
        raise DataError(f"{script.where('build_data')}: build_data() gave no batches for {split!r}.")
    population = taking.count if taking.ended else _length(source)
    return Drawn(tuple(_recut(taking.batches, options.batch_size)), population)


class _Taking:
    """Draws batches until there are enough samples (0 = all) or no more.

    Attributes:
        batches: with their sizes. count: samples so far. ended: whether the data came to its end.
        finished: whether there is nothing more to do.
    """

    def __init__(self, script: ModelScript, split: str, source: Any, samples: int, say: Say) -> None:
        self._script, self._split, self._source, self._samples = script, split, source, samples
        self._say = say
        self._function = getattr(script.module, "build_data", None)
        self._where = script.where("build_data")
        self._iterator: Iterator[Any] | None = None
        self._bytes = 0
        self._limit = most_bytes()
        self._began = clock()
        self.batches: list[tuple[Any, int]] = []
        self.count = 0
        self.ended = self.finished = False
        if not isinstance(source, Iterable) and not hasattr(source, "__getitem__"):
            kind = type(source).__name__
            raise DataError(f"{self._where}: build_data() gave {kind}, which has no batches to iterate over.")

    @property
    def progress(self) -> Progress:
        """How many samples of how many are there."""
        total = self._samples or _length(self._source) or 0
        of = f" of {total:,}" if total else ""
        what = f"drawing data ({self._split}): {self.count:,}{of} samples"
        return Progress(done=self.count, total=max(total, self.count, 1), what=what)

    def take_for(self, seconds: float, token: CancelToken) -> None:
        """Draw for about so long, one batch at least."""
        end = clock() + seconds
        while True:
            token.check()
            self._take_one()
            if self.finished or clock() >= end:
                return

    def _take_one(self) -> None:
        found, value = self._next()
        if not found:
            self.ended = self.finished = True
            return
        self._keep(value)
        self.finished = 0 < self._samples <= self.count
        self._check_limits()

    def _check_limits(self) -> None:
        """Refuse data that does not end, or not in memory."""
        if self._bytes > self._limit:
            raise DataError(
                f"{self._where}: {self.count:,} samples of {self._split!r} take more than "
                f"{self._limit / 2**30:.1f} GiB of memory; set a smaller number of samples."
            )
        if self._samples or hasattr(self._source, "__len__"):
            return
        seconds = clock() - self._began
        if self.count > _ENDLESS or self._bytes > _ENDLESS_BYTES or seconds > _ENDLESS_S:
            raise DataError(
                f"{self._where}: the data of {self._split!r} does not end ({self.count:,} samples after "
                f"{seconds:.0f} s); set a number of samples."
            )

    def _keep(self, value: Any) -> None:
        if self._script.loss is None:  # a loss of its own may want the arrays
            value = with_tensors(value)
        size = self._size(value)
        left = self._samples - self.count if self._samples else size
        if size > left and can_cut(value, size):
            value, size = cut(value, size, 0, left), left
        elif size > left:
            self._say(f"The last batch of {self._split} cannot be cut: {self.count + size} samples are used.")
        if not size:
            return
        value = frozen(value)
        self._bytes += bytes_in(value)
        self.batches.append((value, size))
        self.count += size

    def _size(self, value: Any) -> int:
        own = self._script.batch_size
        if own is None:
            return count_samples(value)
        with self._script.blaming("batch_size()", own):
            return int(own(value))

    def _next(self) -> tuple[bool, Any]:
        """Whether there is another batch, and it; errors are told with its number."""
        if self._iterator is None:
            with self._script.blaming(f"iterating over the data of {self._split!r}", self._function):
                self._iterator = iter(self._source)
        doing = f"batch {len(self.batches) + 1} of the data ({self._split})"
        with self._script.blaming(doing, self._function):
            try:
                return True, next(self._iterator)
            except StopIteration:
                return False, None


def _loaders_of(source: Any) -> list[DataLoader[Any]]:
    """The data loader, or those that a wrapper holds."""
    if isinstance(source, DataLoader):
        return [source]
    return [v for v in getattr(source, "__dict__", {}).values() if isinstance(v, DataLoader)]


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


def most_bytes() -> int:
    """Half of the memory that is there: data beyond it would leave none for the model."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 8 << 30
