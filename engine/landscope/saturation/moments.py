"""Second moments of shifted rows: products in float32, folded into float64."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from landscope.saturation.precision import LARGEST_NORM, SMALLEST_NORM, wide, wide_device

FOLD_ROWS = 4_096
"""Rows summed in float32 before they are folded into float64; 65,536 would leave errors of 1e-6 of λ1."""

_NARROW = 16
"""Below so many features float64 costs little, and float32 products are less exact (1e-6 in 4,096 rows)."""

_REMEMBERED = 64
"""Blocks of memory whose views are remembered."""


class Moments:
    """Σ yyᵀ and Σ y of shifted rows y (n, D); only the upper blocks of the symmetric matrix are summed.

    Values too large or too small for float32 products, and layers of few features, are summed in float64.

    Attributes:
        count: rows summed.
    """

    def __init__(self, like: Tensor) -> None:
        """``like``: (D,) gives the size, the dtype and the device."""
        size = len(like)
        home = wide_device(like.device)
        self.count = 0
        self._since_fold = 0
        self._running = torch.zeros(size, size, dtype=like.dtype, device=like.device)
        self._total = torch.zeros(size, size, dtype=torch.float64, device=home)
        self._sum = torch.zeros(size, dtype=torch.float64, device=home)
        parts = 1 if size < 96 else 4
        self._edges = [size * k // parts for k in range(parts + 1)]
        self._places = self._upper(self._running)
        self._cuts: dict[tuple[int, torch.Size, tuple[int, ...]], list[tuple[Tensor, Tensor]]] = {}

    def add(self, rows: Tensor, norm: float, *, again: bool = False) -> None:
        """Take in finite rows (n, D) of the given Frobenius norm; ``again``: their memory will come again."""
        self.count += len(rows)
        if norm == 0.0 and not rows.any():  # squares of tiny values vanish in the norm
            return
        if rows.shape[1] < _NARROW or not SMALLEST_NORM < norm < LARGEST_NORM:
            self._multiply(self._upper(self._total), self._cut(wide(rows)))
            self._sum += wide(rows).sum(0)
            return
        for part in (rows,) if len(rows) <= FOLD_ROWS else torch.split(rows, FOLD_ROWS):
            self._multiply(self._places, self._known_cut(part) if again else self._cut(part))
            self._sum += wide(part.sum(0))
            self._since_fold += len(part)
            if self._since_fold >= FOLD_ROWS:
                self._fold()

    def covariance(self) -> Tensor:
        """(D, D) float64: Σ yyᵀ / n − ȳȳᵀ."""
        self._fold()
        upper = torch.triu(self._total)
        mean = self._sum / self.count
        return (upper + torch.triu(upper, 1).t()) / self.count - torch.outer(mean, mean)

    def _fold(self) -> None:
        self._total += wide(self._running)
        self._running.zero_()
        self._since_fold = 0

    def _multiply(self, places: list[Tensor], cut: list[tuple[Tensor, Tensor]]) -> None:
        for place, (left, right) in zip(places, cut, strict=True):
            place.addmm_(left, right)

    def _upper(self, matrix: Tensor) -> list[Tensor]:
        """Views of the upper blocks of a (D, D) matrix."""
        return [matrix[begin:end, begin:] for begin, end in pairwise(self._edges)]

    def _cut(self, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The factors of each upper block, views of the rows."""
        return [(rows[:, begin:end].t(), rows[:, begin:]) for begin, end in pairwise(self._edges)]

    def _known_cut(self, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The same, remembered. A worker that made a dozen views for every block would hold up the training
        thread, since each asks for the interpreter's lock."""
        key = (rows.data_ptr(), rows.shape, rows.stride())
        if key not in self._cuts:
            if len(self._cuts) >= _REMEMBERED:
                self._cuts.clear()
            self._cuts[key] = self._cut(rows)
        return self._cuts[key]
