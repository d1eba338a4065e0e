"""Taking arrays, texts and JSON out of an HDF5 group, each checked before a byte of it is read.

Everything raises ``SessionError`` with the path of what is missing or wrong.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import SessionError
from landscope.session.hdf5 import h5py
from landscope.session.schema import UNKNOWN_INTEGER

_MAX_BYTES = 1 << 31
_KINDS = {"f": np.float64, "i": np.int64, "u": np.uint8}


def take_floats(group: Any, name: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """A float dataset as float64; None in ``shape`` fits any length."""
    return _numbers(group, name, shape, "f").astype(np.float64, copy=False)


def take_integers(group: Any, name: str, shape: tuple[int | None, ...]) -> NDArray[np.int64]:
    """An integer dataset as int64."""
    return _numbers(group, name, shape, "i").astype(np.int64, copy=False)


def take_flags(group: Any, name: str, shape: tuple[int | None, ...]) -> NDArray[np.uint8]:
    """A dataset of unsigned bytes."""
    return _numbers(group, name, shape, "u").astype(np.uint8, copy=False)


def take_optional_integers(group: Any, name: str, length: int) -> list[int | None]:
    """A row of integers in which the fill value comes back as None."""
    values: list[int] = take_integers(group, name, (length,)).tolist()
    return [None if v == UNKNOWN_INTEGER else v for v in values]


def take_texts(group: Any, name: str, length: int | None = None) -> list[str]:
    """A row of fixed-length texts."""
    found = _dataset(group, name)
    _fits(found, (length,))
    _fixed_text(found)
    return [_decoded(raw) for raw in found[()].tolist()]


def take_text(group: Any, name: str) -> str:
    """One text."""
    found = _dataset(group, name)
    _fits(found, ())
    _fixed_text(found)
    return _decoded(bytes(found[()]))


def take_json(group: Any, name: str, kind: Any = Any) -> Any:
    """Plain data of one JSON text, checked against a type where one is given."""
    return parsed(take_text(group, name), kind, f"{group.name}/{name}")


def parsed(text: str, kind: Any, where: str) -> Any:
    """The content of a JSON text as ``kind``."""
    try:
        return msgspec.convert(json.loads(text), kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise SessionError(f"{where} of the session cannot be read: it is damaged ({error}).") from error


def take_name(group: Any, name: str) -> str:
    """The true name of the quantity in a dataset: its ``long_name``."""
    return take_attribute(_dataset(group, name), "long_name")


def take_attribute(owner: Any, name: str) -> str:
    """A fixed-length text attribute."""
    if name not in owner.attrs:
        raise SessionError(f"{owner.name} of the session has no attribute {name}: it is damaged.")
    kind = owner.attrs.get_id(name).get_type()
    if kind.get_class() != h5py.h5t.STRING or kind.is_variable_str():
        raise SessionError(f"Attribute {name} of {owner.name} is not a plain text: the session is damaged.")
    return _decoded(bytes(np.asarray(owner.attrs[name]).reshape(-1)[0]))


def take_group(group: Any, name: str) -> Any:
    """A group that must be there."""
    found = group.get(name)
    if not isinstance(found, h5py.Group):
        raise SessionError(f"{_join(group, name)} is missing from the session: the file is damaged.")
    return found


def members(group: Any, name: str) -> list[Any]:
    """The numbered groups below a group that may be missing, in their order."""
    if name not in group:
        return []
    parent = take_group(group, name)
    return [take_group(parent, one) for one in sorted(filter(str.isdecimal, parent), key=int)]


def _numbers(group: Any, name: str, shape: tuple[int | None, ...], kind: str) -> NDArray[Any]:
    found = _dataset(group, name)
    _fits(found, shape)
    if found.dtype.kind != kind:
        raise SessionError(f"{found.name} holds {found.dtype} where {_KINDS[kind].__name__} is expected.")
    array: NDArray[Any] = found[()]
    return array


def _dataset(group: Any, name: str) -> Any:
    found = group.get(name)
    if not isinstance(found, h5py.Dataset):
        raise SessionError(f"{_join(group, name)} is missing from the session: the file is damaged.")
    return found


def _fits(dataset: Any, shape: tuple[int | None, ...]) -> None:
    found = dataset.shape
    wrong = found is None or len(found) != len(shape)
    if wrong or any(w is not None and w != f for w, f in zip(shape, found, strict=True)):
        raise SessionError(f"{dataset.name} has the shape {found} where {shape} is expected: it is damaged.")
    if math.prod(found) * max(1, dataset.id.get_type().get_size()) > _MAX_BYTES:
        raise SessionError(f"{dataset.name} claims more than 2 GiB: the session is not read.")


def _fixed_text(dataset: Any) -> None:
    kind = dataset.id.get_type()
    if kind.get_class() != h5py.h5t.STRING or kind.is_variable_str():
        raise SessionError(f"{dataset.name} does not hold fixed-length text: the session is damaged.")


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _join(group: Any, name: str) -> str:
    return f"{str(group.name).rstrip('/')}/{name}"
