"""Small models with everything that makes moving weights hard."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn


class Tied(nn.Module):
    """An embedding whose rows are the head's weights, a transposed tie, a frozen layer and buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.frozen = nn.Linear(6, 6)
        self.frozen.requires_grad_(False)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embedding.weight
        self.up = nn.Linear(6, 4, bias=False)
        self.down = nn.Linear(4, 6, bias=False)
        self.down.weight = nn.Parameter(self.up.weight.detach().t())
        self.norm = nn.BatchNorm1d(6)
        self.register_buffer("table", torch.arange(6.0), persistent=False)
        self.register_buffer("mask", torch.ones(1).expand(6))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.frozen(self.embedding(x)) + self.table * self.mask)
        return self.head(self.down(self.up(y)))


def conv_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 5)
    )


@pytest.fixture
def tied() -> Tied:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return Tied().eval()


@pytest.fixture
def conv() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(2)
        return conv_net().eval()


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Tiny forwards gain nothing from threads and lose much where a core is busy elsewhere."""
    torch.set_num_threads(1)
