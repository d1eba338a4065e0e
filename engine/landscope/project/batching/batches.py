"""Batches of any nesting: walking, counting, cutting, freezing and moving their tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

LABEL_KEYS = ("labels", "label", "targets", "target", "y")
HALF = (torch.float16, torch.bfloat16)
Change = Callable[[Tensor], Tensor]


def changed(value: Any, change: Change) -> Any:
    """The batch with ``change`` applied to every tensor; dicts, tuples, lists, dataclasses keep their kind.

    Anything else (numbers, strings, None) is kept as it is.
    """
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return _like_mapping(value, {key: changed(item, change) for key, item in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(changed(item, change) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(changed(item, change) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _like_dataclass(value, change)
    return value


def _like_mapping(value: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    if type(value) is dict:
        return items
    try:
        return type(value)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def _like_dataclass(value: Any, change: Change) -> Any:
    fields = {f.name: changed(getattr(value, f.name), change) for f in dataclasses.fields(value) if f.init}
    return dataclasses.replace(value, **fields)


def copied(value: Any) -> Any:
    """The batch with containers and tensors of its own, for a loss that changes what it is given."""
    return changed(value, torch.Tensor.clone)


def same(value: Any, other: Any) -> bool:
    """Whether two batches hold the same values in the same places; NaN equals NaN."""
    mine, theirs = list(tensors_in(value)), list(tensors_in(other))
    return len(mine) == len(theirs) and all(map(_equal, mine, theirs))


def _equal(mine: Tensor, theirs: Tensor) -> bool:
    if mine.layout != torch.strided or mine.is_nested:
        return True
    return mine.shape == theirs.shape and bool(((mine == theirs) | (mine.isnan() & theirs.isnan())).all())


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Every tensor of a batch, in order."""
    found: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    changed(value, keep)
    yield from found


def frozen(value: Any) -> Any:
    """A copy that nobody else can change: detached and cloned on the CPU.

    Batch objects with a ``to`` of their own (packed sequences, graphs) are asked to go to the CPU instead.
    """
    if _moves_itself(value):
        return value.to("cpu")
    return changed(value, lambda tensor: tensor.detach().to("cpu", copy=True))


def with_tensors(value: Any) -> Any:
    """The batch with NumPy arrays of numbers made into tensors."""
    if isinstance(value, np.ndarray):
        return torch.as_tensor(value) if value.dtype.kind in "biufc" else value
    if isinstance(value, Mapping):
        return _like_mapping(value, {key: with_tensors(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)) and not _moves_itself(value):
        parts = map(with_tensors, value)
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def moved(value: Any, device: torch.device, *, as_float32: bool = False) -> Any:
    """The batch on a device; half precision becomes float32 if asked."""
    if _moves_itself(value):
        return value.to(device)

    def move(tensor: Tensor) -> Tensor:
        tensor = tensor.to(device)
        return tensor.float() if as_float32 and tensor.dtype in HALF else tensor

    return changed(value, move)


def _moves_itself(value: Any) -> bool:
    plain = isinstance(value, (Tensor, Mapping, list)) or type(value) is tuple
    return not plain and callable(getattr(value, "to", None))


def bytes_in(value: Any) -> int:
    """Bytes of all tensors of a batch."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(value))


def count_samples(value: Any) -> int:
    """Number of samples: the leading dimension of the batch's tensors and arrays.

    Where they differ it is that of the labels of a dict; for lists of images with lists of targets their
    common length; else the commonest among the tensors directly in the batch, then among all. An object that
    is no container says it itself (``num_graphs``, ``batch_size``, ``len()``), or its attributes do.
    """
    leading = list(_leading(value))
    if not leading:
        return _own_count(value)
    if len(set(leading)) == 1 and not _is_list_of_samples(value):
        return leading[0]
    if isinstance(value, Mapping):
        labels = [n for key in LABEL_KEYS if key in value for n in _leading(value[key])]
        return (labels or [_commonest(_direct(value.values()) or leading)])[0]
    if isinstance(value, (list, tuple)):
        lengths = {len(part) for part in value if isinstance(part, (list, tuple))}
        direct = _direct(value)
        return lengths.pop() if len(lengths) == 1 and not direct else _commonest(direct or leading)
    return _commonest(leading)


def _leading(value: Any) -> Iterator[int]:
    """Leading dimensions of all tensors and arrays inside."""
    for tensor in tensors_in(value):
        if tensor.dim() > 0:
            yield tensor.size(0)  # nested tensors have no shape
    for array in _arrays_in(value):
        if array.ndim > 0:
            yield len(array)


def _arrays_in(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _arrays_in(part)


def _direct(parts: Iterable[Any]) -> list[int]:
    """Leading dimensions of the tensors and arrays that are parts themselves."""
    return [n for part in parts if isinstance(part, (Tensor, np.ndarray)) for n in _leading(part)]


def _commonest(numbers: list[int]) -> int:
    """The commonest number, the first of several."""
    return max(numbers, key=numbers.count)


def _own_count(value: Any) -> int:
    """What an object without tensors that can be seen says of itself; 1 if nothing."""
    for name in ("num_graphs", "batch_size"):
        if isinstance(getattr(value, name, None), int):
            return int(getattr(value, name))
    if hasattr(value, "__len__") and not isinstance(value, (str, bytes)):
        return len(value)
    inside = [n for part in getattr(value, "__dict__", {}).values() for n in _leading(part)]
    return _commonest(inside) if inside else 1


def _is_list_of_samples(value: Any) -> bool:
    """Whether the batch is lists of equal length, one of which holds dicts: a detection target per image."""
    parts = list(value) if isinstance(value, (list, tuple)) else []
    lists = [part for part in parts if isinstance(part, (list, tuple))]
    same = len(lists) == len(parts) > 0 and len({len(part) for part in lists}) == 1
    return same and any(part and all(isinstance(item, Mapping) for item in part) for part in lists)


def can_cut(value: Any, size: int) -> bool:
    """Whether every tensor has the samples along its leading dimension, so that the batch can be sliced."""
    tensors = list(tensors_in(value))
    plain = all(t.layout == torch.strided and not t.is_nested for t in tensors)
    whole = plain and all(t.dim() > 0 and t.size(0) == size for t in tensors)
    return bool(tensors) and whole and not _moves_itself(value) and next(_arrays_in(value), None) is None


def cut(value: Any, size: int, first: int, last: int) -> Any:
    """Samples ``first`` up to ``last`` of a batch of ``size``, lists with one entry per sample included."""
    if isinstance(value, Tensor):
        return value[first:last]
    if isinstance(value, Mapping):
        return _like_mapping(value, {key: cut(item, size, first, last) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        if len(value) == size and not any(isinstance(item, (Tensor, Mapping, list, tuple)) for item in value):
            return type(value)(value[first:last])
        parts = [cut(item, size, first, last) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _like_dataclass(value, lambda tensor: tensor[first:last])
    return value
