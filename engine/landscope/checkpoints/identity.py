"""Whether two checkpoints hold the same weights, told from the checksums that zip archives carry anyway."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np

from landscope.checkpoints.mappings import Weights
from landscope.checkpoints.names import without_wrappers
from landscope.checkpoints.records import Storage

Fingerprint = tuple[tuple[str, str, tuple[int, ...], int, int], ...]
_SMALL = 32 << 20


def fingerprint(tensors: Mapping[str, Weights]) -> Fingerprint | None:
    """A value that is equal for equal weights; None where telling would mean to read more than 32 MiB."""
    bare, _ = without_wrappers(tensors)
    cost = sum(_bytes_to_read(tensor) for tensor in tensors.values())
    if cost > _SMALL:
        return None
    known: dict[Storage, int] = {}
    return tuple(sorted(_one(bare[name], tensor, known) for name, tensor in tensors.items()))


def _bytes_to_read(tensor: Weights) -> int:
    if isinstance(tensor, np.ndarray) or tensor.storage is None or tensor.storage.crc is not None:
        return 0
    return tensor.storage.size


def _one(name: str, tensor: Weights, known: dict[Storage, int]) -> tuple[str, str, tuple[int, ...], int, int]:
    if isinstance(tensor, np.ndarray):
        return (name, str(tensor.dtype), tensor.shape, zlib.crc32(np.ascontiguousarray(tensor).tobytes()), 0)
    if tensor.storage is None:
        return (name, tensor.dtype, tensor.shape, 0, 0)
    if tensor.storage not in known:
        known[tensor.storage] = _checksum(tensor.storage)
    return (name, tensor.dtype, tensor.shape, known[tensor.storage], tensor.start)


def _checksum(storage: Storage) -> int:
    if storage.crc is not None:
        return storage.crc
    with storage.file.open("rb") as file:
        file.seek(storage.offset)
        return zlib.crc32(file.read(storage.size))
