"""What a session file is called, its version, its groups and its units.

Losses and all other values of lines and planes are stored as float64, although float32 would halve a plane:
the values shown under the pointer, in the exported CSV and in the reopened file are then the same numbers,
and what is subtracted (a barrier, a surplus) keeps its digits. Twenty planes of 101×101×3 values are 5 MB.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

FORMAT = "landscope-session"
FORMAT_VERSION = 1

UNKNOWN_INTEGER = -(2**63)
"""Stands for "not known" in integer datasets (their ``_FillValue``)."""

FLAGS = "empty interpolated sampled failed"
"""Meanings of 0, 1, 2, 3 in every ``state`` dataset."""

UNITS = {"angle": "degree", "eigenvalue": "activation²", "size": "byte", "time": "s", "trace": "activation²"}
"""Units of quantities by name; anything else is a pure number ("1"; a cross entropy counts nats)."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+-]{0,62}")


def unit(quantity: str) -> str:
    """The unit of a quantity, "1" for pure numbers."""
    return UNITS.get(quantity, "1")


def dataset_names(quantities: Sequence[str], reserved: Collection[str]) -> list[str]:
    """Names for the datasets of quantities: their own where harmless and free, else numbered ones.

    Quantities are named by people (a metric may be called "top-5/acc"), HDF5 reads "/" and "." as paths.
    The true name stands in the dataset's ``long_name``.
    """
    taken = set(reserved)
    names = []
    for place, quantity in enumerate(quantities):
        plain = _PLAIN.fullmatch(quantity) is not None and not quantity.startswith("quantity_")
        names.append(quantity if plain and quantity not in taken else f"quantity_{place:04d}")
        taken.add(names[-1])
    return names


def numbered(index: int) -> str:
    """The name of the index-th member of a group of equals: 0000, 0001, …"""
    return f"{index:04d}"
