"""A small subject for tests (model, frozen batches and checkpoints in memory), and golden numbers."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from landscope.contract.events import Partial
from landscope.contract.options import ProjectSpec
from landscope.project.batching.frozen import FrozenBatch
from landscope.session.model import Session

State = dict[str, Tensor]


class Data:
    def __init__(self, splits: dict[str, list[FrozenBatch]]) -> None:
        self._splits = splits

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(self._splits)

    def batches(self, split: str) -> Sequence[FrozenBatch]:
        return self._splits[split]

    def population(self, split: str) -> int:
        return self.samples(split)

    def samples(self, split: str) -> int:
        return sum(batch.size for batch in self._splits[split])


def batches(x: Tensor, y: Tensor, size: int) -> list[FrozenBatch]:
    pairs = list(zip(x.split(size), y.split(size), strict=True))
    return [frozen_batch((a, b), len(a), index, len(pairs)) for index, (a, b) in enumerate(pairs)]


def frozen_batch(value: Any, size: int, index: int = 0, total: int = 1) -> FrozenBatch:
    return FrozenBatch(value, size, "train", index, total)


class FakeSubject:
    """Follows the surface of a project's subject; ``states`` are the checkpoints in order."""

    def __init__(
        self,
        model: nn.Module,
        states: dict[str, State],
        data: dict[str, list[FrozenBatch]],
        loss: Callable[[nn.Module, Any], Tensor] | None = None,
    ) -> None:
        self.project = ProjectSpec(root="/nowhere")
        self.run, self.folder, self.device = "run", "/nowhere/run", torch.device("cpu")
        self.model = model.eval()
        self.data = Data(data)
        self.notices: list[Any] = []
        self.names, self.random = tuple(states), False
        self._states, self._loss = states, loss

    def state(self, checkpoint: str) -> State:
        return {name: tensor.clone() for name, tensor in self._states[checkpoint].items()}

    def load(self, checkpoint: str) -> None:
        self.model.load_state_dict(self._states[checkpoint])

    def loss(self, model: nn.Module, batch: Any) -> Tensor:
        return self.loss_and_metrics(model, batch)[0]

    def loss_and_metrics(self, model: nn.Module, batch: Any) -> tuple[Tensor, dict[str, Tensor]]:
        batch = batch.value if isinstance(batch, FrozenBatch) else batch
        if self._loss is not None:
            return self._loss(model, batch), {}
        logits = model(batch[0])
        hits = (logits.argmax(1) == batch[1]).float()
        return functional.cross_entropy(logits, batch[1]), {"accuracy": hits}

    def metrics(self, model: nn.Module, batch: Any) -> dict[str, Tensor]:
        return self.loss_and_metrics(model, batch)[1]


def plain_loss(model: nn.Module, frozen: Sequence[FrozenBatch]) -> float:
    """The sample-weighted mean cross entropy, by a loop that knows nothing of the code under test."""
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in frozen:
            x, y = batch.value
            total += functional.cross_entropy(model(x), y, reduction="sum").item()
            count += len(x)
    return total / count


def mlp() -> nn.Module:
    layers = [
        ("fc1", nn.Linear(8, 16)),
        ("relu", nn.ReLU()),
        ("fc2", nn.Linear(16, 12)),
        ("tanh", nn.Tanh()),
        ("fc3", nn.Linear(12, 4)),
    ]
    return nn.Sequential(OrderedDict(layers))


def cnn() -> nn.Module:
    layers = [
        ("conv1", nn.Conv2d(1, 4, 3, padding=1)),
        ("bn1", nn.BatchNorm2d(4)),
        ("relu1", nn.ReLU()),
        ("pool1", nn.MaxPool2d(2)),
        ("conv2", nn.Conv2d(4, 6, 3, padding=1)),
        ("relu2", nn.ReLU(inplace=True)),
        ("pool2", nn.MaxPool2d(2)),
        ("flatten", nn.Flatten()),
        ("fc", nn.Linear(24, 5)),
    ]
    return nn.Sequential(OrderedDict(layers))


class Golden:
    """Golden numbers of one network: arrays, expected losses, and a subject with its checkpoints."""

    def __init__(self, folder: Path, name: str) -> None:
        with np.load(folder / f"{name}.npz") as arrays:
            self.arrays = {key: arrays[key] for key in arrays.files}
        self.expected = json.loads((folder / f"{name}.json").read_text())
        self._build = {"mlp": mlp, "cnn": cnn}[name]

    def state(self, checkpoint: str, dtype: torch.dtype) -> State:
        head = f"{checkpoint}/"
        found = {k.removeprefix(head): v for k, v in self.arrays.items() if k.startswith(head)}
        tensors = {k: torch.from_numpy(np.array(v)) for k, v in found.items()}
        return {k: t.to(dtype) if t.is_floating_point() else t for k, t in tensors.items()}

    def subject(
        self,
        dtype: torch.dtype = torch.float64,
        names: tuple[str, ...] = ("start", "end_one"),
        size: int = 1000,
    ) -> FakeSubject:
        x = torch.from_numpy(self.arrays["X"]).to(dtype)
        y = torch.from_numpy(self.arrays["y"])
        states = {name: self.state(name, dtype) for name in names}
        model = self._build().to(dtype)
        model.load_state_dict(states[names[0]])
        return FakeSubject(model, states, {"train": batches(x, y, size)})


@pytest.fixture
def data_folder() -> Path:
    return Path(__file__).parents[2] / "data" / "landscape"


@pytest.fixture
def golden(data_folder: Path) -> Callable[[str], Golden]:
    return lambda name: Golden(data_folder, name)


@pytest.fixture
def build() -> SimpleNamespace:
    """The builders of this file, for tests that make their own subject."""
    return SimpleNamespace(
        subject=FakeSubject,
        batches=batches,
        batch=frozen_batch,
        mlp=mlp,
        cnn=cnn,
        plain_loss=plain_loss,
        path=path_subject,
    )


def path_subject(count: int = 5, size: int = 16, seed: int = 0) -> FakeSubject:
    """A small convolutional net with BatchNorm and ``count`` checkpoints of a short training."""
    states, x, y = _trained(count, seed)
    copies = {name: {k: v.clone() for k, v in state.items()} for name, state in states.items()}
    return FakeSubject(cnn(), copies, {"train": batches(x, y, size)})


@lru_cache
def _trained(count: int, seed: int) -> tuple[dict[str, State], Tensor, Tensor]:
    """States of a net trained by plain gradient descent on random labels, and the data."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(48, 1, 8, 8, generator=generator)
    y = torch.randint(0, 5, (48,), generator=generator)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = cnn().train()
    states = {}
    for step in range(count):
        states[f"step_{step}.pt"] = {k: v.clone() for k, v in model.state_dict().items()}
        for part in range(0, 48, 16):
            functional.cross_entropy(model(x[part : part + 16]), y[part : part + 16]).backward()
            for parameter in model.parameters():
                with torch.no_grad():
                    parameter -= 0.3 * parameter.grad
                parameter.grad = None
    return states, x, y


@pytest.fixture
def gather() -> Callable[..., tuple[Session, list[Any]]]:
    """Run an analysis to its end: the session it fills, and everything it said."""

    def run(updates: Any) -> tuple[Session, list[Any]]:
        session, said = Session(), []
        for update in updates:
            said.append(update)
            if isinstance(update, Partial):
                session.apply(update.delta)
        return session, said

    return run


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Tiny forwards gain nothing from threads and lose much where a core is busy elsewhere."""
    torch.set_num_threads(1)
