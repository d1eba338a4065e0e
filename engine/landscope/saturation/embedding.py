"""Some rows of every layer, the same at every checkpoint, placed in their layer's first two directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from landscope.saturation.precision import wide, working
from landscope.saturation.row_choice import Picked, RowChoice

DIRECTIONS = 2
EMBEDDED_ROWS = 512
"""Most rows of one layer that are kept."""

EMBEDDED_BYTES = 64 << 20
"""Most memory for the rows of one layer; very wide layers keep fewer."""


class LayerRows:
    """Rows of all layers during one pass over a split."""

    def __init__(self, items: int) -> None:
        """``items``: samples of the whole split."""
        self._choice = RowChoice(items, EMBEDDED_ROWS)
        self._kept: dict[str, KeptRows] = {}

    def begin(self, first: int, size: int, labels: Tensor | None) -> None:
        """What comes next is a batch of ``size`` samples, ``first`` the index of its first one in the split.

        ``labels``: (size,) integers, None where the samples have no classes.
        """
        self._batch = self._choice.batch(first, size, labels)

    def take(self, name: str, samples: Tensor, owners: Tensor | None) -> None:
        """Keep some of the samples (L, …, D) of one call.

        ``owners``: (L,) the item of the batch that each belongs to, None = not known.
        """
        kept = self._kept.setdefault(name, KeptRows(samples.shape[-1]))
        if samples.shape[-1] == kept.dimension:
            kept.add(samples, self._batch.picked(samples.shape[:-1], kept.limit, owners))

    def of(self, name: str) -> KeptRows | None:
        """The rows of a layer's call."""
        return self._kept.get(name)


class KeptRows:
    """Some rows of one layer, each with its item and label.

    Attributes:
        dimension: features D. limit: most rows.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.limit = max(1, min(EMBEDDED_ROWS, EMBEDDED_BYTES // (4 * max(1, dimension))))
        self._parts: list[tuple[Tensor, Picked]] = []

    def add(self, samples: Tensor, picked: Picked) -> None:
        """Copy the picked rows of samples (L, …, D)."""
        where = tuple(axis.to(samples.device) for axis in picked.where)
        self._parts.append((working(samples.detach()[where]), picked))

    def along(self, directions: Tensor) -> dict[str, Any]:
        """The fields ``embedding``, ``labels`` and ``items`` of ``LayerSaturation``.

        ``directions``: (D, k ≤ 2) float64; a direction that is missing gives zeros.
        """
        rows = wide(torch.cat([rows for rows, _ in self._parts]))
        finite = rows.isfinite().all(1)
        rows = (rows - rows[finite].mean(0)) @ directions
        rows[~finite] = math.nan
        placed = np.zeros((len(rows), DIRECTIONS), np.float32)
        placed[:, : directions.shape[1]] = rows.cpu().numpy()
        return {
            "embedding": placed,
            "labels": np.concatenate([picked.labels for _, picked in self._parts]),
            "items": np.concatenate([picked.items for _, picked in self._parts]),
        }
