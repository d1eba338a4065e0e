"""How far training was when a file was written, as the file says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from landscope.checkpoints.files.header import Header
from landscope.checkpoints.pickles.foreign import entries

_STEP_KEYS = (
    *(
        "global_step",
        "global_steps",
        "step",
        "steps",
        "train_step",
        "current_step",
        "iteration",
        "iterations",
    ),
    *("iter", "it", "iter_num", "num_updates", "updates", "global_iter", "current_iter", "n_iter", "batch"),
    *("global_batch_step", "step_num"),
)
_EPOCH_KEYS = (
    *("epoch", "epochs", "current_epoch", "epoch_idx", "epoch_index", "cur_epoch", "epoch_num", "last_epoch"),
)
_PLACES = (
    *("meta", "trainer_state", "state", "info", "extra_state", "train_iterator", "timestamp", "trainer"),
    *("training_state", "progress", "metadata", "counters"),
)
_DEPTH = 3


def find_progress(header: Header) -> tuple[int | None, int | None]:
    """Stored step and epoch, each None where the file does not say."""
    tree = header.metadata if header.kind in ("safetensors", "index") else entries(header.tree)
    places = list(_places(tree, _DEPTH))
    return _first_number(places, _STEP_KEYS), _first_number(places, _EPOCH_KEYS)


def _places(tree: Mapping[Any, Any], depth: int) -> Iterator[Mapping[Any, Any]]:
    yield tree
    for name in _PLACES if depth else ():
        below = entries(tree[name]) if name in tree else {}
        if below:
            yield from _places(below, depth - 1)
    history = tree.get("optimizer_history")  # fairseq
    if isinstance(history, list) and history and isinstance(history[-1], Mapping):
        yield history[-1]


def _first_number(places: list[Mapping[Any, Any]], keys: tuple[str, ...]) -> int | None:
    for place in places:
        for key in keys:
            number = _whole_number(place.get(key))
            if number is not None:
                return number
    return None


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.strip().isdigit() and len(value) < 16:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1 << 53:
        return None
    return int(value) if value == int(value) else None
