"""Some rows of every layer, the same at every checkpoint, placed in their layer's first two directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.contract.deltas import UNKNOWN_LABEL
from landscope.saturation.precision import wide, working

DIRECTIONS = 2
EMBEDDED_ROWS = 512
"""Most rows of one layer that are kept."""

EMBEDDED_BYTES = 64 << 20
"""Most memory for the rows of one layer; very wide layers keep fewer."""

Items = Callable[[Tensor], Tensor | None]
"""Gives the item of the batch that each row of samples belongs to, None where it is not known."""


class LayerRows:
    """Rows of all layers during one pass over the data, drawn alike at every pass over the same data."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptRows] = {}
        self._labels = torch.empty(0, dtype=torch.int64)
        self._first = 0

    def begin(self, first: int, size: int, labels: Tensor | None) -> None:
        """What comes next is a batch of ``size`` samples, ``first`` the index of its first one in the split.

        ``labels``: (size,) integers, None where the samples have no classes.
        """
        self._first = first
        self._labels = torch.full((size,), UNKNOWN_LABEL) if labels is None else labels.cpu().long()

    def take(self, name: str, samples: Tensor, items: Items) -> None:
        """Draw from the samples (…, D) of one call; ``items`` is asked only if some are kept."""
        kept = self._kept.setdefault(name, KeptRows(samples.shape[-1]))
        chosen = kept.draw(samples.shape[:-1].numel())
        if not chosen or samples.shape[-1] != kept.dimension:
            return
        owners = items(samples)
        places = torch.tensor(list(chosen.values()))
        owned = None if owners is None else owners[places]
        rows = samples.detach()[torch.unravel_index(places.to(samples.device), samples.shape[:-1])]
        labels = None if owned is None else self._labels[owned].numpy()
        kept.put(list(chosen), rows, None if owned is None else self._first + owned.numpy(), labels)

    def of(self, name: str) -> KeptRows | None:
        """The rows of a layer's call."""
        return self._kept.get(name)


class KeptRows:
    """At most 512 rows of one layer, a uniform random sample of all, each with its item and label.

    The sample is a reservoir (Li 1994, algorithm L) with its own seeded generator: it depends on nothing but
    how many rows there are, so that a row can be followed from checkpoint to checkpoint.

    Attributes:
        dimension: features D. labels, items: (limit,) as in ``LayerSaturation``, of the first ``count`` rows.
    """

    def __init__(self, dimension: int, seed: int = 0) -> None:
        self.dimension = dimension
        self.limit = max(1, min(EMBEDDED_ROWS, EMBEDDED_BYTES // (4 * max(1, dimension))))
        self.labels = np.full(self.limit, UNKNOWN_LABEL)
        self.items = np.full(self.limit, -1)
        self._rows: Tensor | None = None
        self._seen = 0
        self._random = np.random.default_rng(seed)
        self._weight, self._next = 1.0, self.limit - 1
        self._advance()

    @property
    def count(self) -> int:
        """Rows held."""
        return min(self._seen, self.limit)

    def draw(self, count: int) -> dict[int, int]:
        """Which of the next ``count`` rows to keep: their places here, with their places among these."""
        begin, self._seen = self._seen, self._seen + count
        chosen = {row: row - begin for row in range(begin, min(self._seen, self.limit))}
        while self._next < self._seen:
            chosen[int(self._random.integers(self.limit))] = self._next - begin
            self._advance()
        return chosen

    def put(
        self,
        places: list[int],
        rows: Tensor,
        items: NDArray[np.int64] | None,
        labels: NDArray[np.int64] | None,
    ) -> None:
        """Keep rows (k, D) at the places that ``draw`` chose; their items and labels None = not known."""
        rows = working(rows)
        if self._rows is None:
            self._rows = rows.new_empty(self.limit, self.dimension)
        self._rows[torch.tensor(places, device=rows.device)] = rows
        self.items[places] = -1 if items is None else items
        self.labels[places] = UNKNOWN_LABEL if labels is None else labels

    def along(self, directions: Tensor) -> dict[str, Any]:
        """The fields ``embedding``, ``labels`` and ``items`` of ``LayerSaturation``.

        ``directions``: (D, k ≤ 2) float64; a direction that is missing gives zeros.
        """
        placed = np.zeros((self.count, DIRECTIONS), np.float32)
        if self._rows is not None:
            rows = wide(self._rows[: self.count])
            finite = rows.isfinite().all(1)
            rows = (rows - rows[finite].mean(0)) @ directions
            rows[~finite] = math.nan
            placed[:, : directions.shape[1]] = rows.cpu().numpy()
        there = slice(self.count)
        return {"embedding": placed, "labels": self.labels[there].copy(), "items": self.items[there].copy()}

    def _advance(self) -> None:
        """Choose the next row that replaces one."""
        one, other = (1.0 - self._random.random(2)).tolist()
        self._weight = min(self._weight * math.exp(math.log(one) / self.limit), 1.0 - 1e-16)
        self._next += int(math.log(other) / math.log1p(-self._weight)) + 1
