"""Cut frozen batches anew: some samples of them, in another order, in batches of another size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from landscope.project.batching.frozen import FrozenBatch

_SCALARS = (str, int, float, type(None))
"""What may stand beside the tensors of a batch and is kept, if all batches agree on it."""


class CannotRecutError(Exception):
    """The batches do not slice along a leading dimension that counts samples; use them as they are."""


def recut(batches: Sequence[FrozenBatch], samples: Tensor, size: int) -> list[FrozenBatch]:
    """Batches of ``size`` with the chosen samples; a last batch of one joins the one before it.

    Args:
        batches: frozen batches of a split.
        samples: (K,) int64 indices into the split, in the order wanted.
        size: samples per new batch.

    Raises:
        CannotRecutError: a batch holds tensors of another leading dimension, or batches that do not join.
    """
    starts = _starts(batches)
    groups = list(torch.split(samples, size))
    if len(groups) > 1 and len(groups[-1]) == 1:
        groups[-2:] = [torch.cat(groups[-2:])]
    gathered = [_gather(batches, starts, group) for group in groups]
    return [
        dataclasses.replace(batches[0], value=value, size=len(group), index=index, total=len(groups))
        for index, (group, value) in enumerate(zip(groups, gathered, strict=True))
    ]


def with_last_joined(batches: Sequence[FrozenBatch]) -> list[FrozenBatch]:
    """The same samples with the last two batches as one.

    Raises:
        CannotRecutError: the batches do not join.
    """
    *others, before, last = batches
    both = dataclasses.replace(before, value=_join([before.value, last.value]), size=before.size + last.size)
    return [dataclasses.replace(batch, total=len(others) + 1) for batch in (*others, both)]


def sample_count(batches: Sequence[FrozenBatch]) -> int:
    """Samples in all batches together."""
    return sum(batch.size for batch in batches)


def _starts(batches: Sequence[FrozenBatch]) -> Tensor:
    """(number of batches + 1,) index of each batch's first sample, and their total."""
    return torch.tensor([0, *(batch.size for batch in batches)]).cumsum(0)


def _gather(batches: Sequence[FrozenBatch], starts: Tensor, samples: Tensor) -> Any:
    """The value of one batch with the given samples, grouped by the batch they come from."""
    source = torch.searchsorted(starts, samples, right=True) - 1
    parts = []
    for number in torch.unique(source).tolist():
        rows = samples[source == number] - starts[number]
        parts.append(_select(batches[number].value, rows, batches[number].size))
    return _join(parts)


def _select(value: Any, rows: Tensor, size: int) -> Any:
    if isinstance(value, Tensor):
        if value.ndim == 0 or value.shape[0] != size:
            raise CannotRecutError
        return value.index_select(0, rows.to(value.device))
    if isinstance(value, _SCALARS):
        return value
    return _rebuild(value, [_select(part, rows, size) for part in _parts(value)])


def _join(values: list[Any]) -> Any:
    first = values[0]
    if len(values) == 1:
        return first
    if any(type(value) is not type(first) for value in values):
        raise CannotRecutError
    if isinstance(first, Tensor):
        if any(value.shape[1:] != first.shape[1:] for value in values):
            raise CannotRecutError
        return torch.cat(values)
    if isinstance(first, _SCALARS):
        if any(value != first for value in values):
            raise CannotRecutError
        return first
    columns = zip(*(_parts(value) for value in values), strict=True)
    return _rebuild(first, [_join(list(column)) for column in columns])


def _parts(value: Any) -> list[Any]:
    """The things inside a container."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    raise CannotRecutError


def _rebuild(value: Any, parts: list[Any]) -> Any:
    """A container like ``value`` around other parts."""
    if type(value) is dict:
        return dict(zip(value, parts, strict=True))
    if hasattr(value, "_fields"):
        return type(value)(*parts)
    if type(value) in (list, tuple):
        return type(value)(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return dataclasses.replace(value, **dict(zip(names, parts, strict=True)))
    raise CannotRecutError
