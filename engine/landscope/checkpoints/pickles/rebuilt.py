"""Torch's functions that rebuild tensors, describing (``TensorRecord``) instead of building."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from landscope.checkpoints.pickles.foreign import Foreign, Inert, InertArray
from landscope.checkpoints.records import (
    ITEM_SIZES,
    Quantised,
    Storage,
    TensorRecord,
    contiguous_stride,
    possible,
)

Locate = Callable[[str], Storage | None]
_MOST_DIMENSIONS = 64
_LARGEST = 1 << 62

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
    "UntypedStorage": "uint8",
}
_UNREAD = (
    *("float4_e2m1fn_x2", "qint8", "quint8", "qint32", "quint4x2", "quint2x4", "bits8", "bits16"),
    *("bits1x8", "bits2x4", "bits4x2"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)),
)
DTYPES = frozenset((*ITEM_SIZES, *_UNREAD, "half", "float", "double", "int", "long", "short"))
"""Names of dtypes in the module ``torch``."""


class DtypeName(str):
    """A torch dtype by name."""

    __slots__ = ()

    __setstate__ = Inert.__setstate__


class StorageType(Inert):
    """A class of storages."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype


class StoredBytes(Inert):
    """A storage as the pickle names it: dtype, key of the bytes, offset of a view of it, in elements."""

    __slots__ = ("dtype", "key", "offset")

    def __init__(self, dtype: str, key: str, offset: int = 0) -> None:
        self.dtype, self.key, self.offset = dtype, key, offset


class Rebuild(Inert):
    """One of torch's rebuild functions, describing instead of building."""

    __slots__ = ("__describe", "__locate")

    def __init__(self, describe: Callable[..., Any], locate: Locate) -> None:
        self.__describe, self.__locate = describe, locate

    def __call__(self, *arguments: Any) -> Any:
        """The description for arguments from the file."""
        return self.__describe(self.__locate, *arguments)


def without_data(problem: str, shape: Any = (), dtype: Any = "unknown") -> TensorRecord:
    """A tensor that cannot be read, and why."""
    sizes = _sizes(shape) or ()
    sizes = sizes if possible(sizes) else ()
    return TensorRecord(_name(dtype), sizes, contiguous_stride(sizes), None, problem=problem)


def _name(dtype: Any) -> str:
    return str(dtype) if isinstance(dtype, DtypeName) else "unknown"


def _sizes(values: Any) -> tuple[int, ...] | None:
    """Sizes or strides, None where no tensor can have such."""
    if not isinstance(values, (tuple, list)) or len(values) > _MOST_DIMENSIONS:
        return None
    for value in values:
        if type(value) is not int or not 0 <= value < _LARGEST:
            return None
    return tuple(values)


def _view(
    locate: Locate, stored: Any, start: Any, shape: Any, stride: Any, dtype: str = "", **more: Any
) -> Any:
    if not isinstance(stored, StoredBytes):
        return Foreign()
    sizes, steps = _sizes(shape), _sizes(stride)
    if sizes is None or steps is None or _sizes((start,)) is None:
        return without_data("has an impossible shape")
    place = locate(stored.key)
    if place is None:
        return without_data("has no bytes in the file: it was not saved whole, save it again", shape)
    return TensorRecord(dtype or stored.dtype, sizes, steps, place, start + stored.offset, **more)


def _tensor(locate: Locate, stored: Any, start: Any, shape: Any, stride: Any, *_rest: Any) -> Any:
    return _view(locate, stored, start, shape, stride)


def _tensor_v3(
    locate: Locate,
    stored: Any,
    start: Any,
    shape: Any,
    stride: Any,
    _grad: Any,
    _hooks: Any,
    dtype: Any,
    *_rest: Any,
) -> Any:
    return _view(locate, stored, start, shape, stride, _name(dtype))


def _quantised(
    locate: Locate, stored: Any, start: Any, shape: Any, stride: Any, scheme: Any, *_rest: Any
) -> Any:
    """Integers with scale and zero point, one for all or one per channel."""
    how = _quantisation(scheme, _sizes(shape) or ())
    if how is None:
        return without_data("is quantised in a way that is not known; save the float weights", shape)
    return _view(locate, stored, start, shape, stride, quantised=how)


