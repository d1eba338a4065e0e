"""A last batch of one row, where the model cannot run it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import torch
from torch import nn

from landscope.contract.errors import ScriptError
from landscope.contract.events import Notice
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.batching.rebatch import CannotRecutError
from landscope.project.data import FrozenData
from landscope.project.measuring.objective import Objective
from landscope.weights.restore import preserved

_JOINED = (
    "The last batch of {} is a single row, which the model cannot run: it was joined to the batch before it."
)


def join_single_rows(objective: Objective, model: nn.Module, data: FrozenData) -> Iterator[Notice]:
    """Join a last batch of one row to the one before it where the model cannot run a single row.

    Where it does not help, nothing is said here: the measurement will name the layer.
    """
    for split in data.splits:
        batches = data.batches(split)
        if len(batches) < 2 or not batches[-1].size == 1 < batches[-2].size:
            continue
        problem = _problem(objective, model, batches[-1])
        with suppress(CannotRecutError):
            if problem:
                data.join_last(split)
                yield Notice(level="info", sentence=_JOINED.format(split), detail=problem)


def _problem(objective: Objective, model: nn.Module, batch: FrozenBatch) -> str:
    """What goes wrong with a batch; empty if nothing does."""
    try:
        with preserved(model), torch.no_grad():
            objective.loss(model, batch)
    except ScriptError as error:
        return error.sentence
    return ""
