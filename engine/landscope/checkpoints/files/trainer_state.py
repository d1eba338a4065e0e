"""The ``trainer_state.json`` of a Hugging Face folder: the step and the losses that were logged up to it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRAINER_STATE = "trainer_state.json"
_LOSSES = ("loss", "eval_loss")


@dataclass(frozen=True)
class TrainerState:
    """What the file tells.

    Attributes:
        step: optimizer steps, None = it does not say. notes: the last logged losses, a clause each.
    """

    step: int | None = None
    notes: tuple[str, ...] = ()


def read_trainer_state(path: Path) -> TrainerState:
    """What a ``trainer_state.json`` tells; nothing if it is damaged, the weights beside it need it not."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return TrainerState()
    if not isinstance(stored, Mapping):
        return TrainerState()
    step = _whole(stored.get("global_step"))
    history = stored.get("log_history")
    entries = [entry for entry in history if isinstance(entry, Mapping)] if isinstance(history, list) else []
    if step is not None:
        entries = [entry for entry in entries if (_whole(entry.get("step")) or 0) <= step]
    losses = {name: value for entry in entries for name in _LOSSES if (value := _real(entry.get(name)))}
    return TrainerState(step, tuple(f"logged {name} {losses[name]}" for name in _LOSSES if name in losses))


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def _real(value: Any) -> str:
    """A loss in four digits, empty if it is none."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
    return f"{value:.4g}" if known and math.isfinite(value) else ""
