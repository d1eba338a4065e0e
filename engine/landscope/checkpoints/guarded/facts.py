"""What is known of a checkpoint file before its numbers are read: plain data that the guarded child sends."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from landscope.checkpoints.files.mappings import Candidate, Weights
from landscope.checkpoints.guarded.plain import ArrayParts, array_from, restored
from landscope.checkpoints.records import Quantised, Storage, TensorRecord
from landscope.contract.errors import CheckpointError

EXTRA_STATE = "_extra_state"

StorageRow = tuple[int, int, int, int | None, bool]
"""Index of the part, offset, size, CRC-32, swapped."""
TensorRow = tuple[str, str, tuple[int, ...], tuple[int, ...], int, int, str, Any]
"""Name, dtype, shape, stride, index of the storage (−1 = none), start, problem; no dtype = in ``arrays``.

The last says what quantised integers stand for: scale and zero, each a number or a row, and the axis.
"""


class Part(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when it was described: its path as bytes, its size and its time of change."""

    path: bytes
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Part:
        """The file as it is now.

        Raises:
            OSError: it cannot be looked at, or is a pipe or a device, which may never end.
        """
        return cls.opened(path, path.stat())

    @classmethod
    def opened(cls, path: Path, found: os.stat_result) -> Part:
        """As ``of``, for a file that is open."""
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise OSError(errno.EINVAL, "a pipe or a device, no file")
        return cls(os.fsencode(path), found.st_size, found.st_mtime_ns)

    @property
    def file(self) -> Path:
        """The path."""
        return Path(os.fsdecode(self.path))


class WeightSet(msgspec.Struct, frozen=True, array_like=True):
    """One mapping of names to tensors in a file (see ``mappings.Candidate``), as rows.

    Attributes:
        path: keys that lead to it. tensors: one row each. arrays: NumPy arrays by name.
        extras: extra state by name (see ``plain``); the names alone of whatever else is no tensor.
    """

    path: str
    tensors: list[TensorRow]
    arrays: dict[str, ArrayParts]
    extras: dict[str, Any]


class FileFacts(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """A file as the child found it.

    Attributes:
        state: ready = its mappings are known; waiting = still being written; skipped.
        reason: why it is not ready, one clause. kind: as ``sniff`` names it.
        step, epoch: as stored, None = the file does not say. remarks: clauses for the person.
        shards: names of the files beside it that belong to it.
        parts: all files that it was read from. storages, sets: where the tensors are.
        holds_optimizer: whether an optimizer's state is in it. optimizers: that state, where asked for.
    """

    state: Literal["ready", "waiting", "skipped"]
    reason: str = ""
    kind: str = ""
    step: int | None = None
    epoch: int | None = None
    remarks: tuple[str, ...] = ()
    shards: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    storages: list[StorageRow] = msgspec.field(default_factory=list)
    sets: msgspec.Raw = msgspec.Raw(b"\x90")
    holds_optimizer: bool = False
    optimizers: msgspec.Raw = msgspec.Raw(b"\x90")

    def places(self) -> list[Storage]:
        """The storages, each checked against the size of its file.

        Raises:
            CheckpointError: one lies outside its file.
        """
        files = [(part.file, part.size) for part in self.parts]
        with _sense():
            return [_storage(files, row) for row in self.storages]

    def candidates(self, places: list[Storage]) -> tuple[Candidate, ...]:
        """The mappings, whose tensors lie at ``places``.

        Raises:
            CheckpointError: the rows contradict each other.
        """
        with _sense():
            return tuple(_candidate(one, places) for one in _sets.decode(self.sets))

    def stored_optimizers(self, places: list[Storage]) -> list[tuple[str, Any]]:
        """The optimizers' states as ``find_optimizers`` gives them, whose tensors lie at ``places``.

        Raises:
            CheckpointError: the rows contradict each other.
        """
        with _sense():
            found = _optimizers.decode(self.optimizers)
            return [(path, restored(value, lambda row: _number(row, places))) for path, value in found]


_sets = msgspec.msgpack.Decoder(tuple[WeightSet, ...])
_optimizers = msgspec.msgpack.Decoder(tuple[tuple[str, Any], ...])


@contextlib.contextmanager
def _sense() -> Iterator[None]:
    try:
        yield
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise CheckpointError("its description makes no sense") from error


def _storage(files: list[tuple[Path, int]], row: StorageRow) -> Storage:
    part, offset, size, crc, swapped = row
    file, available = files[part]
    if offset < 0 or size < 0 or offset + size > available:
        raise CheckpointError(f"{file.name}: claims more data than the file holds; refused")
    return Storage(file, offset, size, crc, swapped)


def _candidate(one: WeightSet, places: list[Storage]) -> Candidate:
    tensors: dict[str, Weights] = {
        row[0]: _record(row, places) if row[1] else array_from(one.arrays[row[0]]) for row in one.tensors
    }
    extras = {
        name: restored(value, lambda row: _number(row, places)) if value is not None else None
        for name, value in one.extras.items()
    }
    return Candidate(one.path, tensors, extras)


def _record(row: TensorRow, places: list[Storage]) -> TensorRecord:
    _, dtype, shape, stride, place, start, problem, quantised = row
    storage = places[place] if place >= 0 else None
    if quantised is not None:
        scale, zero = (_number(value, places) for value in quantised[:2])
        quantised = Quantised(scale, zero, int(quantised[2]))
    return TensorRecord(dtype, shape, stride, storage, start, problem, quantised)


def _number(value: Any, places: list[Storage]) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    name, dtype, shape, stride, *rest = value
    return _record((name, dtype, tuple(shape), tuple(stride), *rest), places)
