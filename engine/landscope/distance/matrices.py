"""Distance and cosine between every two checkpoints, from one float64 Gram matrix summed over blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.distance.norms import BLOCK, parameter_sums, widened

Matrix = NDArray[np.float64]
Weights = Sequence[Tensor]
Load = Callable[[int], Weights]

_CLOSE = 1e-9
"""Share of the squared lengths below which cancellation has eaten too much of a squared distance."""


class PairwiseProducts:
    """Inner products of M checkpoints' weights about those of checkpoint 0, the reference θ0.

    Products of differences δi = θi − θ0 are summed rather than of weights, whose large common part would
    cancel. Pairs closer than that precision reaches are subtracted directly, so that identical checkpoints
    are at distance 0 exactly.

    Args:
        load: gives the tensors of a checkpoint, always in one order; called again when memory is short.
        group: checkpoints held at a time (twice as many while two groups meet).
    """

    def __init__(self, load: Load, count: int, group: int) -> None:
        self._load, self._count, self._group = load, count, max(1, group)
        self._products = np.zeros((count, count))
        self._on_reference = np.zeros(count)
        self._reference_squared = 0.0

    def run(self) -> Iterator[float]:
        """Sum all products; yields the share done, in (0, 1], after every parameter."""
        starts = range(0, self._count, self._group)
        groups = [range(k, min(k + self._group, self._count)) for k in starts]
        reference = self._load(0)
        steps = len(reference) * len(groups) * (len(groups) + 1) // 2
        for done, _ in enumerate(self._steps(groups, reference), 1):
            yield done / steps

    def distance(self) -> Matrix:
        """(M, M) ‖θi − θj‖; NaN for checkpoints whose weights are not finite."""
        products = _without_infinity(self._products)
        lengths = np.diagonal(products)
        squared = lengths[:, None] + lengths[None, :] - 2.0 * products
        close = squared < _CLOSE * (lengths[:, None] + lengths[None, :])
        for i, j in np.argwhere(np.triu(close, 1)):
            squared[i, j] = squared[j, i] = self._direct(int(i), int(j))
        np.fill_diagonal(squared, np.where(np.isfinite(lengths), 0.0, np.nan))
        return np.asarray(np.sqrt(squared))

    def cosine(self) -> Matrix:
        """(M, M) cosine between θi and θj; NaN where a norm is zero or weights are not finite."""
        on_reference = _without_infinity(self._on_reference)
        inner = (
            _without_infinity(self._products)
            + on_reference[:, None]
            + on_reference[None, :]
            + self._reference_squared
        )
        norms = np.sqrt(np.maximum(np.diagonal(inner), 0.0))
        scale = np.outer(norms, norms)
        out = np.full_like(inner, np.nan)
        np.divide(inner, scale, out=out, where=scale > 0)
        return np.clip(out, -1.0, 1.0)

    def _steps(self, groups: Sequence[range], reference: Weights) -> Iterator[None]:
        """One step per parameter and pair of groups."""
        for k, one in enumerate(groups):
            rows = [self._load(i) for i in one]
            for index, start in enumerate(reference):
                self._add_own(one, start, [row[index] for row in rows])
                yield
            for other in groups[k + 1 :]:
                columns = [self._load(j) for j in other]
                for index, start in enumerate(reference):
                    self._add_cross(one, other, start, [row[index] for row in (*rows, *columns)])
                    yield

    def _add_own(self, group: range, start: Tensor, rows: Sequence[Tensor]) -> None:
        """One parameter's products inside a group, and those of its members with the reference."""
        place = slice(group.start, group.stop)
        for base, left in _differences(start, rows):
            self._products[place, place] += (left @ left.t()).numpy()
            self._on_reference[place] += (left @ base).numpy()
            if group.start == 0:
                self._reference_squared += float(base @ base)

    def _add_cross(self, one: range, other: range, start: Tensor, both: Sequence[Tensor]) -> None:
        """One parameter's products between two groups, whose tensors follow each other in ``both``."""
        here, there = slice(one.start, one.stop), slice(other.start, other.stop)
        for _, left in _differences(start, both):
            products = (left[: len(one)] @ left[len(one) :].t()).numpy()
            self._products[here, there] += products
            self._products[there, here] += products.T

    def _direct(self, i: int, j: int) -> float:
        """Σ (θi − θj)²."""
        return sum(parameter_sums(a, b).distance for a, b in zip(self._load(i), self._load(j), strict=True))


def _without_infinity(values: Matrix) -> Matrix:
    return np.where(np.isfinite(values), values, np.nan)


def _differences(start: Tensor, others: Sequence[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """Blocks of one parameter: (B,) of the reference and (K, B) of the others minus it, float64."""
    flat = [values.reshape(-1) for values in (start, *others)]
    step = max(1, BLOCK // len(flat))
    for begin in range(0, len(flat[0]), step):
        base, *rest = (widened(values[begin : begin + step]).reshape(-1) for values in flat)
        yield base, torch.stack(rest) - base
