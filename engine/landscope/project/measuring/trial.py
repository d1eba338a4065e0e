"""One batch a few times before anything is measured: does the loss train the model, and is it random?"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from landscope.contract.errors import ScriptError
from landscope.contract.events import Level, Notice
from landscope.project.batching.batches import can_cut, copied, cut, same
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.measuring.objective import Objective
from landscope.project.measuring.settled import kept_modes, traces
from landscope.project.running.generators import seeded
from landscope.weights.restore import preserved

REPEATS = 5
"""How often the same weights are measured to see how far a random model's loss spreads."""

_WANTS_GRADIENTS = re.compile(r"require[sd]?[ _]grad|grad_fn|inference tensor", re.I)
_SAME = 1e-5
"""Relative difference of two losses up to which they count as the same (kernels that add in any order)."""


_STRANGERS = (
    "The forward pass uses {} trainable tensors that are not parameters of the model "
    "(layers kept in a plain list or dict?): they are in no checkpoint and stay as build_model() made them."
)


_TRAINS = "The loss puts the model into train mode; what that moves is put back each time."
_MOVED = (
    "The forward pass or the loss changes tensors of the model even in eval mode ({}); they are put back "
    "each time."
)
_GRADIENTS = "The loss takes gradients itself: every point is measured with gradients on, which takes longer."
_COPIES = "The loss changes the batches that it is given; it gets a copy each time."
_SQUARES = "The script has no loss(): the squared error of output and labels is measured."
_SUMMED = (
    "The loss looks like a sum over the batch: the mean over the batches of these sums is shown; "
    "let loss() give the mean, or one value per sample."
)


@dataclass(frozen=True)
class Trial:
    """What was found.

    Attributes:
        trains: the loss switched the model to train mode or moved its buffers.
        moved: names of the parameters that it moved, and of the buffers that it moved in eval mode.
        summed: the loss is a sum over the batch. gradients: it takes gradients itself.
        copies: it changes the batch. squares: it is the squared error, by default.
        strangers: trainable tensors that the forward pass used and the model does not have.
        losses: of the batch at the same weights, one after the other.
        seeded: the same under the same random numbers; empty if ``losses`` agree.
    """

    trains: bool
    losses: tuple[float, ...]
    seeded: tuple[float, ...] = ()
    strangers: int = 0
    moved: tuple[str, ...] = ()
    summed: bool = False
    gradients: bool = False
    copies: bool = False
    squares: bool = False

    @property
    def random(self) -> bool:
        """Whether the same weights give different losses."""
        return _differ(self.losses)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What a person should know."""
        told: list[tuple[Level, str, bool]] = [
            ("info", _TRAINS, self.trains and not self.moved),
            ("warning", _MOVED.format(", ".join(self.moved[:3])), bool(self.moved)),
            ("info", _GRADIENTS, self.gradients),
            ("info", _COPIES, self.copies),
            ("info", _SQUARES, self.squares),
            ("warning", _SUMMED, self.summed),
            ("warning", _STRANGERS.format(self.strangers), self.strangers > 0),
        ]
        found = [Notice(level=level, sentence=sentence) for level, sentence, holds in told if holds]
        if self.random:
            found.append(Notice(level="warning", sentence=self._unsteady()))
        return tuple(found)

    def _unsteady(self) -> str:
        spread = f"{min(self.losses):.6g} to {max(self.losses):.6g} on the first batch"
        if _differ(self.seeded):
            return (
                "The model keeps something between its calls, such as a hidden state: the same weights and "
                f"random numbers gave losses from {spread}, each after what ran before it; what its modules "
                "keep is put back before every point."
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


def try_out(objective: Objective, model: nn.Module, batch: FrozenBatch, generators: list[Any]) -> Trial:
    """Run the batch three times, more often if losses differ; the model is put back afterwards.

    Args:
        generators: random generators beside the global ones.

    Raises:
        ScriptError: the model or the loss raised.
    """
    first = _first(objective, model, batch)
    with preserved(model), torch.inference_mode():
        losses = tuple(_again(objective, model, batch) for _ in range(2))
        seeded_losses: tuple[float, ...] = ()
        if _differ(losses):
            losses += tuple(_again(objective, model, batch) for _ in range(REPEATS - 2))
            repeated = (_seeded(objective, model, batch, generators) for _ in range(2))
            seeded_losses = tuple(repeated)
        with kept_modes(model):
            summed = first.scalar and not seeded_losses and _is_sum(objective, model, batch, losses[0])
    return Trial(
        trains=bool(first.moved) or first.training,
        losses=losses,
        seeded=seeded_losses,
        strangers=first.strangers,
        moved=(*first.parameters, *(() if first.training else first.moved)),
        summed=summed,
        gradients=objective.gradients,
        copies=objective.copies,
        squares=objective.squares,
    )


@dataclass(frozen=True)
class _First:
    """What the first call did: buffers and parameters that it moved, whether it left train mode on."""

    scalar: bool
    moved: tuple[str, ...]
    parameters: tuple[str, ...]
    training: bool
    strangers: int


def _first(objective: Objective, model: nn.Module, batch: FrozenBatch) -> _First:
    given = replace(batch, value=copied(batch.value))
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    before, watch = traces(model), _Watch(model)
    with preserved(model), torch.no_grad(), kept_modes(model), watch:
        loss = _loss(objective, model, given)
        moved = tuple(n for n, b in model.named_buffers() if not same(b, buffers.get(n)))
        after = traces(model)
        training = any(module.training for module in model.modules())
    parameters = tuple(name for name, trace in before.items() if after.get(name) != trace)
    objective.copies = not same(given.value, batch.value)
    objective.moves = bool(parameters)
    return _First(loss.ndim == 0, moved, parameters, training, len(watch.strangers))


def _again(objective: Objective, model: nn.Module, batch: FrozenBatch) -> float:
    """The loss as it is measured."""
    with kept_modes(model):
        return float(_loss(objective, model, batch).mean())


def _loss(objective: Objective, model: nn.Module, batch: FrozenBatch) -> Tensor:
    """The loss; with gradients if it cannot do without."""
    try:
        return objective.loss(model, batch)
    except ScriptError as error:
        if objective.gradients or not _WANTS_GRADIENTS.search(error.sentence):
            raise
        objective.gradients = True
        return objective.loss(model, batch)


def _is_sum(objective: Objective, model: nn.Module, batch: FrozenBatch, whole: float) -> bool:
    """Whether the losses of the batch's two halves add up to that of the batch."""
    half = batch.size // 2
    if not half or not can_cut(batch.value, batch.size):
        return False
    try:
        parts = [
            float(objective.loss(model, cut(batch.value, batch.size, *ends)).mean())
            for ends in ((0, half), (half, batch.size))
        ]
    except ScriptError:  # such halves are none of its business
        return False
    return abs(sum(parts) - whole) < _SAME * abs(whole) and abs(sum(parts) / 2 - whole) > 0.1 * abs(whole)


def _seeded(objective: Objective, model: nn.Module, batch: FrozenBatch, generators: list[Any]) -> float:
    with seeded(generators, 0):
        return _again(objective, model, batch)
