"""One batch, twice, before anything is measured: does the loss train the model, and is it random?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from landscope.contract.events import Notice
from landscope.project.data import FrozenBatch
from landscope.project.environment import put_randomness, read_randomness
from landscope.project.objective import Objective, kept_modes

_SAME = 1e-5
"""Relative difference of two losses up to which they count as the same (kernels that add in any order)."""


_STRANGERS = (
    "The forward pass uses {} trainable tensors that are not parameters of the model "
    "(layers kept in a plain list or dict?): they are in no checkpoint and stay as build_model() made them."
)


@dataclass(frozen=True)
class Trial:
    """What was found.

    Attributes:
        trains: the loss switched the model to train mode or moved its buffers.
        strangers: trainable tensors that the forward pass used and the model does not have.
        first, second: the loss of the batch at the same weights.
    """

    trains: bool
    first: float
    second: float
    strangers: int = 0

    @property
    def random(self) -> bool:
        """Whether the same weights give different losses."""
        return abs(self.first - self.second) > _SAME * max(abs(self.first), 1e-12)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know."""
        found = []
        if self.trains:
            sentence = "The loss puts the model into train mode; what that moves is put back each time."
            found.append(Notice(level="info", sentence=sentence))
        if self.strangers:
            found.append(Notice(level="warning", sentence=_STRANGERS.format(self.strangers)))
        if self.random:
            found.append(
                Notice(
                    level="warning",
                    sentence="The model is random in eval mode: "
                    f"the same weights gave losses {self.first:.6g} and {self.second:.6g}.",
                )
            )
        return tuple(found)


class _Watch(TorchFunctionMode):
    """Notices trainable leaf tensors in calls of torch functions that are no parameters of the model."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self._known = {id(parameter) for parameter in model.parameters()}
        self.strangers: dict[int, torch.Tensor] = {}

    def __torch_function__(
        self, func: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Look at the arguments, then do what was asked."""
        for value in (*args, *(kwargs or {}).values()):
            if isinstance(value, nn.Parameter) and value.requires_grad and id(value) not in self._known:
                self.strangers[id(value)] = value
        return func(*args, **(kwargs or {}))


def try_out(objective: Objective, model: nn.Module, batch: FrozenBatch) -> Trial:
    """Run the batch twice; modes, buffers and random states are as before afterwards.

    Raises:
        ScriptError: the model or the loss raised.
    """
    random = read_randomness()
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    try:
        watch = _Watch(model)
        with torch.inference_mode(), kept_modes(model), watch:
            first = float(objective.loss(model, batch).mean())
            moved = any(not torch.equal(b, buffers[n]) for n, b in model.named_buffers())
            trains = moved or any(module.training for module in model.modules())
        with torch.inference_mode(), kept_modes(model):
            second = float(objective.loss(model, batch).mean())
    finally:
        put_randomness(random)
    return Trial(trains, first, second, len(watch.strangers))
