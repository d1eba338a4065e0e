"""Batches of any nesting: walking, counting, cutting, freezing and moving their tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

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
    """Number of samples: the leading dimension.

    If all tensors agree it is theirs; else that of the first tensor directly in the batch (labels, often);
    else, for lists of images with lists of targets, their common length; else that of the first tensor.
    """
    leading = [tensor.shape[0] for tensor in tensors_in(value) if tensor.ndim > 0]
    if not leading:
        return 1
    if len(set(leading)) == 1 and not _is_list_of_samples(value):
        return int(leading[0])
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(parts, (list, tuple)):
        direct = [part.shape[0] for part in parts if isinstance(part, Tensor) and part.ndim > 0]
        lengths = {len(part) for part in parts if isinstance(part, (list, tuple))}
        if direct:
            return int(direct[0])
        if len(lengths) == 1:
            return int(lengths.pop())
    return int(leading[0])


def _is_list_of_samples(value: Any) -> bool:
    """Whether the batch is lists of equal length, one of which holds dicts: a detection target per image."""
    parts = list(value) if isinstance(value, (list, tuple)) else []
    lists = [part for part in parts if isinstance(part, (list, tuple))]
    same = len(lists) == len(parts) > 0 and len({len(part) for part in lists}) == 1
    return same and any(part and all(isinstance(item, Mapping) for item in part) for part in lists)


def can_cut(value: Any, size: int) -> bool:
    """Whether every tensor has the samples along its leading dimension, so that the batch can be sliced."""
    tensors = list(tensors_in(value))
    return (
        bool(tensors) and all(t.ndim > 0 and t.shape[0] == size for t in tensors) and not _moves_itself(value)
    )


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
