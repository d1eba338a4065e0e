"""Where in a file the weights may be: mappings of names to tensors at any depth, and their step."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from landscope.checkpoints.foreign import Foreign, InertArray
from landscope.checkpoints.header import Header
from landscope.checkpoints.records import TensorRecord

_MAX_DEPTH = 8
_MAX_VISITS = 200_000
_STEP_KEYS = (
    "global_step",
    "step",
    "steps",
    "iteration",
    "iter",
    "it",
    "num_updates",
    "global_iter",
    "n_iter",
)
_EPOCH_KEYS = ("epoch", "epochs", "current_epoch", "epoch_idx")
_NOT_MODELS = re.compile(
    r"optim|sched|scaler|rng|loss_fn|momentum|exp_avg|\bstate\b|param_groups", re.IGNORECASE
)
_AVERAGED = re.compile(r"ema|swa|averag|shadow", re.IGNORECASE)
_PREFERRED = ("state_dict", "model_state_dict", "model_state", "model", "module", "net", "network", "weights")

Weights = TensorRecord | np.ndarray


@dataclass(frozen=True)
class Candidate:
    """One mapping of a file that may be the model's weights.

    Attributes:
        path: keys that lead to it, joined by dots; empty = the file itself.
        tensors: name to record (or NumPy array, which some files store instead).
        extras: entries that are no tensors, such as ``_extra_state``.
    """

    path: str
    tensors: Mapping[str, Weights]
    extras: Mapping[str, Any]

    @property
    def is_average(self) -> bool:
        """Whether the name says that it is a moving average of the weights."""
        return is_average(self.path)

    @property
    def is_optimizer(self) -> bool:
        """Whether the name says that it is something else than weights."""
        return bool(_NOT_MODELS.search(self.path))

    @property
    def is_stray(self) -> bool:
        """Whether most of its entries are no tensors: a table of settings that holds a tensor or two."""
        return len(self.tensors) < len(self.extras)


def is_average(name: str) -> bool:
    """Whether a name says that it is a moving average of the weights."""
    return bool(_AVERAGED.search(name))


def elements(candidate: Candidate) -> int:
    """How many numbers the tensors of a mapping hold in all."""
    return sum(math.prod(t.shape) for t in candidate.tensors.values())


def find_mappings(header: Header) -> tuple[Candidate, ...]:
    """All mappings that may be weights, the likeliest first: plain before averaged, usual name, large."""
    found = [c for c in _walk(header.tree) if not c.is_optimizer]
    return tuple(sorted(found, key=_rank))


def _rank(candidate: Candidate) -> tuple[bool, bool, int, int]:
    last = candidate.path.rsplit(".", 1)[-1]
    usual = _PREFERRED.index(last) if last in _PREFERRED else len(_PREFERRED)
    return (candidate.is_stray, candidate.is_average, usual if candidate.path else -1, -elements(candidate))


def _walk(tree: Any) -> Iterator[Candidate]:
    """Breadth first through dicts, lists and placeholders of modules; every object once."""
    queue: list[tuple[str, Any, int]] = [("", tree, 0)]
    seen: set[int] = set()
    while queue and len(seen) < _MAX_VISITS:
        path, node, depth = queue.pop(0)
        if id(node) in seen or depth > _MAX_DEPTH:
            continue
        seen.add(id(node))
        if isinstance(node, Foreign) and (module := _module_tensors(node)):
            yield Candidate(path or "the pickled module", module, {})
            continue
        children = _children(node)
        candidate = _as_candidate(path, children)
        if candidate:
            yield candidate
        queue.extend((f"{path}.{key}" if path else str(key), v, depth + 1) for key, v in children)


def _children(node: Any) -> list[tuple[Any, Any]]:
    if isinstance(node, Mapping):
        return list(node.items())
    if isinstance(node, (list, tuple)) and len(node) <= 1000:
        return list(enumerate(node))
    if isinstance(node, Foreign):
        state = node.state if isinstance(node.state, Mapping) else {}
        return [*state.items(), *node.items.items()]
    return []


def _as_candidate(path: str, children: list[tuple[Any, Any]]) -> Candidate | None:
    tensors: dict[str, Weights] = {}
    extras: dict[str, Any] = {}
    for key, value in children:
        plain = value.array if isinstance(value, InertArray) else value
        if isinstance(key, str) and isinstance(plain, (TensorRecord, np.ndarray)):
            tensors[key] = plain
        elif isinstance(key, str):
            extras[key] = value
    return Candidate(path, tensors, extras) if tensors else None


def _module_tensors(node: Foreign, prefix: str = "", depth: int = 0) -> dict[str, Weights]:
    """Tensors of a pickled ``nn.Module``, read from its stored attributes; its class is never imported."""
    state = node.state
    if not isinstance(state, Mapping) or "_modules" not in state or depth > 60:
        return {}
    found: dict[str, Weights] = {}
    hidden = state.get("_non_persistent_buffers_set") or ()
    for part in ("_parameters", "_buffers"):
        for name, value in _items(state.get(part)):
            if isinstance(value, TensorRecord) and name not in hidden:
                found[prefix + name] = value
    for name, child in _items(state.get("_modules")):
        if isinstance(child, Foreign):
            found.update(_module_tensors(child, f"{prefix}{name}.", depth + 1))
    return found


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(str(k), v) for k, v in value.items()] if isinstance(value, Mapping) else []


def find_uninitialised(header: Header) -> str:
    """Name of a lazy parameter that has no shape yet, empty if there is none."""
    for node in (header.tree, *(v for _, v in _children(header.tree))):
        for name, value in _children(node):
            if isinstance(value, Foreign) and "Uninitialized" in value.origin:
                return str(name)
    return ""


def find_progress(header: Header) -> tuple[int | None, int | None]:
    """Stored step and epoch, each None where the file does not say."""
    tree = header.tree if isinstance(header.tree, Mapping) else {}
    if header.kind == "safetensors" or header.kind == "index":
        tree = header.metadata
    places = [
        tree,
        *(tree[k] for k in ("meta", "trainer_state", "state", "info") if isinstance(tree.get(k), Mapping)),
    ]
    return _first_number(places, _STEP_KEYS), _first_number(places, _EPOCH_KEYS)


def _first_number(places: list[Any], keys: tuple[str, ...]) -> int | None:
    for place in places:
        for key in keys:
            number = _whole_number(place.get(key))
            if number is not None:
                return number
    return None


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdigit():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if float(value).is_integer() and abs(value) < 1 << 53 else None
