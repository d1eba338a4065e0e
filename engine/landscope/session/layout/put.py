"""Putting arrays, texts and JSON into an HDF5 group, each in one way only.

Strings are fixed-length UTF-8: variable-length ones live on a heap that some readers and all filters miss,
and a damaged heap reference crashes the reader. A text loses NUL characters at its end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from landscope.session.hdf5 import h5py
from landscope.session.schema import FLAGS, UNKNOWN_INTEGER, unit

_COMPRESS_ABOVE = 4096
_CHUNK_BYTES = 1 << 20


def put_array(group: Any, name: str, values: ArrayLike, quantity: str = "", *, single: bool = False) -> Any:
    """A dataset of numbers with ``units`` and ``long_name``; compressed and checksummed above 4 kB.

    Args:
        group: an h5py group.
        name: of the dataset. quantity: what it is, where that differs from ``name``.
        values: floats are stored as float64, integers as int64, uint8 as it is.
        single: floats are stored as float32, for those that are only drawn.
    """
    array = np.asarray(values, "<f4") if single else _portable(np.asarray(values))
    found = group.create_dataset(name, data=array, **_storage(array, shuffle=True))
    _describe(found, quantity or name)
    return found


def put_integers(group: Any, name: str, values: Sequence[int | None]) -> Any:
    """An int64 dataset in which None is stored as ``_FillValue``."""
    found = put_array(group, name, np.array([UNKNOWN_INTEGER if v is None else v for v in values], np.int64))
    found.attrs["_FillValue"] = np.int64(UNKNOWN_INTEGER)
    return found


def put_state(group: Any, values: NDArray[np.uint8]) -> Any:
    """The ``state`` flags of a line or plane, as CF flag attributes."""
    found = put_array(group, "state", values)
    found.attrs["flag_values"] = np.arange(4, dtype=np.uint8)
    put_attribute(found, "flag_meanings", FLAGS)
    return found


def put_scale(group: Any, name: str, values: ArrayLike, quantity: str = "") -> Any:
    """A dataset of numbers that other datasets can use as an axis."""
    found = put_array(group, name, values, quantity)
    found.make_scale(name)
    return found


def put_text(group: Any, name: str, text: str) -> Any:
    """One text as a scalar dataset."""
    raw = _encoded(text)
    return group.create_dataset(name, data=np.array(raw, h5py.string_dtype("utf-8", max(1, len(raw)))))


def put_texts(group: Any, name: str, texts: Sequence[str]) -> Any:
    """A row of texts, all as long as the longest."""
    raw = [_encoded(text) for text in texts]
    kind = h5py.string_dtype("utf-8", max([1, *map(len, raw)]))
    array = np.array(raw, kind) if raw else np.empty(0, kind)
    return group.create_dataset(name, data=array, **_storage(array, shuffle=False))


def put_json(group: Any, name: str, value: Any) -> Any:
    """Plain data as one JSON text (NaN and Infinity written as Python does)."""
    return put_text(group, name, as_json(value))


def put_attribute(owner: Any, name: str, text: str | Sequence[str]) -> None:
    """A short text, or a row of them, as an attribute of a group or dataset."""
    many = not isinstance(text, str)
    raw = [_encoded(one) for one in text] if many else [_encoded(str(text))]
    kind = h5py.string_dtype("utf-8", max([1, *map(len, raw)]))
    owner.attrs.create(name, np.array(raw if many else raw[0], kind))


def mark_data(group: Any, signal: str, axes: Sequence[str], auxiliary: Sequence[str] = ()) -> None:
    """Declare a group as NeXus ``NXdata``, so that viewers plot it without being told how."""
    put_attribute(group, "NX_class", "NXdata")
    put_attribute(group, "signal", signal)
    put_attribute(group, "axes", list(axes))
    if auxiliary:
        put_attribute(group, "auxiliary_signals", list(auxiliary))


def attach(dataset: Any, *scales: Any) -> None:
    """Make each scale the axis of the dimension in its place; None leaves a dimension without."""
    for dimension, scale in enumerate(scales):
        if scale is not None:
            dataset.dims[dimension].attach_scale(scale)


def as_json(value: Any) -> str:
    """JSON text of plain data: str, int, float, bool, None, lists and dicts with text keys."""
    return json.dumps(value, ensure_ascii=False, allow_nan=True)


def _portable(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind == "f":
        return array.astype("<f8", copy=False)
    if array.dtype.kind in "iub":
        return array.astype("<i8", copy=False)
    raise TypeError(f"arrays of type {array.dtype} have no place in a session")


def _storage(array: NDArray[Any], *, shuffle: bool) -> dict[str, Any]:
    if array.nbytes <= _COMPRESS_ABOVE or array.ndim == 0:
        return {}
    return {
        "chunks": _chunks(array.shape, array.itemsize),
        "compression": "gzip",
        "compression_opts": 4,
        "shuffle": shuffle,
        "fletcher32": True,
    }


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Chunks of at most about 1 MiB that run along the last axes, which are read together."""
    chunks = list(shape)
    for axis in range(len(shape)):
        rest = math.prod(chunks[axis + 1 :]) * itemsize
        chunks[axis] = max(1, min(shape[axis], _CHUNK_BYTES // max(1, rest)))
        if chunks[axis] > 1:
            break
    return tuple(chunks)


def _describe(dataset: Any, quantity: str) -> None:
    put_attribute(dataset, "units", unit(quantity))
    put_attribute(dataset, "long_name", quantity)


def _encoded(text: str) -> bytes:
    """UTF-8; bytes of file names that are not UTF-8 go back as they came, other half characters as "?"."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
