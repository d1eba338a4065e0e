"""Whether two checkpoints hold the same weights, told from the checksums of their bytes."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping

import numpy as np

from landscope.checkpoints.files.mappings import Weights
from landscope.checkpoints.guarded.facts import Part
from landscope.contract.errors import CheckpointError

Fingerprint = tuple[tuple[str, str, tuple[int, ...], int, int], ...]

_BLOCK = 1 << 20


def sha256_of(parts: Iterable[Part]) -> str:
    """SHA-256, hexadecimal, of a file, or of several one after the other in the order given.

    Raises:
        CheckpointError: one cannot be read.
    """
    digest = hashlib.sha256()
    for part in parts:
        try:
            with part.file.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
        except OSError as error:
            raise CheckpointError(f"{part.file.name}: cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()


def fingerprint(tensors: Mapping[str, Weights]) -> Fingerprint | None:
    """A value that is equal for equal weights; None where there are none or some have no known checksum."""
    rows = [_one(name, tensor) for name, tensor in tensors.items()]
    return None if None in rows or not rows else tuple(sorted(row for row in rows if row is not None))


def _one(name: str, tensor: Weights) -> tuple[str, str, tuple[int, ...], int, int] | None:
    if isinstance(tensor, np.ndarray):
        return (name, str(tensor.dtype), tensor.shape, zlib.crc32(np.ascontiguousarray(tensor).tobytes()), 0)
    if tensor.storage is None:
        return (name, tensor.dtype, tensor.shape, 0, 0)
    if tensor.storage.crc is None:
        return None
    return (name, tensor.dtype, tensor.shape, tensor.storage.crc, tensor.start)
