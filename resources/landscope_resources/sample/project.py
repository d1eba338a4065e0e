"""The sample project: three networks that read the same handwritten digits.

A Landscope project is a script like this one. ``build_model`` gives the network whose checkpoints lie under
``runs/``, ``build_data`` gives the batches on which it is measured. Loss (cross entropy) and accuracy are
Landscope's defaults, so nothing else is needed here.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTHS = (8, 12, 16)
"""Channels of the three stages; the picture shrinks 8×8 → 4×4 → 2×2 between them."""

BLOCKS = 5
"""Blocks of two convolutions per stage: 1 stem + 3·5·2 convolutions + 1 linear layer = 32 layers."""

TRAIN_COUNT = 1437
"""The first 1,437 of the 1,797 scans train the networks, the other 360 test them."""

BATCH = 128


class Block(nn.Module):
    """Two 3×3 convolutions with BatchNorm, and around them, if ``skip``, the identity.

    Where width or resolution changes, the identity takes every second pixel and pads the new channels with
    zeros (He et al. 2016, option A). Nets with and without skips therefore have the same parameters.
    """

    def __init__(self, width_in: int, width_out: int, skip: bool) -> None:
        super().__init__()
        self.stride = 1 if width_in == width_out else 2
        self.skip = skip
        self.conv1 = nn.Conv2d(width_in, width_out, 3, self.stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width_out)
        self.conv2 = nn.Conv2d(width_out, width_out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width_out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, width_in, H, W) to (B, width_out, H/stride, W/stride)."""
        y = functional.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return functional.relu(y + self.shortcut(x) if self.skip else y)

    def shortcut(self, x: Tensor) -> Tensor:
        """Give ``x`` the shape of the block's output, without parameters."""
        if self.stride == 1:
            return x
        missing = self.conv2.out_channels - x.shape[1]
        return functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, missing))


class DigitNet(nn.Module):
    """A 32-layer convolutional network for 8×8 digits, with or without skip connections."""

    def __init__(self, skip: bool) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, WIDTHS[0], 3, 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(WIDTHS[0])
        wide = [width for width in WIDTHS for _ in range(BLOCKS)]
        narrow = [WIDTHS[0], *wide[:-1]]
        self.blocks = nn.Sequential(*(Block(a, b, skip) for a, b in zip(narrow, wide, strict=True)))
        self.head = nn.Linear(WIDTHS[-1], 10)

    def forward(self, x: Tensor) -> Tensor:
        """Give (B, 10) logits for (B, 1, 8, 8) pictures."""
        y = functional.relu(self.bn(self.stem(x)))
        logits: Tensor = self.head(self.blocks(y).mean(dim=(2, 3)))
        return logits


class DigitMLP(nn.Sequential):
    """A multilayer perceptron for 8×8 digits: 64 → 128 → 64 → 10."""

    def __init__(self) -> None:
        super().__init__(
            nn.Flatten(),
            nn.Linear(64, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )


def build_model(run: str) -> nn.Module:
    """Return the untrained network of one run; Landscope passes the name of the run's folder."""
    if run == "mlp":
        return DigitMLP()
    return DigitNet(skip=run == "skip")


def build_data(split: str) -> list[tuple[Tensor, Tensor]]:
    """Return the (pictures, labels) batches of ``"train"`` or ``"test"``; pictures (B, 1, 8, 8) in 0…1."""
    with np.load(Path(__file__).with_name("digits.npz")) as scans:
        pictures = torch.from_numpy(scans["images"]).float().div(16).unsqueeze(1)
        labels = torch.from_numpy(scans["labels"]).long()
    part = slice(None, TRAIN_COUNT) if split == "train" else slice(TRAIN_COUNT, None)
    return list(zip(torch.split(pictures[part], BATCH), torch.split(labels[part], BATCH), strict=True))
