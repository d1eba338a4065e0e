"""What the layers of one checkpoint see: per layer one vector, from which the CKA with any other follows."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from landscope.contract.deltas import NotObserved
from landscope.distance.functions.cka import Estimator, Vector, centred_vector, gram, pieces

MINIBATCH = 128
"""Samples whose products with each other are kept: n samples of a layer cost 2 · MINIBATCH · n bytes."""
_UNASSIGNED = "Its outputs cannot be assigned to the samples of a batch."


class LayerVectors:
    """Receives the outputs of the layers (see ``layers.observe.Observer``), batch by batch."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator: Estimator = estimator
        self._grams: dict[str, list[Tensor]] = {}
        self._vectors: dict[str, list[Vector]] = {}
        self._unassigned: set[str] = set()
        self._slices: list[slice] = []
        self._size = self.samples = 0

    def begin(self, size: int) -> None:
        """A batch of ``size`` samples comes."""
        self._grams.clear()
        self._size = size
        self._slices = pieces(size, MINIBATCH, self._estimator)
        self.samples += size if self._slices else 0

    def take(self, call: str, samples: Tensor, items: Tensor | None) -> None:
        """Add what one call of a layer gave: the steps of a cell are features of one sequence."""
        features = per_item(samples, self._size, items)
        if features is None:
            self._unassigned.add(call)
            return
        found = [gram(features[part]) for part in self._slices]
        known = self._grams.get(call)
        self._grams[call] = found if known is None else [a + b for a, b in zip(known, found, strict=True)]

    def end(self) -> None:
        """The batch is over."""
        for call, products in self._grams.items():
            vectors = self._vectors.setdefault(call, [])
            vectors += [centred_vector(one.cpu(), self._estimator) for one in products]
        self._grams.clear()

    def vectors(self) -> dict[str, Vector]:
        """One vector per layer, in forward order."""
        found = {
            call: parts for call, parts in self._vectors.items() if parts and call not in self._unassigned
        }
        return {call: np.concatenate(parts) for call, parts in found.items()}

    def dropped(self) -> tuple[NotObserved, ...]:
        """Layers whose outputs could not be used."""
        return tuple(NotObserved(layer=call, reason=_UNASSIGNED) for call in sorted(self._unassigned))


def per_item(samples: Tensor, size: int, items: Tensor | None) -> Tensor | None:
    """(size, F) the outputs of each sample of a batch as one row; of sequences of unlike length their mean.

    Args:
        samples: (L, …, D). items: (L,) which sample each belongs to, None = it cannot be told.
    """
    if samples.shape[0] == size:
        return samples.reshape(size, -1)
    if items is None:
        return None
    rows = samples.reshape(-1, samples.shape[-1])
    owner = items.to(rows.device)
    if len(owner) != len(rows):
        owner = owner.repeat_interleave(len(rows) // len(owner))
    counts = torch.bincount(owner, minlength=size)
    if len(counts) != size or not bool(counts.all()):
        return None
    if bool((counts == counts[0]).all()):
        return rows[owner.argsort(stable=True)].reshape(size, -1)
    sums = rows.new_zeros((size, rows.shape[1]), dtype=torch.float32).index_add_(0, owner, rows.float())
    return sums / counts[:, None]
