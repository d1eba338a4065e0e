"""The script's data, drawn once and frozen: every point and every checkpoint sees the same tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader

from landscope.contract.errors import DataError
from landscope.contract.events import Notice
from landscope.contract.options import DataOptions
from landscope.project.batches import bytes_in, can_cut, count_samples, cut, frozen, moved
from landscope.project.script import ModelScript

_ENDLESS = 2_000_000
_SHARE_OF_MEMORY = 0.5


@dataclass(frozen=True, eq=False)
class FrozenBatch:
    """One batch of a split.

    Attributes:
        split, index, total: which batch it is, of how many. size: its samples.
    """

    split: str
    index: int
    total: int
    size: int
    stored: Any
    device: torch.device
    resident: bool
    as_float32: bool = False

    @property
    def value(self) -> Any:
        """The batch on the device; the same tensors at every call if they stay there."""
        return self.stored if self.resident else moved(self.stored, self.device, as_float32=self.as_float32)

    @property
    def title(self) -> str:
        """Such as "batch 2 of 3 (train)"."""
        return f"batch {self.index + 1} of {self.total} ({self.split})"


class FrozenData:
    """All splits, frozen.

    Attributes:
        device: where the batches are used. notices: what a person should know.
    """

    def __init__(
        self,
        batches: dict[str, tuple[FrozenBatch, ...]],
        populations: dict[str, int | None],
        device: torch.device,
        notices: list[Notice],
    ) -> None:
        self._batches, self._populations = batches, populations
        self.device, self.notices = device, notices
        self._by_value = {id(b.stored): b for split in batches.values() for b in split if b.resident}

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, ``train`` first."""
        return tuple(self._batches)

    def batches(self, split: str) -> Sequence[FrozenBatch]:
        """Batches of a split.

        Raises:
            DataError: there is no such split.
        """
        if split not in self._batches:
            raise DataError(f"The data has no split {split!r}; it has {', '.join(self.splits)}.")
        return self._batches[split]

    def samples(self, split: str) -> int:
        """Number of frozen samples of a split."""
        return sum(batch.size for batch in self.batches(split))

    def population(self, split: str) -> int | None:
        """Number of samples the split has in all, None if that is not known (endless data)."""
        return self._populations.get(split)

    def locate(self, value: Any) -> FrozenBatch | None:
        """The frozen batch whose ``value`` this is."""
        return self._by_value.get(id(value))


def freeze(
    script: ModelScript, options: DataOptions, device: torch.device, *, as_float32: bool = False
) -> FrozenData:
    """Draw the first ``options.samples`` samples of every split once.

    Args:
        script: the loaded script. options: how much to draw. device: where it is used.
        as_float32: whether half precision becomes float32.

    Raises:
        ScriptError: the script's data raised. DataError: there is none, or it never ends.
    """
    notices: list[Notice] = []
    drawn: dict[str, tuple[list[tuple[Any, int]], int | None]] = {}
    for split in script.splits:
        found = _draw(script, split, options, notices)
        if found is not None:
            drawn[split] = found
    stays = _fits(sum(bytes_in(v) for batches, _ in drawn.values() for v, _ in batches), device)
    frozen_splits = {
        split: _seal(split, batches, device, stays, as_float32) for split, (batches, _) in drawn.items()
    }
    return FrozenData(frozen_splits, {split: whole for split, (_, whole) in drawn.items()}, device, notices)


def _draw(
    script: ModelScript, split: str, options: DataOptions, notices: list[Notice]
) -> tuple[list[tuple[Any, int]], int | None] | None:
    """Batches with their sizes, and the size of the whole split; None for a test split that there is not."""
    source = script.build_data(split, options.seed)
    if source is None and split != "train":
        notices.append(
            Notice(level="info", sentence=f"build_data({split!r}) gave nothing: only train is measured.")
        )
        return None
    with script.environment.entered():
        loaders = [source] if isinstance(source, DataLoader) else _loaders_in(source)
        if any(_without_workers(loader) for loader in loaders):
            sentence = "The data is loaded without worker processes (num_workers was set to 0)."
            notices.append(Notice(level="info", sentence=sentence))
        batches, ended = _take(script, split, source, options.samples, notices)
    if not batches:
        raise DataError(f"{script.where('build_data')}: build_data() gave no batches for {split!r}.")
    whole = sum(size for _, size in batches) if ended else _length(source)
    return _recut(batches, options.batch_size), whole


