"""Tensors as checkpoint files describe them: dtype, shape and where the bytes lie; none read yet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from landscope.contract.errors import CheckpointError

ITEM_SIZES = {
    "float32": 4,
    "float64": 8,
    "float16": 2,
    "bfloat16": 2,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "bool": 1,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
}
"""Bytes per element of every dtype that is read, by torch's name for it."""
_MOST_ELEMENTS = 1 << 62


class TruncatedError(CheckpointError):
    """The file ends too early: perhaps it is still being written."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A run of bytes in a file.

    Attributes:
        file: the file that holds it. offset, size: bytes. crc: CRC-32 if the file states one.
        swapped: whether elements are stored with their bytes reversed (on a big-endian machine).
    """

    file: Path
    offset: int
    size: int
    crc: int | None = None
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Quantised:
    """How integers stand for numbers: ``(integer - zero) * scale``.

    Attributes:
        scale, zero: numbers, or 1-d tensors with one value per channel. axis: the channels' axis.
    """

    scale: float | TensorRecord
    zero: int | TensorRecord
    axis: int = 0


@dataclass(frozen=True, slots=True)
class TensorRecord:
    """One tensor of a file: a strided view of a storage.

    Attributes:
        dtype: torch's name of the dtype. shape: sizes. stride, start: in elements.
        storage: where the bytes are; None = the file holds none (``meta`` tensors).
        problem: why the tensor cannot be read, one clause; empty when it can.
        quantised: what its integers stand for, None = they are the values.
    """

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    storage: Storage | None
    start: int = 0
    problem: str = ""
    quantised: Quantised | None = None

    def __setstate__(self, _state: Any) -> None:
        """Nothing: a pickle may hold attributes of a tensor, which must not become those of its record."""

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def is_integer(self) -> bool:
        """Whether the values are integers or booleans."""
        return self.quantised is None and (self.dtype == "bool" or self.dtype.startswith(("int", "uint")))


def possible(shape: tuple[int, ...]) -> bool:
    """Whether a tensor may have these sizes: its strides, which an empty one has, too, are 64-bit numbers."""
    return math.prod(max(size, 1) for size in shape) < _MOST_ELEMENTS


def contiguous_stride(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a row-major tensor."""
    stride: list[int] = []
    step = 1
    for size in reversed(shape):
        stride.append(step)
        step *= max(size, 1)
    return tuple(reversed(stride))


def unreadable(record: TensorRecord) -> str:
    """Why the record must not be read, one clause; empty when all is well.

    A view may not reach outside its storage, nor stand for more bytes than the storage has (an expanded
    tensor of stride 0 would cost far more memory than the file when it is copied).
    """
    if record.problem:
        return record.problem
    if record.storage is None:
        return "has no data in the file (a meta tensor)"
    return _problem(record.dtype, record.shape, record.stride, record.start, record.storage.size)


@lru_cache(maxsize=4096)
def _problem(dtype: str, shape: tuple[int, ...], stride: tuple[int, ...], start: int, size: int) -> str:
    """What is wrong with a view of a storage of ``size`` bytes. The files of a run repeat the same views."""
    item = ITEM_SIZES.get(dtype)
    if item is None:
        return f"has the type {dtype}, which cannot be read; save float weights"
    if len(shape) != len(stride) or min((*shape, *stride, start), default=0) < 0 or not possible(shape):
        return "has an impossible shape"
    elements = math.prod(shape)
    last = start + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
    if elements and ((last + 1) * item > size or elements * item > size):
        return "claims more data than its storage holds"
    return ""
