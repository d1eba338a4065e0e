"""How many intra-op threads torch should use for a model on the CPU: measured, not assumed.

Small layers run slower on many threads than on one, large ones faster; a core that is busy elsewhere makes
many threads collapse. The first batch decides.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from landscope.project.subject import Subject

_REPEATS = 3
_BUDGET_S = 1.0
_WORTH_IT = 0.8
"""More threads are taken only if they save at least a fifth; less than that is noise."""


def settle_threads(subject: Subject, asked: int, most: int) -> int:
    """Set and return torch's number of intra-op threads.

    Args:
        subject: whose first batch is timed, in inference mode, the two counts in turn.
        asked: 0 = measure; else this many.
        most: as many as torch chose at start.
    """
    threads = asked or (_measured(subject, most) if subject.device.type == "cpu" and most > 1 else most)
    torch.set_num_threads(threads)
    return threads


def _measured(subject: Subject, most: int) -> int:
    best = {1: float("inf"), most: float("inf")}
    _forward(subject)  # the first forward allocates
    began = time.perf_counter()
    for _ in range(_REPEATS):
        for threads in best:
            torch.set_num_threads(threads)
            best[threads] = min(best[threads], _forward(subject))
        if time.perf_counter() - began > _BUDGET_S:
            break
    return most if best[most] < _WORTH_IT * best[1] else 1


def _forward(subject: Subject) -> float:
    batch = subject.data.batches(subject.data.splits[0])[0]
    began = time.perf_counter()
    with torch.inference_mode():
        subject.loss(subject.model, batch)
    return time.perf_counter() - began