def _loaders_in(source: Any) -> list[DataLoader[Any]]:
    """Data loaders that a wrapper holds."""
    return [v for v in getattr(source, "__dict__", {}).values() if isinstance(v, DataLoader)]


def _without_workers(loader: DataLoader[Any]) -> bool:
    """Let a loader work in this process; whether it had worker processes."""
    had = bool(loader.num_workers)
    if had:
        loader.num_workers, loader.prefetch_factor, loader.timeout = 0, None, 0
    loader.pin_memory = False
    return had


def _length(source: Any) -> int | None:
    dataset = getattr(source, "dataset", None)
    try:
        return len(dataset) if dataset is not None else None
    except TypeError:
        return None


def _take(
    script: ModelScript, split: str, source: Any, samples: int, notices: list[Notice]
) -> tuple[list[tuple[Any, int]], bool]:
    """Frozen batches until there are ``samples`` (0 = all), the last one cut; whether the data ended."""
    if not isinstance(source, Iterable):
        kind = type(source).__name__
        raise DataError(
            f"{script.where('build_data')}: build_data() gave {kind}, which has no batches to iterate over."
        )
    taken: list[tuple[Any, int]] = []
    count = 0
    for value in _each(script, split, source):
        size = _size(script, value)
        left = samples - count if samples else size
        if size > left and can_cut(value, size):
            value, size = cut(value, size, 0, left), left
        taken.append((frozen(value), size))
        count += size
        if samples and count >= samples:
            if count > samples:
                notices.append(_uncut(split, count))
            return taken, False
        if count > _ENDLESS and not hasattr(source, "__len__"):
            raise DataError(f"The data of {split!r} does not end; set a number of samples.")
    return taken, True


def _uncut(split: str, count: int) -> Notice:
    sentence = f"The last batch of {split} cannot be cut: {count} samples are used."
    return Notice(level="info", sentence=sentence)


def _each(script: ModelScript, split: str, source: Iterable[Any]) -> Iterator[Any]:
    """The source's batches, its errors told with the number of the batch."""
    number = 1
    with script.blaming(f"iterating over the data of {split!r}", getattr(script.module, "build_data", None)):
        iterator = iter(source)
    while True:
        with script.blaming(
            f"batch {number} of the data ({split})", getattr(script.module, "build_data", None)
        ):
            try:
                value = next(iterator)
            except StopIteration:
                return
        yield value
        number += 1


def _size(script: ModelScript, value: Any) -> int:
    if script.batch_size is None:
        return count_samples(value)
    with script.blaming("batch_size()", script.batch_size):
        return int(script.batch_size(value))


def _recut(batches: list[tuple[Any, int]], wanted: int) -> list[tuple[Any, int]]:
    """Batches of at most ``wanted`` samples (0 = as they are); those that cannot be sliced stay."""
    if wanted <= 0:
        return batches
    parts: list[tuple[Any, int]] = []
    for value, size in batches:
        if size <= wanted or not can_cut(value, size):
            parts.append((value, size))
            continue
        for first in range(0, size, wanted):
            last = min(first + wanted, size)
            parts.append((frozen(cut(value, size, first, last)), last - first))
    return parts


def _fits(size: int, device: torch.device) -> bool:
    """Whether the data may stay on the device: at most half of the memory that is free there."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return size <= _SHARE_OF_MEMORY * free
    return True


def _seal(
    split: str, batches: list[tuple[Any, int]], device: torch.device, stays: bool, as_float32: bool
) -> tuple[FrozenBatch, ...]:
    total = len(batches)
    return tuple(
        FrozenBatch(
            split,
            index,
            total,
            size,
            moved(value, device, as_float32=as_float32) if stays else value,
            device,
            stays,
            as_float32,
        )
        for index, (value, size) in enumerate(batches)
    )