def _quantisation(scheme: Any, shape: tuple[int, ...]) -> Quantised | None:
    if not isinstance(scheme, tuple) or len(scheme) not in (3, 4):
        return None
    scale, zero = scheme[1:3]
    if len(scheme) == 3:
        numbers = isinstance(scale, float) and type(zero) is int and abs(zero) < _LARGEST
        return Quantised(scale, zero) if numbers else None
    axis = scheme[3]
    per_channel = _sizes((axis,)) and axis < len(shape) and _are_numbers((scale, zero), shape[axis])
    return Quantised(scale, zero, axis) if per_channel else None


def _are_numbers(tensors: tuple[Any, ...], count: int) -> bool:
    return all(isinstance(t, TensorRecord) and t.shape == (count,) and not t.quantised for t in tensors)


def _meta(_locate: Locate, dtype: Any, shape: Any, _stride: Any, *_rest: Any) -> Any:
    return without_data("has no data in the file (a meta tensor)", shape, dtype)


def _sparse(_locate: Locate, layout: Any, parts: Any, *_rest: Any) -> Any:
    kind = str(layout).removeprefix("torch.") if isinstance(layout, str) else "sparse"
    sizes = [part for part in parts if isinstance(part, tuple)] if isinstance(parts, tuple) else []
    return without_data(f"is sparse ({kind[:20]}); save it with .to_dense()", sizes[-1] if sizes else ())


def _nested(_locate: Locate, *_parts: Any) -> Any:
    return without_data("is a nested tensor; save its parts one by one")


def _wrapper(_locate: Locate, kind: Any = None, dtype: Any = None, shape: Any = (), *_rest: Any) -> Any:
    """A tensor class that keeps its numbers in attributes, which only ``_subclass`` sees."""
    origin = str(getattr(kind, "origin", "")) or "unknown"
    return without_data(f"is a {origin[:80]}, whose numbers are not plain; save plain tensors", shape, dtype)


def _of_array(_locate: Locate, array: Any, *_rest: Any) -> Any:
    """Tensors of devices without storages, which travel as NumPy arrays."""
    return array.array if isinstance(array, InertArray) else Foreign()


def _same(_locate: Locate, tensor: Any, *_rest: Any) -> Any:
    return tensor if isinstance(tensor, (TensorRecord, np.ndarray)) else Foreign()


def _subclass(
    _locate: Locate, describe: Any = None, kind: Any = None, arguments: Any = (), state: Any = None
) -> Any:
    """A tensor with Python attributes: the tensor alone, if torch's own function rebuilds it."""
    if not isinstance(describe, Rebuild) or not isinstance(arguments, tuple):
        return Foreign()
    plain = describe(*arguments)
    if getattr(kind, "origin", "").endswith(".DTensor") and isinstance(plain, TensorRecord):
        return _local_part(plain, state)
    return plain


def _local_part(whole: TensorRecord, state: Any) -> TensorRecord:
    """The tensor behind a DTensor that one process holds alone; a part of one is refused."""
    attributes = state[-1] if isinstance(state, tuple) and state else state
    local = attributes.get("_local_tensor") if isinstance(attributes, dict) else None
    if isinstance(local, TensorRecord) and local.shape == whole.shape:
        return local
    part = f" {local.shape}" if isinstance(local, TensorRecord) else ""
    problem = f"is one shard{part} of a DTensor of shape {whole.shape}; save the full state dict"
    return without_data(problem, whole.shape)


REBUILD: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_v3,
    "torch._utils._rebuild_qtensor": _quantised,
    "torch._utils._rebuild_meta_tensor_no_storage": _meta,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch._utils._rebuild_sparse_csr_tensor": _sparse,
    "torch._utils._rebuild_nested_tensor": _nested,
    "torch._utils._rebuild_wrapper_subclass": _wrapper,
    "torch._utils._rebuild_parameter": _same,
    "torch._utils._rebuild_parameter_with_state": _same,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": _same,
    "torch._utils._rebuild_device_tensor_from_numpy": _of_array,
    "torch._utils._rebuild_xla_tensor": _of_array,
    "torch._utils._rebuild_mlc_tensor": _of_array,
    "torch._tensor._rebuild_from_type_v2": _subclass,
    "torch._tensor._rebuild_from_type": _subclass,
}
"""Full names of the functions, and what describes their tensors."""
