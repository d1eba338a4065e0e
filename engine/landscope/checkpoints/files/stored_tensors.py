"""Which values of a file are tensors: records, arrays of some devices, and those of pickled modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from landscope.checkpoints.pickles.foreign import Foreign, InertArray
from landscope.checkpoints.pickles.rebuilt import without_data
from landscope.checkpoints.records import TensorRecord

Weights = TensorRecord | np.ndarray

_MOST_MODULES = 200_000
_DEEPEST = 60
LONGEST_NAME = 1000
"""Longer names are no tensors'; a short file can repeat a long one many times."""
_SHARDED = ("ShardedTensor", "ShardedTensorMetadata", "FlatParameter")


def as_tensor(value: Any) -> Weights | None:
    """The tensor that a value is; one that cannot be read says why."""
    if isinstance(value, (TensorRecord, np.ndarray)):
        return value
    if isinstance(value, InertArray) and value.array is not None and value.array.ndim:
        how = "is a NumPy array, no tensor; convert it with torch.from_numpy and save the file again"
        return replace(without_data(how), shape=value.array.shape, stride=value.array.shape)
    if isinstance(value, Foreign) and value.origin.endswith(_SHARDED):
        return without_data("is one shard of a distributed tensor; save the full state dict")
    return None


def module_tensors(node: Foreign) -> dict[str, Weights]:
    """Tensors of a pickled ``nn.Module``, read from its stored attributes; its class is never imported."""
    found: dict[str, Weights] = {}
    stack = [("", node, 0)]
    visits = 0
    while stack and visits < _MOST_MODULES:
        prefix, module, depth = stack.pop()
        visits += 1
        state = module.state
        if not isinstance(state, Mapping) or "_modules" not in state or depth > _DEEPEST:
            continue
        hidden = state.get("_non_persistent_buffers_set")
        hidden = hidden if isinstance(hidden, (set, frozenset)) else ()
        for part in ("_parameters", "_buffers"):
            for name, value in _items(state.get(part)):
                tensor = as_tensor(value)
                if tensor is not None and name not in hidden and len(prefix) + len(name) <= LONGEST_NAME:
                    found[prefix + name] = tensor
        inner = [(f"{prefix}{n}.", m, depth + 1) for n, m in _items(state.get("_modules"))]
        stack.extend(reversed([one for one in inner if isinstance(one[1], Foreign)]))
    return found


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(k, v) for k, v in value.items() if type(k) is str] if isinstance(value, Mapping) else []
