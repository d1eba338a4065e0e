"""Values that a pickle may rebuild: plain containers, numbers, texts and paths, through functions of ours.

None of them takes a size or an iterator from the file, and joined texts are cut: what one makes is never
larger than what it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from landscope.checkpoints.pickles.foreign import Call, Foreign, InertArray, InertDtype, Table

_LONGEST = 4096
"""Characters of a path or a device; joined again and again they would double each time."""


def _scalar(dtype: Any, raw: Any = b"") -> Any:
    """A NumPy scalar as a Python number."""
    if isinstance(dtype, InertDtype) and isinstance(raw, bytes):
        try:
            return np.frombuffer(raw, dtype.numeric())[0].item()
        except (ValueError, TypeError, IndexError):
            return Foreign()
    return Foreign()


def _buffered_array(raw: Any, dtype: Any, shape: Any, order: Any = "C", *_rest: Any) -> InertArray:
    """An array as protocol 5 writes it."""
    made = InertArray()
    made.__setstate__((1, shape, dtype, order == "F", bytes(raw) if isinstance(raw, bytearray) else raw))
    return made


def _bytes(text: Any = b"", _encoding: Any = "latin1") -> bytes:
    """Bytes, which protocol 2 writes as text."""
    if isinstance(text, str):
        return text.encode("latin1")
    return bytes(text) if isinstance(text, (bytes, bytearray)) else b""


def _tuple(values: Any = ()) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else ()


def _set(values: Any = ()) -> set[Any]:
    return set(values) if isinstance(values, (tuple, list, set, frozenset)) else set()


def _frozenset(values: Any = ()) -> frozenset[Any]:
    return frozenset(_set(values))


def _list(values: Any = (), *_most: Any) -> list[Any]:
    if isinstance(values, list):
        return values  # not a copy: a file may ask for it again and again
    return list(values) if isinstance(values, tuple) else []


def _table(values: Any = None, *_rest: Any) -> Table:
    """A mapping; what a ``defaultdict`` makes of unknown keys is left out."""
    if isinstance(values, (list, tuple)):
        return Table(
            (pair[0], pair[1]) for pair in values if isinstance(pair, (list, tuple)) and len(pair) == 2
        )
    return Table(values) if isinstance(values, dict) else Table()


def _number(value: Any = 0, *_rest: Any) -> Any:
    return value if isinstance(value, (int, float)) else Foreign()


def _complex(real: Any = 0.0, imaginary: Any = 0.0) -> Any:
    both = (real, imaginary)
    return complex(real, imaginary) if all(isinstance(v, (int, float)) for v in both) else Foreign()


def _joined(*parts: Any) -> str:
    return ":".join(str(part)[:_LONGEST] for part in parts[:2] if isinstance(part, (str, int)))[:_LONGEST]


def _path(*parts: Any) -> str:
    return str(PurePosixPath(*(part for part in parts if isinstance(part, str))))[:_LONGEST]


def _called(names: Iterable[str], value: Any) -> dict[str, Any]:
    return dict.fromkeys(names, value)


HARMLESS: dict[str, Any] = {
    "collections.OrderedDict": Table,
    "numpy.dtype": InertDtype,
    "numpy.ndarray": InertArray,
    **_called(("collections.defaultdict", "collections.Counter", "builtins.dict"), Call(_table)),
    **_called(("torch.Size", "builtins.tuple", "__builtin__.tuple"), Call(_tuple)),
    **_called(("collections.deque", "builtins.list", "__builtin__.list"), Call(_list)),
    **_called(("torch.device", "torch.serialization._get_layout"), Call(_joined)),
    **_called(("numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar"), Call(_scalar)),
    **_called(
        ("numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct"), Call(InertArray)
    ),
    **_called(("numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer"), Call(_buffered_array)),
    **_called(
        ("_codecs.encode", "builtins.bytes", "builtins.bytearray", "__builtin__.bytearray"), Call(_bytes)
    ),
    **_called(("builtins.set", "__builtin__.set"), Call(_set)),
    **_called(("builtins.frozenset", "__builtin__.frozenset"), Call(_frozenset)),
    **_called(
        (f"{m}.{n}" for m in ("builtins", "__builtin__") for n in ("int", "float", "long")), Call(_number)
    ),
    **_called(("builtins.complex", "__builtin__.complex"), Call(_complex)),
    **_called(
        (f"{m}.{n}" for m in ("pathlib", "pathlib._local") for n in ("PosixPath", "PurePosixPath", "Path")),
        Call(_path),
    ),
    **_called(
        (f"{m}.{n}" for m in ("pathlib", "pathlib._local") for n in ("WindowsPath", "PureWindowsPath")),
        Call(_path),
    ),
}
"""Full names of what may be rebuilt, and by what."""
