"""Reading pickles of torch files without importing or calling anything that the file names.

Only functions of this module run. They describe tensors (``TensorRecord``) and rebuild harmless values;
every other name becomes an inert ``Foreign`` placeholder that keeps what was stored in it.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import IO, Any

import numpy as np

from landscope.checkpoints.foreign import Foreign, InertArray, InertDtype
from landscope.checkpoints.records import ITEM_SIZES, Storage, TensorRecord

STORAGE_TYPES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "QInt8Storage": "int8",
    "QUInt8Storage": "uint8",
    "QInt32Storage": "int32",
}


class StoredBytes:
    """A storage as the pickle names it: dtype, key of the bytes, offset of a view of it, in elements."""

    def __init__(self, dtype: str, key: str, offset: int = 0) -> None:
        self.dtype, self.key, self.offset = dtype, key, offset


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler whose every name leads to this module.

    Args:
        file: the pickle.
        locate: key and dtype of a storage to its place in the file.

    Attributes:
        refused: names the file wanted and did not get, in order.
        storages: element counts by key, as the pickle states them (legacy files need them).
    """

    def __init__(self, file: IO[bytes], locate: Callable[[str], Storage | None]) -> None:
        super().__init__(file)
        self._locate = locate
        self._made: dict[str, type[Foreign]] = {}
        self.refused: list[str] = []
        self.storages: dict[str, tuple[str, int]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Never imports: a function or class of this module, or a placeholder."""
        if module == "torch" and name in STORAGE_TYPES:
            return _StorageType(STORAGE_TYPES[name])
        if (module, name) == ("torch.storage", "UntypedStorage"):
            return _StorageType("uint8")
        if module == "torch" and name in ITEM_SIZES:
            return DtypeName(name)
        if module == "torch._utils" and name in _REBUILD:
            return _Rebuild(_REBUILD[name], self._locate)
        found = _HARMLESS.get((module, name))
        return found if found is not None else self._placeholder(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> StoredBytes:
        """A storage: ``("storage", type, key, device, elements[, view])``.

        Raises:
            pickle.UnpicklingError: anything else.
        """
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise pickle.UnpicklingError("unknown persistent id")
        kind, key, count = pid[1], str(pid[2]), pid[4]
        if not isinstance(kind, _StorageType) or not isinstance(count, int):
            raise pickle.UnpicklingError("unknown kind of storage")
        view = pid[5] if len(pid) > 5 and pid[5] else None
        if view is None:
            self.storages[key] = (kind.dtype, count)
            return StoredBytes(kind.dtype, key)
        self.storages[key] = (kind.dtype, count)
        return StoredBytes(kind.dtype, key, int(view[1]))

    def _placeholder(self, origin: str) -> type[Foreign]:
        if origin not in self._made:
            self.refused.append(origin)
            self._made[origin] = type("Placeholder", (Foreign,), {"origin": origin})
        return self._made[origin]


class DtypeName(str):
    """A torch dtype by name; a call gives itself."""

    __slots__ = ()


class _StorageType:
    """A class of storages."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class _Rebuild:
    """One of torch's rebuild functions, describing instead of building."""

    def __init__(self, describe: Callable[..., Any], locate: Callable[[str], Storage | None]) -> None:
        self._describe, self._locate = describe, locate

    def __call__(self, *arguments: Any) -> Any:
        return self._describe(self._locate, *arguments)


_Locate = Callable[[str], Storage | None]


def _sizes(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _view(
    locate: _Locate, stored: Any, start: Any, shape: Any, stride: Any, dtype: str = "", problem: str = ""
) -> TensorRecord | Foreign:
    if not isinstance(stored, StoredBytes):
        return Foreign()
    return TensorRecord(
        dtype=dtype or stored.dtype,
        shape=_sizes(shape),
        stride=_sizes(stride),
        storage=locate(stored.key),
        start=int(start) + stored.offset,
        problem=problem,
    )


def _tensor(locate: _Locate, stored: Any, start: Any, shape: Any, stride: Any, *_rest: Any) -> Any:
    return _view(locate, stored, start, shape, stride)


def _tensor_v3(
    locate: _Locate,
    stored: Any,
    start: Any,
    shape: Any,
    stride: Any,
    _grad: Any,
    _hooks: Any,
    dtype: Any,
    *_rest: Any,
) -> Any:
    name = str(dtype) if isinstance(dtype, DtypeName) else "unknown"
    return _view(locate, stored, start, shape, stride, name)


def _quantised(locate: _Locate, stored: Any, start: Any, shape: Any, stride: Any, *_rest: Any) -> Any:
    return _view(locate, stored, start, shape, stride, problem="is quantised; save the float weights")


def _meta(_locate: _Locate, dtype: Any, shape: Any, stride: Any, *_rest: Any) -> Any:
    return TensorRecord(str(dtype), _sizes(shape), _sizes(stride), None)


def _parameter(_locate: _Locate, tensor: Any, *_rest: Any) -> Any:
    return tensor


def _subclass(describe: Any, _kind: Any, arguments: Any, _state: Any) -> Any:
    """A tensor with Python attributes: the tensor alone, if torch's own function rebuilds it."""
    return describe(*arguments) if isinstance(describe, _Rebuild) else Foreign()


def _scalar(dtype: Any, raw: Any = b"") -> Any:
    """A NumPy scalar as a Python number."""
    if isinstance(dtype, InertDtype) and isinstance(raw, bytes):
        try:
            return np.frombuffer(raw, dtype.numeric())[0].item()
        except (ValueError, TypeError, IndexError):
            return Foreign()
    return Foreign()


def _latin1(text: Any, _encoding: Any = "latin1") -> bytes:
    """Bytes as protocol 2 writes them."""
    return text.encode("latin1") if isinstance(text, str) else b""


def _mapping(*_arguments: Any) -> dict[Any, Any]:
    return dict(_arguments[0]) if _arguments and isinstance(_arguments[0], dict) else {}


def _path(*parts: Any) -> str:
    return str(PurePosixPath(*(str(part) for part in parts)))


_REBUILD: dict[str, Callable[..., Any]] = {
    "_rebuild_tensor": _tensor,
    "_rebuild_tensor_v2": _tensor,
    "_rebuild_tensor_v3": _tensor_v3,
    "_rebuild_qtensor": _quantised,
    "_rebuild_meta_tensor_no_storage": _meta,
    "_rebuild_parameter": _parameter,
    "_rebuild_parameter_with_state": _parameter,
}

_HARMLESS: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): _mapping,
    ("collections", "Counter"): _mapping,
    ("torch", "Size"): tuple,
    ("torch", "device"): lambda *parts: ":".join(str(part) for part in parts),
    ("torch._tensor", "_rebuild_from_type_v2"): _subclass,
    ("numpy", "dtype"): InertDtype,
    ("numpy", "ndarray"): InertArray,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy.core.multiarray", "_reconstruct"): InertArray,
    ("numpy._core.multiarray", "_reconstruct"): InertArray,
    ("_codecs", "encode"): _latin1,
    ("pathlib", "PosixPath"): _path,
    ("pathlib", "PurePosixPath"): _path,
    ("pathlib", "WindowsPath"): _path,
    ("pathlib", "PureWindowsPath"): _path,
    ("pathlib._local", "PosixPath"): _path,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "complex"): complex,
    ("builtins", "slice"): slice,
    ("__builtin__", "set"): set,
}
