"""Rows of named quantities as one stacked dataset per quantity.

``present[row, quantity]`` tells a quantity that was NaN from one that was not there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from landscope.session.layout.put import put_array, put_texts
from landscope.session.layout.take import take_flags, take_floats, take_texts
from landscope.session.schema import dataset_names

_OWN = ("quantities", "datasets", "present")


def put_stack(
    group: Any,
    rows: Sequence[Mapping[str, ArrayLike]],
    width: tuple[int, ...],
    reserved: Collection[str] = (),
) -> list[Any]:
    """One (rows, \\*width) float64 dataset per quantity; returns them in order of first appearance.

    ``reserved``: names that datasets in this group already have or will get.
    """
    quantities = list(dict.fromkeys(name for row in rows for name in row))
    names = dataset_names(quantities, (*reserved, *_OWN))
    put_texts(group, "quantities", quantities)
    put_texts(group, "datasets", names)
    present = [[quantity in row for quantity in quantities] for row in rows]
    put_array(group, "present", np.array(present, np.uint8).reshape(len(rows), len(quantities)))
    return [
        put_array(group, name, _stacked(rows, quantity, width), quantity)
        for name, quantity in zip(names, quantities, strict=True)
    ]


def take_stack(group: Any, count: int, width: tuple[int, ...]) -> list[dict[str, NDArray[np.float64]]]:
    """The rows again, each with the quantities that were there."""
    quantities = take_texts(group, "quantities")
    names = take_texts(group, "datasets", len(quantities))
    present = take_flags(group, "present", (count, len(quantities)))
    stacks = [take_floats(group, name, (count, *width)) for name in names]
    return [{q: stacks[k][row] for k, q in enumerate(quantities) if present[row, k]} for row in range(count)]


def _stacked(
    rows: Sequence[Mapping[str, ArrayLike]], quantity: str, width: tuple[int, ...]
) -> NDArray[np.float64]:
    out = np.full((len(rows), *width), np.nan)
    for index, row in enumerate(rows):
        if quantity in row:
            out[index] = row[quantity]
    return out
