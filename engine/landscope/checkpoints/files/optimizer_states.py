"""Where in a file the state of optimizers is, and the part of it that tells the last step they took."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from landscope.checkpoints.files.stored_tensors import LONGEST_NAME
from landscope.checkpoints.records import TensorRecord

KEPT = ("step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq", "momentum_buffer")
"""What SGD, Adam and AdamW keep per parameter; of anything else only the name is told."""
OTHER = ()
"""In place of a value that is left out."""
_DEEPEST = 4
_MOST_VISITS = 10_000
_MOST_IN_A_LIST = 100
_MOST_OPTIMIZERS = 16
_LONGEST_TUPLE = 4
_LONGEST_TEXT = 100


def find_optimizers(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The optimizers' states in a file, by the keys that lead to them, as plain data with tensors described.

    ``groups`` is a list of ``params`` (keys), ``names`` (None where the file has none) and ``options``;
    ``state`` has what is ``KEPT`` by key of the parameter.
    """
    for path, node in _walk(tree):
        groups = [_group(one) for one in node["param_groups"] if isinstance(one, Mapping)]
        keys = {key for group in groups for key in group["params"]}
        yield path, {"groups": groups, "state": _states(node["state"], keys)}


def holds_optimizer(tree: Any) -> bool:
    """Whether a file holds the state of an optimizer."""
    return next(_walk(tree), None) is not None


def _walk(tree: Any) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Breadth first through dicts and lists; every object once."""
    queue: deque[tuple[str, Any, int]] = deque([("", tree, 0)])
    seen: set[int] = set()
    found = 0
    while queue and len(seen) < _MOST_VISITS and found < _MOST_OPTIMIZERS:
        path, node, depth = queue.popleft()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if _is_state(node):
            found += 1
            yield path, node
        elif depth < _DEEPEST:
            queue.extend((_below(path, key), value, depth + 1) for key, value in _containers(node))


def _is_state(node: Any) -> bool:
    return (
        isinstance(node, Mapping)
        and isinstance(node.get("param_groups"), (list, tuple))
        and isinstance(node.get("state"), Mapping)
    )


def _containers(node: Any) -> list[tuple[Any, Any]]:
    if isinstance(node, (list, tuple)):
        children: Any = enumerate(node[:_MOST_IN_A_LIST])
    else:
        children = node.items() if isinstance(node, Mapping) else ()
    return [(key, value) for key, value in children if isinstance(value, (Mapping, list, tuple))]


def _below(path: str, key: Any) -> str:
    name = str(key)[:_LONGEST_TEXT] if isinstance(key, (str, int)) else ""
    return f"{path}.{name}" if path else name


def _group(group: Mapping[Any, Any]) -> dict[str, Any]:
    params, names = group.get("params"), group.get("param_names")
    options = {
        name[:_LONGEST_TEXT]: _option(value)
        for name, value in group.items()
        if isinstance(name, str) and name not in ("params", "param_names")
    }
    keys = list(filter(_is_key, params)) if isinstance(params, (list, tuple)) else []
    named = isinstance(names, (list, tuple)) and len(names) == len(keys) and all(map(_is_name, names))
    return {"params": keys, "names": list(names or ()) if named else None, "options": options}


def _is_key(value: Any) -> bool:
    return _is_name(value) or type(value) is int


def _is_name(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST_NAME


def _option(value: Any) -> Any:
    """A setting: a number, a short text, a tensor of one number, or a few of them."""
    if isinstance(value, (list, tuple)):
        return tuple(map(_single, value)) if len(value) <= _LONGEST_TUPLE else OTHER
    return _single(value)


def _single(value: Any) -> Any:
    if isinstance(value, TensorRecord):
        return value if value.elements == 1 else OTHER
    if isinstance(value, str):
        return str(value[:_LONGEST_TEXT])
    return value if value is None or isinstance(value, (bool, int, float)) else OTHER


def _states(state: Mapping[Any, Any], keys: set[Any]) -> dict[Any, dict[str, Any]]:
    """What is kept of the listed parameters, in the file's order."""
    return {
        key: {
            name: _kept(name, value)
            for name, value in entry.items()
            if isinstance(name, str) and len(name) <= _LONGEST_TEXT
        }
        for key, entry in state.items()
        if _is_key(key) and key in keys and isinstance(entry, Mapping)
    }


def _kept(name: str, value: Any) -> Any:
    simple = value is None or isinstance(value, (bool, int, float, TensorRecord))
    return value if name in KEPT and simple else OTHER
