"""One batch a few times before anything is measured: does the loss train the model, and is it random?"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from landscope.contract.events import Notice
from landscope.project.environment import seed_everything
from landscope.project.frozen import FrozenBatch
from landscope.project.objective import Objective, kept_modes
from landscope.weights.restore import preserved

REPEATS = 5
"""How often the same weights are measured to see how far a random model's loss spreads."""

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
        losses: of the batch at the same weights, one after the other.
        seeded: the same under the same random numbers; empty if ``losses`` agree.
    """

    trains: bool
    losses: tuple[float, ...]
    seeded: tuple[float, ...] = ()
    strangers: int = 0

    @property
    def random(self) -> bool:
        """Whether the same weights give different losses."""
        return _differ(self.losses)

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
            found.append(Notice(level="warning", sentence=self._unsteady()))
        return tuple(found)

    def _unsteady(self) -> str:
        spread = f"{min(self.losses):.6g} to {max(self.losses):.6g} on the first batch"
        if _differ(self.seeded):
            return (
                f"The model keeps something between its calls, such as a hidden state: the same weights and "
                f"random numbers gave losses from {spread}, and every number depends on what ran before."
            )
        return (
            f"The model is random in eval mode: the same weights gave losses from {spread} (standard "
            f"deviation {statistics.stdev(self.losses):.2g} of {len(self.losses)}); every point is measured "
            "under the same random numbers, and the standard error of checkpoint losses includes the spread."
        )


def _differ(losses: tuple[float, ...]) -> bool:
    return any(abs(loss - losses[0]) > _SAME * max(abs(losses[0]), 1e-12) for loss in losses)


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
    """Run the batch twice, more often if that differs; the model is put back afterwards.

    Raises:
        ScriptError: the model or the loss raised.
    """

    def loss() -> float:
        with kept_modes(model):
            return float(objective.loss(model, batch).mean())

    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    watch = _Watch(model)
    with preserved(model), torch.inference_mode():
        with kept_modes(model), watch:
            first = float(objective.loss(model, batch).mean())
            moved = any(not torch.equal(b, buffers[n]) for n, b in model.named_buffers())
            trains = moved or any(module.training for module in model.modules())
        losses: tuple[float, ...] = (first, loss())
        if not _differ(losses):
            return Trial(trains, losses, (), len(watch.strangers))
        losses += tuple(loss() for _ in range(REPEATS - 2))
        return Trial(trains, losses, (_seeded(loss), _seeded(loss)), len(watch.strangers))


def _seeded(loss: Callable[[], float]) -> float:
    seed_everything(0)
    return loss()
