"""Which rows of a layer's output stand for the samples of a split: the same ones at every pass over it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.contract.deltas import UNKNOWN_LABEL
from landscope.layers.row_items import each_item

Integers = NDArray[np.int64]


class Picked(NamedTuple):
    """Rows of one output: ``where`` indexes its leading dimensions; items and labels of k rows each."""

    where: tuple[Tensor, ...]
    items: Integers
    labels: Integers


class RowChoice:
    """At most ``limit`` items of a split, chosen at random, and places among the rows of each.

    Of each item one row is taken, and of fewer items several, spread over the item: every row of a layer is
    as likely, where all items have as many. A sample can be followed from checkpoint to checkpoint and from
    layer to layer. Where nobody knows whose the rows are, they are taken at the same places of the batch.
    """

    def __init__(self, items: int, limit: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        chosen = random.choice(items, min(items, limit), replace=False)
        self._rank = np.argsort(chosen)
        self._chosen = chosen[self._rank]
        self._share = random.random(len(chosen))

    def batch(self, first: int, size: int, labels: Tensor | None) -> BatchChoice:
        """The choice among ``size`` samples, ``first`` the index of the first one in the split.

        ``labels``: (size,) integers, None where the samples have no classes.
        """
        there = slice(*np.searchsorted(self._chosen, (first, first + size)).tolist())
        places, ranks, shares = self._chosen[there] - first, self._rank[there], self._share[there]
        classes = np.full(size, UNKNOWN_LABEL) if labels is None else labels.cpu().long().numpy()
        return BatchChoice(first, classes, len(self._chosen), places, ranks, shares)


class BatchChoice:
    """The rows to take from the outputs of one batch, worked out once for every shape of them."""

    def __init__(
        self,
        first: int,
        classes: Integers,
        chosen: int,
        places: Integers,
        ranks: Integers,
        shares: NDArray[np.float64],
    ) -> None:
        self._first, self._classes, self._chosen = first, classes, chosen
        self._places, self._ranks, self._shares = places, ranks, shares
        self._known: dict[tuple[torch.Size, int, bool], Picked] = {}

    def picked(self, lead: torch.Size, limit: int, owners: Tensor | None) -> Picked:
        """The rows of an output (\\*lead, D), at most ``limit`` of all batches together.

        ``owners``: (lead[0],) the item of the batch that each leading entry belongs to, None = not known.
        """
        if owners is not None and owners is not each_item(len(self._classes)):
            return self._pick(lead, limit, owners)
        key = (lead, limit, owners is None)
        if key not in self._known:
            self._known[key] = self._pick(lead, limit, owners)
        return self._known[key]

    def _pick(self, lead: torch.Size, limit: int, owners: Tensor | None) -> Picked:
        mine = self._ranks < limit
        places, shares = self._places[mine], self._shares[mine]
        each = max(1, limit // max(1, self._chosen))
        whose, rows = _spread(places, shares, each, _Rows(lead, len(self._classes), owners))
        where = tuple(torch.from_numpy(axis) for axis in np.unravel_index(rows, tuple(lead)))
        if owners is None:
            return Picked(where, np.full(len(rows), -1), np.full(len(rows), UNKNOWN_LABEL))
        return Picked(where, self._first + whose, self._classes[whose])


class _Rows:
    """Where the rows of each item of a batch lie in an output."""

    def __init__(self, lead: torch.Size, size: int, owners: Tensor | None) -> None:
        self._inner = math.prod(lead[1:])
        if owners is None:
            self._order, self._inner = np.arange(lead.numel()), 1
            self._starts = np.arange(size + 1) * lead.numel() // size
        else:
            self._order = np.argsort(owners.numpy(), kind="stable")
            self._starts = np.append(0, np.bincount(owners.numpy(), minlength=size).cumsum())

    def counts(self, items: Integers) -> Integers:
        """(k,) rows of each item."""
        return (self._starts[items + 1] - self._starts[items]) * self._inner

    def rows(self, items: Integers, places: Integers) -> Integers:
        """(k,) the row at a place among those of its item."""
        entry, inside = np.divmod(places, self._inner)
        return self._order[self._starts[items] + entry] * self._inner + inside


def _spread(
    items: Integers, shares: NDArray[np.float64], each: int, rows: _Rows
) -> tuple[Integers, Integers]:
    """Up to ``each`` rows of every item, one at ``share`` of every part of it: their items and the rows."""
    counts = rows.counts(items)[:, None]
    taken = np.minimum(each, counts)
    part = np.arange(each)[None]
    places = ((part + shares[:, None]) * counts // np.maximum(taken, 1)).astype(np.int64)
    there = part < taken
    whose = np.broadcast_to(items[:, None], there.shape)[there]
    return whose, rows.rows(whose, places[there])
