"""A file of a run as read: what is told about it, and where its weights are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from landscope.checkpoints.guarded.facts import Part
from landscope.checkpoints.matching.match import Matched
from landscope.contract.deltas import CheckpointInfo


@dataclass(frozen=True)
class Entry:
    """A file of a run: what is told about it and, when it is ready, its weights.

    Attributes:
        info: what is told. matched: its weights, None = it is not ready.
        parts: the files that they lie in, as they were when they were described; its own is the first.
        kind: of the file, as ``sniff`` names it. holds_optimizer: whether an optimizer's state is in it.
    """

    info: CheckpointInfo
    matched: Matched | None = None
    parts: tuple[Part, ...] = ()
    kind: str = ""
    holds_optimizer: bool = False


def with_changes(info: CheckpointInfo, **changes: Any) -> CheckpointInfo:
    """The same information with some fields replaced."""
    return msgspec.structs.replace(info, **changes)
