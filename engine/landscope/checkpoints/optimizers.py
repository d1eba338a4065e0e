"""The state of the optimizers that a checkpoint holds: in its own file, or in one beside the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from landscope.checkpoints.entry import Entry
from landscope.checkpoints.folder import FOLDER_FILES
from landscope.checkpoints.guarded.facts import Part
from landscope.checkpoints.guarded.guard import describe_optimizers
from landscope.checkpoints.guarded.plain import LeftAlone
from landscope.checkpoints.records import TensorRecord
from landscope.contract.errors import CheckpointError
from landscope.contract.job import CancelToken

BESIDE = ("optimizer.pt", "optimizer.bin")
"""What Hugging Face's trainer and accelerate call the file beside the weights."""


@dataclass(frozen=True)
class Slot:
    """One parameter as an optimizer has it.

    Attributes:
        name: empty where the file has none. options: those of its group.
        state: what is kept for it by name, None = nothing: it was never stepped, or nothing is needed.
    """

    name: str
    options: Mapping[str, Any]
    state: Mapping[str, Any] | None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of its first moment or momentum, which is the parameter's; None = it has none."""
        moments = ((self.state or {}).get(name) for name in ("exp_avg", "momentum_buffer"))
        return next((one.shape for one in moments if isinstance(one, TensorRecord)), None)


@dataclass(frozen=True)
class StoredOptimizer:
    """An optimizer of a file: keys that lead to it, and its groups of parameters in their order."""

    path: str
    groups: tuple[tuple[Slot, ...], ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All its parameters."""
        return tuple(slot for group in self.groups for slot in group)


@dataclass(frozen=True)
class StoredOptimizers:
    """The optimizers of a checkpoint, and the files that their tensors lie in."""

    optimizers: tuple[StoredOptimizer, ...]
    parts: tuple[Part, ...]


def stored_optimizers(entry: Entry, token: CancelToken | None = None) -> StoredOptimizers | None:
    """The optimizers of a checkpoint; None if it holds no optimizer's state.

    Raises:
        CheckpointError: the state cannot be read; one clause. JobCancelled: somebody cancelled.
    """
    file = _file(entry)
    if file is None:
        return None
    facts = describe_optimizers(file, token)
    if facts.state != "ready":
        raise CheckpointError(facts.reason)
    if entry.holds_optimizer and facts.parts[0] != entry.parts[0]:
        raise CheckpointError("the file has changed since it was listed")
    found = facts.stored_optimizers(facts.places())
    return StoredOptimizers(tuple(_optimizer(*one) for one in found), facts.parts)


def _file(entry: Entry) -> Path | None:
    if not entry.parts:
        return None
    own = entry.parts[0].file
    if entry.holds_optimizer:
        return own
    beside = (own.with_name(name) for name in BESIDE) if own.name in FOLDER_FILES else ()
    return next((path for path in beside if path.is_file()), None)


def _optimizer(path: str, told: Any) -> StoredOptimizer:
    if isinstance(told, LeftAlone):
        raise CheckpointError(f"the optimizer's state {told}")
    states = told["state"]
    groups = []
    for group in told["groups"]:
        names = group["names"] or [key if isinstance(key, str) else "" for key in group["params"]]
        slots = zip(names, group["params"], strict=True)
        groups.append(tuple(Slot(name, group["options"], _state(states.get(key))) for name, key in slots))
    return StoredOptimizer(path, tuple(groups))


def _state(found: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Older torch keeps None until the first step."""
    return found if found and any(value is not None for value in found.values()) else None
