"""The covariance of a layer's samples over any number of batches, exact enough for ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.saturation.leading import decomposed, signed
from landscope.saturation.moments import Moments
from landscope.saturation.precision import finite_rows, norm_of, wide
from landscope.saturation.shifted_blocks import Block, ShiftedBlocks
from landscope.saturation.stored_rows import StoredRows
from landscope.saturation.thinning import thinned

STORED_ROWS = 4_096
"""Most rows kept as they are, and most features whose D × D matrix is kept."""

STORED_BYTES = 128 << 20
"""Most memory for the stored rows of one layer."""


class Covariance:
    """Second moments of (n, D) samples about a fixed shift, the mean of the first batch's finite rows.

    Samples are gathered into blocks, whose products are summed (see ``Moments``). While there are fewer rows
    than features the rows themselves are kept (see ``StoredRows``). ``add`` does all of it; ``blocks`` and
    ``absorb`` are its two halves: the copy, which must be made before the samples change, and the work, which
    another thread may do.
    """

    def __init__(
        self, dimension: int, *, stored_rows: int = STORED_ROWS, row_share: float = 1.0, seed: int = 0
    ) -> None:
        """``row_share``: below 1, about so many of each batch's rows are taken (see ``thinned``)."""
        self.dimension = dimension
        self._row_share, self._turn, self._thinned = row_share, 0, False
        self._blocks = ShiftedBlocks(dimension)
        limit = min(stored_rows, max(1, STORED_BYTES // (4 * dimension)))
        self._full_matrix = dimension <= STORED_ROWS
        self._stored: StoredRows | None = StoredRows(limit, seed)
        self._moments: Moments | None = None
        self._nonfinite = 0

    @property
    def samples(self) -> int:
        """Rows that the spectrum rests on: the finite ones, or those of the reservoir."""
        self._absorb_rest()
        if self._stored is not None:
            return self._stored.kept
        return self._moments.count if self._moments is not None else 0

    @property
    def nonfinite(self) -> int:
        """Rows left out because they held NaN or inf."""
        self._absorb_rest()
        return self._blocks.nonfinite + self._nonfinite

    @property
    def sampled(self) -> bool:
        """Whether only a random subset of the rows was kept."""
        self._absorb_rest()
        return self._thinned or (self._stored is not None and self._stored.sampled)

    def add(self, samples: Tensor) -> None:
        """Take in samples (…, D), every leading dimension counting rows; no reference to them is kept.

        Raises:
            ValueError: the last dimension is not D.
        """
        for block in self.blocks(samples):
            self.absorb(block)

    def blocks(self, samples: Tensor) -> Iterator[Block]:
        """Copy samples (…, D) and yield the blocks that became full, each to be handed to ``absorb`` once.

        Raises:
            ValueError: the last dimension is not D.
        """
        if samples.shape[-1] != self.dimension:
            raise ValueError(f"samples have {samples.shape[-1]} features, not {self.dimension}")
        if self._row_share < 1.0:
            kept = thinned(samples, self._row_share, self._turn)
            self._turn += 1
            self._thinned |= kept.numel() < samples.numel()
            samples = kept
        return self._blocks.take(samples)

    def absorb(self, block: Block) -> None:
        """Sum a block that ``blocks`` gave; its memory is used again afterwards."""
        rows, norm, again = block.rows, norm_of(block.rows), True
        if not math.isfinite(norm):
            rows, again = finite_rows(rows), False
            self._nonfinite += len(block.rows) - len(rows)
        if len(rows):
            self._sum(rows, norm, again)
        self._blocks.recycle(block)

    def spectrum(self) -> NDArray[np.float64]:
        """(min(D, n),) eigenvalues of the covariance (divided by n), largest first, clipped at 0."""
        return self.decomposed(0)[0]

    def decomposed(self, count: int) -> tuple[NDArray[np.float64], Tensor]:
        """The spectrum, and (D, k ≤ count) float64 eigenvectors of the largest eigenvalues, largest first.

        The largest entry of each vector is positive.
        """
        samples = self.samples
        if not samples:
            return np.empty(0), torch.empty(self.dimension, 0, dtype=torch.float64, device="cpu")
        if self._stored is not None:
            values, vectors = self._stored.decomposed(count)
        else:
            values, vectors = decomposed(self._matrix(), count)
        kept = values.cpu().numpy()[-min(samples, self.dimension) :]
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

    def _absorb_rest(self) -> None:
        for block in self._blocks.rest():
            self.absorb(block)

    def _sum(self, rows: Tensor, norm: float, again: bool) -> None:
        if self._stored is not None:
            if self._keeps(len(rows)):
                self._stored.add(rows)
                return
            self._unstore(rows)
        assert self._moments is not None
        self._moments.add(rows, norm, again=again)

    def _keeps(self, more: int) -> bool:
        assert self._stored is not None
        total = self._stored.seen + more
        return not self._full_matrix or total <= min(self.dimension, self._stored.limit)

    def _unstore(self, like: Tensor) -> None:
        """Go over from stored rows to the matrix."""
        assert self._stored is not None
        self._moments = Moments(like[0])
        if self._stored.kept:
            self._moments.add(self._stored.rows(), norm_of(self._stored.rows()))
        self._stored = None
