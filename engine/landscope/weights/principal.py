"""The plane that a run's path fills best: uncentred PCA of checkpoints, streamed through a Gram matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from landscope.contract.errors import OptionError
from landscope.weights.directions import Pair
from landscope.weights.flat import BLOCK, Flat, as_double, real_pairs
from landscope.weights.vector import ParameterVector

HELD_BYTES = 256 * 1024 * 1024
"""Checkpoints are held in memory up to this size; beyond it they are read again block by block."""

FLAT_SHARE = 1e-10
"""A second direction with less of the path's squared length than this is rounding, not movement."""

Loader = Callable[[int], Flat]


@dataclass(frozen=True)
class PrincipalPlane:
    """Directions and the path in them.

    Attributes:
        pair: unit vectors d1, d2 with their explained shares.
        coordinates: (M, 2) float64 of each checkpoint minus the reference.
        residuals: (M,) float64 distance of each checkpoint from the plane.
    """

    pair: Pair
    coordinates: NDArray[np.float64]
    residuals: NDArray[np.float64]


def principal_plane(vector: ParameterVector, count: int, reference: int, load: Loader) -> PrincipalPlane:
    """Uncentred PCA of (θ_i − θ_ref), i = 0…M−1 (Li et al. 2018, section 7.2).

    The Gram matrix G_ij = ⟨θ_i − θ_ref, θ_j − θ_ref⟩ is M×M float64; with its eigenpairs (λ_k, u_k),
    d_k = Σ_i u_k[i] (θ_i − θ_ref) / √λ_k and the coordinates are √λ_k u_k. The element of largest magnitude
    of each d_k is positive.

    Args:
        vector: says how a direction is laid out.
        count: number M of checkpoints. reference: index of θ_ref.
        load: i → θ_i on the host; called again where not all checkpoints fit into ``HELD_BYTES``.

    Raises:
        OptionError: fewer than three checkpoints, or the path lies on a straight line.
    """
    if count < 3:
        raise OptionError(
            f"A trajectory plane needs at least three usable checkpoints; there are {count}. "
            "Choose a random plane or a line instead."
        )
    rows = _Rows(count, reference, load)
    gram = rows.gram()
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1], vectors[:, ::-1]
    total = float(np.trace(gram))
    if total <= 0 or values[1] <= FLAT_SHARE * total:
        raise OptionError(
            "The checkpoints lie on a straight line in weight space (or are all the same), which spans no "
            "plane. Choose a random plane or a line instead."
        )
    coordinates = vectors[:, :2] * np.sqrt(values[:2])
    signs = np.ones(2)
    flats = []
    for axis in range(2):
        flat, signs[axis] = rows.combined(vector, vectors[:, axis] / math.sqrt(values[axis]))
        flats.append(flat)
    squared = np.diag(gram) - (coordinates**2).sum(axis=1)
    coordinates = coordinates * signs
    coordinates[reference] = 0.0
    shares = (float(values[0] / total), float(values[1] / total))
    pair = Pair(flats[0], flats[1], flats[0].cosine(flats[1]), shares)
    return PrincipalPlane(pair, coordinates, np.sqrt(np.clip(squared, 0.0, None)))


class _Rows:
    """The checkpoints as rows, a few in memory at a time."""

    def __init__(self, count: int, reference: int, load: Loader) -> None:
        self._count, self._load = count, load
        self._reference = load(reference)
        row_bytes = sum(block.numel() * block.element_size() for block in self._reference.blocks)
        held = max(2, HELD_BYTES // max(1, row_bytes))
        size = count if held >= count else held // 2
        self._groups = [range(start, min(start + size, count)) for start in range(0, count, size)]
        self._kept: dict[int, list[Flat]] = {}

    def _group(self, number: int) -> list[Flat]:
        """The checkpoints of one group; at most two groups stay in memory."""
        if number not in self._kept:
            while len(self._kept) >= 2:
                self._kept.pop(next(iter(self._kept)))
            self._kept[number] = [self._load(index) for index in self._groups[number]]
        return self._kept[number]

    def gram(self) -> NDArray[np.float64]:
        """(M, M) float64 inner products of the rows minus the reference."""
        out = np.zeros((self._count, self._count))
        for i, rows in enumerate(self._groups):
            for j, columns in list(enumerate(self._groups))[i:]:
                left = self._group(i)
                right = left if i == j else self._group(j)
                block = self._products(left, right)
                out[rows.start : rows.stop, columns.start : columns.stop] = block
                out[columns.start : columns.stop, rows.start : rows.stop] = block.T
        return out

    def _products(self, left: list[Flat], right: list[Flat]) -> NDArray[np.float64]:
        total = torch.zeros(len(left), len(right), dtype=torch.float64)
        for a, b in zip(self._pieces(left), self._pieces(right), strict=True):
            total += a @ b.T
        return total.numpy()

    def _pieces(self, rows: list[Flat]) -> Iterator[torch.Tensor]:
        """(K, ≤ BLOCK) float64 pieces of the rows minus the reference, over all blocks in turn."""
        for number, base in enumerate(self._reference.blocks):
            for start in range(0, base.numel(), BLOCK):
                part = slice(start, start + BLOCK)
                stacked = as_double(torch.stack([row.blocks[number][part] for row in rows]))
                yield real_pairs(stacked - as_double(base[part])).reshape(len(rows), -1)

    def combined(self, vector: ParameterVector, weights: NDArray[np.float64]) -> tuple[Flat, float]:
        """Σ_i w_i (θ_i − θ_ref) on the vector's devices, and the sign that made its peak positive."""
        sums = [torch.zeros(b.numel(), dtype=as_double(b[:0]).dtype) for b in self._reference.blocks]
        for number, indices in enumerate(self._groups):
            for row, index in zip(self._group(number), indices, strict=True):
                for total, block, base in zip(sums, row.blocks, self._reference.blocks, strict=True):
                    total.add_(as_double(block) - as_double(base), alpha=float(weights[index]))
        sign = _peak_sign(sums)
        flat = vector.zeros()
        for target, total in zip(flat.blocks, sums, strict=True):
            target.copy_(total * sign)
        return flat, sign


def _peak_sign(sums: list[torch.Tensor]) -> float:
    peak = 0.0
    for total in sums:
        values = real_pairs(total).reshape(-1)
        if values.numel():
            found = float(values[values.abs().argmax()])
            peak = found if abs(found) > abs(peak) else peak
    return -1.0 if peak < 0 else 1.0
