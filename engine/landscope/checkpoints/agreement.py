"""Without a model: which files of a run hold the same network, so that they can be compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from landscope.checkpoints.entry import Entry, with_changes
from landscope.checkpoints.files.mappings import Weights
from landscope.checkpoints.matching.names import looks_like_buffer
from landscope.checkpoints.records import TensorRecord
from landscope.checkpoints.wording import clause, shown

Signature = tuple[tuple[str, tuple[int, ...]], ...]
"""Sorted names and shapes of what look like parameters."""


def agreeing(entries: list[Entry]) -> list[Entry]:
    """Skip files whose parameters have other names or shapes than those of most files, or the larger ones.

    Names of tied parameters that a file stores twice stand for one: it agrees with one that stores it once.
    """
    known: dict[object, Signature] = {}
    shapes = [_signature(entry.matched.tensors, known) if entry.matched else None for entry in entries]
    counted = Counter(s for s in shapes if s is not None)
    if len(counted) < 2:
        return entries
    most = max(counted, key=lambda s: (counted[s], _elements(s)))
    typical = next(e for e, s in zip(entries, shapes, strict=True) if s == most)
    majority = 2 * counted[most] > counted.total()
    others = "most files of this run" if majority else shown(typical.info.name)
    return [
        _compared(e, dict(s), typical, dict(most), others) if s is not None else e
        for e, s in zip(entries, shapes, strict=True)
    ]


def _elements(signature: Signature) -> int:
    return sum(math.prod(shape) for _, shape in signature)


def _signature(tensors: Mapping[str, Weights], known: dict[object, Signature]) -> Signature:
    """Most files of a run are laid out alike: what is ``known`` of one serves the others."""
    layout = tuple((name, tensor.dtype, tensor.shape) for name, tensor in tensors.items())
    if layout not in known:
        kept = ((n, tuple(t.shape)) for n, t in tensors.items() if not _is_buffer(n, t))
        known[layout] = tuple(sorted(kept))
    return known[layout]


def _is_buffer(name: str, tensor: Weights) -> bool:
    """Whether an entry of a file is a buffer, as far as that can be told without the model."""
    integer = tensor.is_integer if isinstance(tensor, TensorRecord) else tensor.dtype.kind in "biu"
    return looks_like_buffer(name, integer)


def _compared(
    entry: Entry,
    own: Mapping[str, tuple[int, ...]],
    typical: Entry,
    common: Mapping[str, tuple[int, ...]],
    others: str,
) -> Entry:
    """The entry, skipped if its network is not the typical one, which is that of the ``others``."""
    for name, shape in own.items():
        if name in common and common[name] != shape:
            reason = f"{shown(name)} has shape {shape}, in {others} {common[name]}"
            return Entry(with_changes(entry.info, state="skipped", reason=clause(reason)))
    odd = sorted(_lacking(own, entry, common) | _lacking(common, typical, own))
    if not odd:
        return entry
    where = "only here" if odd[0] in own else "missing here"
    reason = f"its parameters differ from those of {others}: {shown(odd[0])} is {where}"
    return Entry(with_changes(entry.info, state="skipped", reason=reason))


def _lacking(names: Mapping[str, object], entry: Entry, other: Mapping[str, object]) -> set[str]:
    """Names of a file that the other has under none of the names that they are tied to in this file."""
    groups: dict[object, set[str]] = {}
    for name, tensor in (entry.matched.tensors if entry.matched else {}).items():
        place = (tensor.storage, tensor.start, tensor.shape) if isinstance(tensor, TensorRecord) else name
        groups.setdefault(place, set()).add(name)
    return {n for group in groups.values() if not group & other.keys() for n in group if n in names}
