"""A small subject for tests: a model, frozen batches and checkpoints held in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from landscope.contract.deltas import CheckpointInfo, RunListed
from landscope.contract.options import ProjectSpec

State = dict[str, Tensor]


@dataclass(frozen=True)
class Batch:
    value: Any
    size: int


class Data:
    def __init__(self, splits: dict[str, list[Batch]]) -> None:
        self._splits = splits

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(self._splits)

    def batches(self, split: str) -> Sequence[Batch]:
        return self._splits[split]

    def samples(self, split: str) -> int:
        return sum(batch.size for batch in self._splits[split])


def batches(x: Tensor, y: Tensor, size: int) -> list[Batch]:
    pairs = zip(x.split(size), y.split(size), strict=True)
    return [Batch((a, b), len(a)) for a, b in pairs]


class FakeSubject:
    """Follows the surface of a project's subject; ``states`` are the checkpoints in order."""

    def __init__(
        self,
        model: nn.Module,
        states: dict[str, State],
        data: dict[str, list[Batch]],
        loss: Callable[[nn.Module, Any], Tensor] | None = None,
    ) -> None:
        self.project = ProjectSpec(root="/nowhere")
        self.run, self.folder, self.device = "run", "/nowhere/run", torch.device("cpu")
        self.model = model.eval()
        self.data = Data(data)
        self.notices: list[Any] = []
        infos = tuple(CheckpointInfo(name=name) for name in states)
        self.listed = SimpleNamespace(names=tuple(states))
        self.run_listed = RunListed(run="run", folder="/nowhere/run", checkpoints=infos)
        self._states, self._loss = states, loss

    def state(self, checkpoint: str) -> State:
        return {name: tensor.clone() for name, tensor in self._states[checkpoint].items()}

    def load(self, checkpoint: str) -> None:
        self.model.load_state_dict(self._states[checkpoint])

    def loss(self, model: nn.Module, batch: Any) -> Tensor:
        return self.loss_and_metrics(model, batch)[0]

    def loss_and_metrics(self, model: nn.Module, batch: Any) -> tuple[Tensor, dict[str, Tensor]]:
        if self._loss is not None:
            return self._loss(model, batch), {}
        logits = model(batch[0])
        hits = (logits.argmax(1) == batch[1]).float()
        return functional.cross_entropy(logits, batch[1]), {"accuracy": hits}

    def metrics(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        return self.loss_and_metrics(model, batch)[1]


def plain_loss(model: nn.Module, frozen: Sequence[Batch]) -> float:
    """The sample-weighted mean cross entropy, by a loop that knows nothing of the code under test."""
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in frozen:
            x, y = batch.value
            total += functional.cross_entropy(model(x), y, reduction="sum").item()
            count += len(x)
    return total / count
