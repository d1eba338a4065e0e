"""Extra state of a module (dicts, lists, bytes, numbers, tensors) as nested lists that a frame can carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from landscope.checkpoints.pickles.foreign import Foreign, InertArray
from landscope.checkpoints.pickles.unpickle import DtypeName
from landscope.checkpoints.records import TensorRecord
from landscope.contract.errors import CheckpointError

ArrayParts = tuple[str, tuple[int, ...], bytes]
"""NumPy's name of the dtype, shape, bytes in C order."""

_DEEPEST = 64
_MOST = 100_000
_LARGEST_INT = 1 << 63


class LeftAlone(str):
    """In place of a value that is no plain data: why it is not there, one clause."""

    __slots__ = ()


def plain(value: Any, row: Callable[[str, TensorRecord], Any]) -> list[Any]:
    """The value as ``[tag, content]``, all the way down; ``row`` writes tensors.

    A value that is too deep, too large, or holds something that is no plain data becomes ``LeftAlone``.
    """
    try:
        return _Writer(row).written(value, 0)
    except CheckpointError as error:
        return ["left alone", error.sentence]


class _Writer:
    def __init__(self, row: Callable[[str, TensorRecord], Any]) -> None:
        self._row = row
        self._left = _MOST

    def written(self, value: Any, depth: int) -> list[Any]:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise CheckpointError("is too deep or too large to be read")
        if isinstance(value, DtypeName):
            return ["dtype", str(value)]
        if value is None or isinstance(value, (bool, float, str, bytes)):
            return ["value", value]
        if isinstance(value, int):
            return ["value", value] if abs(value) < _LARGEST_INT else ["int", hex(value)]
        return self._compound(value, depth + 1)

    def _compound(self, value: Any, depth: int) -> list[Any]:
        if isinstance(value, TensorRecord):
            return ["tensor", self._row("", value)]
        array = value.array if isinstance(value, InertArray) else value
        if isinstance(array, np.ndarray):
            return ["array", [array.dtype.str, list(array.shape), array.tobytes()]]
        if isinstance(value, Mapping):
            return ["dict", [[self._key(k, depth), self.written(v, depth)] for k, v in value.items()]]
        if isinstance(value, (list, tuple)):
            tag = "tuple" if isinstance(value, tuple) else "list"
            return [tag, [self.written(one, depth) for one in value]]
        if isinstance(value, (set, frozenset)):
            tag = "set" if isinstance(value, set) else "frozenset"
            return [tag, [self._key(one, depth) for one in value]]
        if isinstance(value, (bytearray, complex)):
            return ["bytearray", bytes(value)] if isinstance(value, bytearray) else ["complex", str(value)]
        raise CheckpointError(f"holds {_named(value)}, which is no plain data")

    def _key(self, value: Any, depth: int) -> list[Any]:
        parts = value if isinstance(value, tuple) else (value,)
        if not all(part is None or isinstance(part, (bool, int, float, str, bytes)) for part in parts):
            raise CheckpointError(f"holds {_named(value)} as a key, which is no plain data")
        return self.written(value, depth)


def _named(value: Any) -> str:
    return (value.origin if isinstance(value, Foreign) else type(value).__name__) or "an object"


_SEQUENCES: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def restored(written: Any, record: Callable[[Any], TensorRecord]) -> Any:
    """The value that was written; tensors are records, dtypes ``DtypeName``."""
    tag, content = written
    if tag in _SEQUENCES:
        return _SEQUENCES[tag](restored(one, record) for one in content)
    if tag == "dict":
        return {restored(k, record): restored(v, record) for k, v in content}
    if tag == "tensor":
        return record(content)
    if tag == "array":
        return array_from(_tuples(content))
    return _SIMPLE[tag](content)


_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "int": lambda text: int(text, 16),
    "complex": complex,
    "bytearray": bytearray,
    "dtype": DtypeName,
    "left alone": LeftAlone,
}


def _tuples(values: list[Any]) -> Any:
    return tuple(tuple(one) if isinstance(one, list) else one for one in values)


def array_from(parts: ArrayParts) -> np.ndarray[Any, Any]:
    """The array; numbers only.

    Raises:
        CheckpointError: its dtype is no number, or its bytes do not fill its shape.
    """
    name, shape, raw = parts
    dtype = np.dtype(name)
    if dtype.kind not in "biufc":
        raise CheckpointError("holds arrays that are not numbers")
    try:
        return np.frombuffer(raw, dtype).reshape(shape)
    except ValueError as error:
        raise CheckpointError(f"holds an array of an impossible shape {shape}") from error
