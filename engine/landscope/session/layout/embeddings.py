"""Samples of layers in two directions, inside ``/saturation/NNNN``: absent from sessions that kept none.

``points`` (C, L) counts the samples of a checkpoint and column; ``embedding`` (C, L, most, 2) is padded with
NaN, ``label`` and ``item`` (C, L, most) with "not known" (the least integer, and −1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from landscope.contract.deltas import UNKNOWN_LABEL, LayerSaturation
from landscope.contract.errors import SessionError
from landscope.session.layout.put import put_array
from landscope.session.layout.take import take_floats, take_integers

Cells = Mapping[tuple[int, int], LayerSaturation]


def put_embeddings(group: Any, cells: Cells, shape: tuple[int, int]) -> None:
    """The samples of all cells (checkpoint, column), if any has some."""
    points = np.zeros(shape, np.int64)
    for where, layer in cells.items():
        points[where] = len(layer.embedding)
    most = int(points.max(initial=0))
    if not most:
        return
    embedding = np.full((*shape, most, 2), np.nan, np.float32)
    label, item = np.full((*shape, most), UNKNOWN_LABEL), np.full((*shape, most), -1)
    for where, layer in cells.items():
        embedding[where][: points[where]] = layer.embedding
        label[where][: points[where]] = layer.labels
        item[where][: points[where]] = layer.items
    put_array(group, "points", points)
    put_array(group, "embedding", embedding, single=True)
    put_array(group, "label", label).attrs["_FillValue"] = np.int64(UNKNOWN_LABEL)
    put_array(group, "item", item)


def take_embeddings(group: Any, shape: tuple[int, int]) -> Callable[[int, int], dict[str, Any]]:
    """A function of checkpoint and column that gives the fields of ``LayerSaturation`` stored here.

    Raises:
        SessionError: something is missing, of another shape, or counts more points than there are.
    """
    if "points" not in group:
        return lambda _row, _column: {}
    points = take_integers(group, "points", shape)
    embedding = take_floats(group, "embedding", (*shape, None, 2))
    label = take_integers(group, "label", embedding.shape[:3])
    item = take_integers(group, "item", embedding.shape[:3])
    if points.size and not (points.min() >= 0 and points.max() <= embedding.shape[2]):
        raise SessionError(f"{group.name}/points counts samples that are not there: the session is damaged.")

    def fields(row: int, column: int) -> dict[str, Any]:
        there = slice(points[row, column])
        return {
            "embedding": embedding[row, column, there].astype(np.float32),
            "labels": label[row, column, there].copy(),
            "items": item[row, column, there].copy(),
        }

    return fields
