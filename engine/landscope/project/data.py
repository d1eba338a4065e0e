"""The script's data, drawn once and frozen: every point and every checkpoint sees the same tensors."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, overload

import torch

from landscope.contract.errors import DataError, LandscopeError, ScriptError
from landscope.contract.events import Notice, Progress
from landscope.contract.job import CancelToken
from landscope.contract.options import DataOptions
from landscope.project.batching.batches import bytes_in, moved
from landscope.project.batching.draw import Drawn, draw
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.batching.rebatch import with_last_joined
from landscope.project.batching.sources import splits_of
from landscope.project.script import ModelScript

_SHARE_OF_MEMORY = 0.5


class _MovedBatches(Sequence[FrozenBatch]):
    """Batches that do not fit on the device together: each is moved there when it is asked for."""

    def __init__(self, stored: tuple[FrozenBatch, ...], device: torch.device) -> None:
        self._stored, self._device = stored, device

    def __len__(self) -> int:
        return len(self._stored)

    @overload
    def __getitem__(self, index: int) -> FrozenBatch: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FrozenBatch]: ...
    def __getitem__(self, index: int | slice) -> FrozenBatch | Sequence[FrozenBatch]:
        if isinstance(index, slice):
            return _MovedBatches(self._stored[index], self._device)
        batch = self._stored[index]
        return replace(batch, value=moved(batch.value, self._device))

    def with_last_joined(self) -> _MovedBatches:
        """With the last two as one."""
        return _MovedBatches(tuple(with_last_joined(self._stored)), self._device)


class FrozenData:
    """All splits, frozen.

    Attributes:
        device: where the batches are used. notices: what a person should know.
    """

    def __init__(
        self,
        batches: dict[str, Sequence[FrozenBatch]],
        populations: dict[str, int | None],
        device: torch.device,
        notices: list[Notice],
    ) -> None:
        self._batches, self._populations = batches, populations
        self.device, self.notices = device, notices
        self._by_value = self._index()

    def _index(self) -> dict[int, FrozenBatch]:
        resident = [split for split in self._batches.values() if isinstance(split, tuple)]
        return {id(batch.value): batch for split in resident for batch in split}

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits, ``train`` first."""
        return tuple(self._batches)

    def batches(self, split: str) -> Sequence[FrozenBatch]:
        """Batches of a split, the same ones at every call.

        Raises:
            DataError: there is no such split.
        """
        if split not in self._batches:
            raise DataError(f"The data has no split {split!r}; it has {', '.join(self.splits)}.")
        return self._batches[split]

    def join_last(self, split: str) -> None:
        """Make one batch of the last two of a split.

        Raises:
            CannotRecutError: they do not join.
        """
        held = self.batches(split)
        joined = held.with_last_joined() if isinstance(held, _MovedBatches) else tuple(with_last_joined(held))
        self._batches[split] = joined
        self._by_value = self._index()

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
    script: ModelScript,
    options: DataOptions,
    device: torch.device,
    *,
    as_float32: bool = False,
    token: CancelToken | None = None,
) -> Generator[Progress, None, FrozenData]:
    """Draw the first ``options.samples`` samples of every split once; they stay on the device if they fit.

    Args:
        script: the loaded script. options: how much to draw. device: where it is used.
        as_float32: whether half precision becomes float32. token: checked before every batch.

    Yields how far it is.

    Raises:
        ScriptError: the script's data raised. DataError: there is none, or it never ends. Both of the first
            split only; another one is left out, with a notice.
        JobCancelled: somebody cancelled.
    """
    notices: list[Notice] = []
    drawn: dict[str, Drawn] = {}
    for split, source in _sources(script, options.seed, notices):
        try:
            drawn[split] = yield from draw(script, split, source, options, notices, token or CancelToken())
        except (ScriptError, DataError) as error:
            if not drawn:
                raise
            notices.append(_left_out(split, error))
    stays = _fits(sum(bytes_in(value) for one in drawn.values() for value, _ in one.batches), device)
    host = torch.device("cpu")
    sealed = {
        split: _sealed(split, one, device if stays else host, as_float32) for split, one in drawn.items()
    }
    batches: dict[str, Sequence[FrozenBatch]] = {**sealed}
    if not stays:
        batches = {split: _MovedBatches(one, device) for split, one in sealed.items()}
    return FrozenData(batches, {split: one.population for split, one in drawn.items()}, device, notices)


def _sources(script: ModelScript, seed: int, notices: list[Notice]) -> Iterator[tuple[str, Any]]:
    """Each split with what the script gives for it."""

    def say(sentence: str) -> None:
        notices.append(Notice(level="info", sentence=sentence))

    if len(script.splits) == 1:
        given = script.build_data(script.splits[0], seed)
        with script.environment.entered(), script.blaming("build_data()"):
            parts = splits_of(given, say)
        yield from parts.items()
        return
    for split in script.splits:
        try:
            source = script.build_data(split, seed)
        except ScriptError as error:
            if split == script.splits[0]:
                raise
            notices.append(_left_out(split, error))
            continue
        if source is None and split != script.splits[0]:
            say(f"build_data({split!r}) gave nothing: that split is left out.")
        else:
            yield split, source


def _left_out(split: str, error: LandscopeError) -> Notice:
    """A split beside ``train`` that cannot be had costs nothing else."""
    return Notice(
        level="warning", sentence=f"The split {split} is left out: {error.sentence}", detail=error.detail
    )


def _sealed(split: str, drawn: Drawn, device: torch.device, as_float32: bool) -> tuple[FrozenBatch, ...]:
    total = len(drawn.batches)
    return tuple(
        FrozenBatch(moved(value, device, as_float32=as_float32), size, split, index, total)
        for index, (value, size) in enumerate(drawn.batches)
    )


def _fits(size: int, device: torch.device) -> bool:
    """Whether the data may stay on the device: at most half of the memory that is free there."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return size <= _SHARE_OF_MEMORY * free
    return True
