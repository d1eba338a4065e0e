"""Some rows of every layer, the same at every checkpoint, placed in their layer's first two directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from landscope.saturation.precision import wide, working
from landscope.saturation.row_choice import BatchChoice, Picked

DIRECTIONS = 2
EMBEDDED_ROWS = 512
"""Most rows of one layer that are kept."""

EMBEDDED_BYTES = 64 << 20
"""Most memory for the rows of one layer; very wide layers keep fewer."""


def embedded_rows(dimension: int) -> int:
    """Most rows of a layer with D features that are kept."""
    return max(1, min(EMBEDDED_ROWS, EMBEDDED_BYTES // (4 * max(1, dimension))))


class LayerRows:
    """Rows of all layers during one pass over a split."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptRows] = {}

    def begin(self, batch: BatchChoice) -> None:
        """What comes next are the outputs of this batch."""
        self._batch = batch

    def take(self, name: str, samples: Tensor, owners: Tensor | None) -> None:
        """Keep some of the samples (L, …, D) of one call.

        ``owners``: (L,) the item of the batch that each belongs to, None = not known.
        """
        kept = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = KeptRows(samples.shape[-1])
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
        self.limit = embedded_rows(dimension)
        self._parts: list[tuple[Tensor, Picked]] = []

    def add(self, samples: Tensor, picked: Picked) -> None:
        """Copy the picked rows of samples (L, …, D)."""
        where = tuple(axis.to(samples.device) for axis in picked.where)
        self._parts.append((working(samples.detach()[where]), picked))

    def along(self, directions: Tensor) -> dict[str, Any]:
        """The fields ``embedding``, ``labels`` and ``items`` of ``LayerSaturation``.

        ``directions``: (D, k ≤ 2) float64; a direction that is missing gives zeros.
        """
        rows = torch.cat([rows for rows, _ in self._parts])
        placed = np.zeros((len(rows), DIRECTIONS))
        placed[:, : directions.shape[1]] = (wide(rows) @ directions).cpu().numpy()
        finite = np.isfinite(placed).all(axis=1)  # one value that is not finite makes both NaN or infinite
        placed[finite] -= placed[finite].mean(axis=0) if finite.any() else 0.0
        placed[~finite] = math.nan
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite
            embedding = placed.astype(np.float32)
        return {
            "embedding": embedding,
            "labels": np.concatenate([picked.labels for _, picked in self._parts]),
            "items": np.concatenate([picked.items for _, picked in self._parts]),
        }
