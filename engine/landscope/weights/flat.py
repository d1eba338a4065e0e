"""A vector of weight space: one flat tensor per dtype and device, with sums taken in float64."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

BLOCK = 1 << 16
"""Elements that are widened to float64 at a time: 512 KiB, which stays in a core's cache."""


@dataclass(frozen=True)
class Flat:
    """A vector of weight space.

    Attributes:
        blocks: 1-D tensors, one per dtype and device of the model (float32 for half-precision weights).
    """

    blocks: tuple[Tensor, ...]

    @property
    def size(self) -> int:
        """Number of elements, those between strided parameters included."""
        return sum(block.numel() for block in self.blocks)

    def clone(self) -> Flat:
        """An independent copy."""
        return Flat(tuple(block.clone() for block in self.blocks))

    def minus(self, other: Flat) -> Flat:
        """self − other."""
        return Flat(tuple(a - b for a, b in zip(self.blocks, other.blocks, strict=True)))

    def add_(self, other: Flat, factor: float) -> Flat:
        """self += factor · other, in place."""
        for mine, theirs in zip(self.blocks, other.blocks, strict=True):
            mine.add_(theirs, alpha=factor)
        return self

    def dot(self, other: Flat) -> float:
        """Real part of the inner product Σ conj(a)·b, accumulated in float64."""
        pairs = zip(self.blocks, other.blocks, strict=True)
        parts = [_dot(a, b) for a, b in pairs]
        finite = all(map(math.isfinite, parts))  # fsum raises on inf - inf
        return math.fsum(parts) if finite else sum(parts)

    def norm(self) -> float:
        """Euclidean norm, accumulated in float64."""
        return math.sqrt(self.dot(self))

    def cosine(self, other: Flat) -> float:
        """Cosine of the angle to ``other``; NaN where one of them is zero."""
        length = self.norm() * other.norm()
        return self.dot(other) / length if length > 0 else math.nan

    def is_finite(self) -> bool:
        """Whether no element is NaN or infinite."""
        return all(bool(torch.isfinite(block).all()) for block in self.blocks)

    def sha256(self) -> str:
        """Hash of the elements' bytes, in buffer order."""
        digest = hashlib.sha256()
        for block in self.blocks:
            digest.update(block.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


def as_double(values: Tensor) -> Tensor:
    """``values`` in float64 (complex128), on the host where the device has no float64 (MPS)."""
    wide = torch.complex128 if values.is_complex() else torch.float64
    return values.detach().to("cpu" if values.device.type == "mps" else values.device).to(wide)


def real_pairs(values: Tensor) -> Tensor:
    """Complex elements as a last axis of (real, imaginary); real tensors as they are."""
    return torch.view_as_real(values) if values.is_complex() else values


def pieces(*blocks: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Equal 1-D tensors cut into aligned pieces of at most ``BLOCK`` elements, in float64."""
    for start in range(0, blocks[0].numel(), BLOCK):
        yield tuple(as_double(block[start : start + BLOCK]) for block in blocks)


def _dot(a: Tensor, b: Tensor) -> float:
    total = 0.0
    for left, right in pieces(a, b):
        total += float(torch.dot(real_pairs(left).reshape(-1), real_pairs(right).reshape(-1)))
    return total
