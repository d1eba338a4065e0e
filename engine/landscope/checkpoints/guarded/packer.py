"""What the guarded child found, as the rows that travel to its parent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from landscope.checkpoints.files.mappings import Candidate
from landscope.checkpoints.guarded.facts import EXTRA_STATE, TensorRow, WeightSet
from landscope.checkpoints.guarded.plain import ArrayParts, plain
from landscope.checkpoints.records import Quantised, Storage, TensorRecord, unreadable
from landscope.contract.errors import CheckpointError

_ARRAYS = 256 << 20
"""Bytes of NumPy arrays inside pickles that one file may send."""
_encoder = msgspec.msgpack.Encoder()


def _encoded(rows: Any) -> msgspec.Raw:
    try:
        return msgspec.Raw(_encoder.encode(rows))
    except UnicodeEncodeError as error:  # half a pair of surrogates, which no text has
        raise CheckpointError("has names that are no text") from error


class Packer:
    """Turns mappings into rows; each storage is written once.

    Attributes:
        storages: every storage met, in order.
    """

    def __init__(self) -> None:
        self.storages: list[Storage] = []
        self._known: dict[int, int] = {}
        self._room = _ARRAYS

    def packed(self, candidates: Iterable[Candidate]) -> msgspec.Raw:
        """The mappings as they travel.

        Raises:
            CheckpointError: they hold more array data than may travel, or names that cannot.
        """
        return _encoded([self._set(candidate) for candidate in candidates])

    def packed_optimizers(self, found: Iterable[tuple[str, Any]]) -> msgspec.Raw:
        """The optimizers' states as they travel; as ``packed``."""
        return _encoded([(path, plain(value, self.row)) for path, value in found])

    def _set(self, candidate: Candidate) -> WeightSet:
        """One mapping as rows.

        Raises:
            CheckpointError: it holds more array data than may travel.
        """
        rows: list[TensorRow] = []
        arrays: dict[str, ArrayParts] = {}
        for name, tensor in candidate.tensors.items():
            if isinstance(tensor, TensorRecord):
                rows.append(self.row(name, tensor))
            else:
                rows.append((name, "", (), (), -1, 0, "", None))
                arrays[name] = self._array(tensor)
        extras = {
            name: plain(value, self.row) if name.rsplit(".", 1)[-1] == EXTRA_STATE else None
            for name, value in candidate.extras.items()
        }
        return WeightSet(candidate.path, rows, arrays, extras)

    def row(self, name: str, record: TensorRecord) -> TensorRow:
        """One tensor as a row."""
        place = -1 if record.storage is None else self._place(record.storage)
        problem = unreadable(record)
        how = record.quantised and self._numbers(record.quantised)
        return (name, record.dtype, record.shape, record.stride, place, record.start, problem, how)

    def _numbers(self, how: Quantised) -> tuple[Any, Any, int]:
        scale, zero = (
            self.row("", value) if isinstance(value, TensorRecord) else value
            for value in (how.scale, how.zero)
        )
        return (scale, zero, how.axis)

    def _place(self, storage: Storage) -> int:
        known = self._known.get(id(storage))
        if known is None:
            known = self._known[id(storage)] = len(self.storages)
            self.storages.append(storage)
        return known

    def _array(self, array: np.ndarray[Any, Any]) -> ArrayParts:
        self._room -= array.nbytes
        if self._room < 0:
            raise CheckpointError(
                "holds more than 256 MiB of NumPy arrays in its pickle: save it as torch tensors"
            )
        return (array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())
