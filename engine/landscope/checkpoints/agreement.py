"""Without a model: which files of a run hold the same network, so that they can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from landscope.checkpoints.entry import Entry, with_changes
from landscope.checkpoints.mappings import Weights
from landscope.checkpoints.names import looks_like_buffer
from landscope.checkpoints.records import TensorRecord


def _is_buffer(name: str, tensor: Weights) -> bool:
    """Whether an entry of a file is a buffer, as far as that can be told without the model."""
    integer = tensor.is_integer if isinstance(tensor, TensorRecord) else tensor.dtype.kind in "biu"
    return looks_like_buffer(name, integer)


def agreeing(entries: list[Entry]) -> list[Entry]:
    """Skip files whose parameters have other names or shapes than those of most files."""
    shapes = [_signature(entry.matched.tensors) if entry.matched else None for entry in entries]
    known = Counter(s for s in shapes if s is not None)
    if len(known) < 2:
        return entries
    common = dict(known.most_common(1)[0][0])
    return [
        _compared(e, dict(s), common) if s is not None else e for e, s in zip(entries, shapes, strict=True)
    ]


def _signature(tensors: Mapping[str, Weights]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple(sorted((n, tuple(t.shape)) for n, t in tensors.items() if not _is_buffer(n, t)))


def _compared(
    entry: Entry, own: Mapping[str, tuple[int, ...]], common: Mapping[str, tuple[int, ...]]
) -> Entry:
    for name, shape in own.items():
        if name in common and common[name] != shape:
            reason = f"{name} has shape {shape}, in most files of this run {common[name]}"
            return Entry(with_changes(entry.info, state="skipped", reason=reason))
    odd = sorted((set(own) ^ set(common)) - _twins(entry))
    if not odd:
        return entry
    where = "only here" if odd[0] in own else "missing here"
    reason = f"its parameters differ from those of most files of this run: {odd[0]} is {where}"
    return Entry(with_changes(entry.info, state="skipped", reason=reason))


def _twins(entry: Entry) -> set[str]:
    """Names that stand for the same bytes as another name of the file: tied parameters."""
    places: dict[tuple[Any, ...], list[str]] = {}
    for name, tensor in (entry.matched.tensors if entry.matched else {}).items():
        if isinstance(tensor, TensorRecord):
            places.setdefault((tensor.storage, tensor.start, tensor.shape), []).append(name)
    return {name for names in places.values() if len(names) > 1 for name in names}
