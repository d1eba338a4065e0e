"""A few rows kept as they are: for layers with more features than samples, where D × D would be wasteful."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from landscope.saturation.leading import decomposed
from landscope.saturation.precision import wide, wide_device

_CHUNK = 1 << 20
"""Elements turned into float64 at a time."""

_NOTHING = 1e-7
"""Share of the largest singular value below which another one is rounding."""


class StoredRows:
    """At most ``limit`` shifted rows (n, D); beyond that a uniform random sample of all rows seen.

    The sample is Vitter's reservoir (algorithm R) with its own seeded generator, so that the same batches
    give the same sample.

    Attributes:
        seen: rows added. kept: rows held. sampled: whether some were left out.
    """

    def __init__(self, limit: int, seed: int = 0) -> None:
        self.limit = limit
        self.seen = 0
        self._parts: list[Tensor] = []
        self._seed = seed
        self._random: np.random.Generator | None = None

    @property
    def kept(self) -> int:
        """Number of rows held."""
        return min(self.seen, self.limit)

    @property
    def sampled(self) -> bool:
        """Whether rows were left out."""
        return self.seen > self.limit

    def rows(self) -> Tensor:
        """(kept, D) the rows held."""
        if len(self._parts) > 1:
            self._parts = [torch.cat(self._parts)]
        return self._parts[0]

    def add(self, rows: Tensor) -> None:
        """Take in (n, D) shifted rows; they are copied."""
        room = self.limit - self.kept
        if room:
            self._parts.append(rows[:room].clone())
            self.seen += min(room, len(rows))
        if len(rows) > room:
            self._replace_some(rows[room:])

    def decomposed(self, count: int) -> tuple[Tensor, Tensor]:
        """(kept,) eigenvalues of the covariance about the mean of the rows held, and (D, k) eigenvectors.

        The non-zero eigenvalues of XᵀX / n are those of the Gram matrix XXᵀ / n, summed in float64 over
        blocks of features; the eigenvectors of the k ≤ ``count`` largest ones are Xᵀu / ‖Xᵀu‖, zero where
        there is no variance.
        """
        rows = self.rows()
        gram = torch.zeros(len(rows), len(rows), dtype=torch.float64, device=wide_device(rows.device))
        for centred in self._centred():
            gram.addmm_(centred, centred.t())
        values, mixing = decomposed(gram.div_(len(rows)), min(count, rows.shape[1]))
        if not count:
            return values, gram.new_empty(rows.shape[1], 0)
        vectors = torch.cat([centred.t() @ mixing for centred in self._centred()])
        length = torch.linalg.vector_norm(vectors, dim=0)
        return values, vectors * torch.where(length > _NOTHING * length.max(), 1.0 / length, 0.0)

    def _centred(self) -> Iterator[Tensor]:
        """(kept, ·) blocks of features in float64, less their mean."""
        for block in torch.split(self.rows(), max(1, _CHUNK // self.kept), dim=1):
            values = wide(block)
            yield values - values.mean(0)

    def _replace_some(self, rows: Tensor) -> None:
        if self._random is None:
            self._random = np.random.default_rng(self._seed)
        ranks = self.seen + np.arange(1, len(rows) + 1)
        self.seen += len(rows)
        slots = (self._random.random(len(rows)) * ranks).astype(np.int64)
        winners = {int(slots[k]): int(k) for k in np.flatnonzero(slots < self.limit)}  # the later row stays
        if winners:
            held = self.rows()
            targets = torch.tensor(list(winners), device=held.device)
            held[targets] = rows[torch.tensor(list(winners.values()), device=rows.device)]
