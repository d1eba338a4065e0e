"""The covariance of a layer's samples over any number of batches, exact enough for ranks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.saturation.leading import decomposed, signed
from landscope.saturation.precision import (
    LARGEST_NORM,
    SMALLEST_NORM,
    finite_rows,
    mean_row,
    wide,
    wide_device,
    working,
)
from landscope.saturation.stored_rows import StoredRows

FOLD_ROWS = 65_536
"""Rows summed in float32 before they are folded into float64."""

STORED_ROWS = 4_096
"""Most rows kept as they are, and most features whose D × D matrix is kept."""

STORED_BYTES = 128 << 20
"""Most memory for the stored rows of one layer."""

_BLOCK = 1 << 21
"""Elements shifted and multiplied at a time."""


class Covariance:
    """Second moments of (n, D) samples about a fixed shift.

    The shift is the mean of the first batch's finite rows (postponed until there is one); without it float32
    gives wrong ranks once mean / standard deviation exceeds about 500. Products are summed in float32 and
    folded into float64 every 65,536 rows; values too large or too small for that are summed in float64.
    While there are fewer rows than features the rows themselves are kept (see ``StoredRows``).

    Attributes:
        dimension: D. nonfinite: rows left out because they held NaN or inf.
    """

    def __init__(self, dimension: int, *, stored_rows: int = STORED_ROWS, seed: int = 0) -> None:
        self.dimension = dimension
        self.nonfinite = 0
        self._full_matrix = dimension <= STORED_ROWS
        limit = min(stored_rows, max(1, STORED_BYTES // (4 * dimension)))
        self._stored: StoredRows | None = StoredRows(limit, seed)
        self._moments: _Moments | None = None
        self._shift: Tensor | None = None

    @property
    def samples(self) -> int:
        """Rows that the spectrum rests on: the finite ones, or those of the reservoir."""
        if self._stored is not None:
            return self._stored.kept
        return self._moments.count if self._moments is not None else 0

    @property
    def sampled(self) -> bool:
        """Whether only a random subset of the rows was kept."""
        return self._stored is not None and self._stored.sampled

    def add(self, samples: Tensor) -> None:
        """Take in samples (…, D), every leading dimension counting rows; no reference to them is kept.

        Raises:
            ValueError: the last dimension is not D.
        """
        if samples.shape[-1] != self.dimension:
            raise ValueError(f"samples have {samples.shape[-1]} features, not {self.dimension}")
        if self._shift is None and not self._choose_shift(samples):
            self.nonfinite += samples.numel() // self.dimension
            return
        for block in _blocks(samples):
            self._add_shifted(self._shifted(block))

    def spectrum(self) -> NDArray[np.float64]:
        """(min(D, n),) eigenvalues of the covariance (divided by n), largest first, clipped at 0."""
        return self.decomposed(0)[0]

    def decomposed(self, count: int) -> tuple[NDArray[np.float64], Tensor]:
        """The spectrum, and (D, k ≤ count) float64 eigenvectors of the largest eigenvalues, largest first.

        The largest entry of each vector is positive.
        """
        if not self.samples:
            return np.empty(0), torch.empty(self.dimension, 0, dtype=torch.float64)
        if self._stored is not None:
            values, vectors = self._stored.decomposed(count)
        else:
            values, vectors = decomposed(self._matrix(), count)
        kept = values.cpu().numpy()[-min(self.samples, self.dimension) :]
        return np.maximum(np.sort(kept)[::-1], 0.0), signed(vectors)

    def matrix(self) -> NDArray[np.float64]:
        """(D, D) the covariance itself, divided by n; zeros before the first finite row."""
        if not self.samples:
            return np.zeros((self.dimension, self.dimension))
        if self._stored is not None:
            rows = wide(self._stored.rows())
            centred = rows - rows.mean(0)
            return np.asarray((centred.t() @ centred / len(rows)).cpu().numpy())
        return np.asarray(self._matrix().cpu().numpy())

    def _matrix(self) -> Tensor:
        assert self._moments is not None
        return self._moments.covariance()

    def _choose_shift(self, samples: Tensor) -> bool:
        rows = finite_rows(working(samples.detach()).reshape(-1, self.dimension))
        if len(rows):
            self._shift = mean_row(rows)
        return len(rows) > 0

    def _shifted(self, block: Tensor) -> Tensor:
        """(n, D) the block minus the shift, a copy in whichever order of memory needs no transposition."""
        assert self._shift is not None
        values = working(block.detach())
        if values.stride(-1) == 1 or values.dim() == 2:
            return (values - self._shift).reshape(-1, self.dimension)
        lead = values.shape[:-1]
        out = torch.empty((self.dimension, *lead), dtype=values.dtype, device=values.device)
        shift = self._shift.reshape(-1, *(1 for _ in lead))
        torch.sub(values.movedim(-1, 0), shift, out=out)
        return out.view(self.dimension, -1).t()

    def _add_shifted(self, rows: Tensor) -> None:
        norm = float(torch.linalg.vector_norm(rows))
        if not np.isfinite(norm):
            whole, rows = len(rows), finite_rows(rows)
            self.nonfinite += whole - len(rows)
            norm = float("inf")
        if not len(rows):
            return
        if self._stored is not None and self._keeps(len(rows)):
            self._stored.add(rows)
            return
        self._unstore()
        assert self._moments is not None
        self._moments.add(rows, norm)

    def _keeps(self, more: int) -> bool:
        assert self._stored is not None
        total = self._stored.seen + more
        return not self._full_matrix or total <= min(self.dimension, self._stored.limit)

    def _unstore(self) -> None:
        """Go over from stored rows to the matrix."""
        if self._moments is None:
            assert self._shift is not None
            self._moments = _Moments(self._shift)
        if self._stored is not None:
            if self._stored.kept:
                rows = self._stored.rows()
                self._moments.add(rows, float(torch.linalg.vector_norm(rows)))
            self._stored = None


class _Moments:
    """Σ yyᵀ and Σ y of shifted rows y, float32 folded into float64; only the upper blocks are summed."""

    def __init__(self, shift: Tensor) -> None:
        size = len(shift)
        home = wide_device(shift.device)
        self.count = 0
        self._since_fold = 0
        self._running = torch.zeros(size, size, dtype=shift.dtype, device=shift.device)
        self._total = torch.zeros(size, size, dtype=torch.float64, device=home)
        self._sum = torch.zeros(size, dtype=torch.float64, device=home)
        parts = 1 if size < 192 else 2 if size < 384 else 4
        self._edges = [size * k // parts for k in range(parts + 1)]

    def add(self, rows: Tensor, norm: float) -> None:
        """Take in (n, D) rows of the given Frobenius norm."""
        self.count += len(rows)
        if norm == 0.0 and not rows.any():  # squares of tiny values vanish in the norm
            return
        if not SMALLEST_NORM < norm < LARGEST_NORM:
            self._multiply(self._total, wide(rows))
            self._sum += wide(rows).sum(0)
            return
        for part in torch.split(rows, FOLD_ROWS):
            self._multiply(self._running, part)
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

    def _multiply(self, target: Tensor, rows: Tensor) -> None:
        for begin, end in pairwise(self._edges):
            target[begin:end, begin:].addmm_(rows[:, begin:end].t(), rows[:, begin:])


def _blocks(samples: Tensor) -> Iterator[Tensor]:
    """The samples cut along their first dimension so that a block fits into a cache."""
    if samples.dim() == 1:
        samples = samples.unsqueeze(0)
    per_item = max(1, samples[0].numel()) if len(samples) else 1
    return iter(torch.split(samples, max(1, _BLOCK // per_item)))
