"""Judging an HDF5 file that anybody may have made, before anything in it is read.

Links are judged by their type and never followed, every object may have one name only, nothing may be
deeper, larger or more numerous than a session can be. What a dataset may be stands in ``validate_data``.
A validator alone does not make libhdf5 safe: files that the window did not write itself are read in the
reader process, which may die.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from landscope.contract.errors import SessionError
from landscope.session.hdf5 import h5py
from landscope.session.validate_data import Refused, check_attribute, check_dataset

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_FILE = 8 << 30
_MAX_TOTAL = 4 << 30
_MAX_OBJECTS = 50_000
_MAX_DEPTH = 12
_MAX_NAME = 255
_MAX_ATTRIBUTES = 256


@contextmanager
def validated(path: Path) -> Iterator[Any]:
    """An ``h5py.File``, open for reading, whose every object has been judged.

    Raises:
        SessionError: why it is not opened.
    """
    _check_regular(path)
    identifier = _open(path)
    try:
        try:
            _walk(identifier)
        except Refused as error:
            raise SessionError(f"{path} is not opened: {error}.") from error
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, MemoryError) as error:
            raise SessionError(f"{path} is damaged and cannot be read.", repr(error)) from error
        yield h5py.File(identifier)
    finally:
        if identifier.valid:
            identifier.close()


def _check_regular(path: Path) -> None:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SessionError(f"{path} is not a file: choose a session file (.h5).")
        with path.open("rb") as stream:
            head = stream.read(len(_SIGNATURE))
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}.") from error
    if not head:
        raise SessionError(f"{path} is empty.")
    if head != _SIGNATURE:
        raise SessionError(f"{path} is not an HDF5 file.")
    if status.st_size > _MAX_FILE:
        raise SessionError(f"{path} is larger than {_MAX_FILE >> 30} GiB: that is no session.")


def _open(path: Path) -> Any:
    """The file by libhdf5's plain driver, closed with everything in it, without locks."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_fapl_sec2()
    if hasattr(access, "set_file_locking"):
        access.set_file_locking(False, True)
    try:
        return h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY, access)
    except (OSError, RuntimeError, ValueError) as error:
        raise SessionError(f"{path} is damaged: it ends too early or is not whole.", repr(error)) from error


def _walk(file: Any) -> None:
    seen: set[tuple[int, Any]] = set()
    total = 0
    root = h5py.h5o.open(file, b"/")
    seen.add(_address(root))
    stack = [(root, "", 0)]
    while stack:
        group, path, depth = stack.pop()
        if depth > _MAX_DEPTH:
            raise Refused(f"its groups are nested deeper than {_MAX_DEPTH}")
        _check_attributes(group, path or "/")
        for name in _names(group, len(seen)):
            child, where = _child(group, name, path)
            if _address(child) in seen:
                raise Refused(f"{where} is a second name of another object")
            seen.add(_address(child))
            if isinstance(child, h5py.h5g.GroupID):
                stack.append((child, where, depth + 1))
                continue
            total += _dataset_bytes(child, where)
            if total > _MAX_TOTAL:
                raise Refused(f"it claims more than {_MAX_TOTAL >> 30} GiB of data")


def _names(group: Any, known: int) -> list[bytes]:
    count = group.get_num_objs()
    if known + count > _MAX_OBJECTS:
        raise Refused(f"it holds more than {_MAX_OBJECTS} objects")
    names: list[bytes] = []
    group.links.iterate(names.append)
    return names


def _child(group: Any, name: bytes, path: str) -> tuple[Any, str]:
    """The object of a hard link; any other link is refused unresolved."""
    where = f"{path}/{_plain_name(name)}"
    kind = group.links.get_info(name).type
    if kind == h5py.h5l.TYPE_EXTERNAL:
        raise Refused(f"{where} is a link to another file")
    if kind == h5py.h5l.TYPE_SOFT:
        raise Refused(f"{where} is a soft link")
    if kind != h5py.h5l.TYPE_HARD:
        raise Refused(f"{where} is a link of the unknown kind {kind}")
    return h5py.h5o.open(group, name), where


def _plain_name(raw: bytes) -> str:
    """A name that can be shown: short, UTF-8, without control or direction characters."""
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("a name in it is not UTF-8") from None
    strange = any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in name)
    if strange or not name or name in (".", "..") or "/" in name or len(raw) > _MAX_NAME:
        raise Refused(f"the name {name[:40]!r} in it is not allowed")
    return name


def _address(identifier: Any) -> tuple[int, Any]:
    info = h5py.h5o.get_info(identifier)
    return info.fileno, info.addr


def _check_attributes(owner: Any, where: str) -> None:
    count = h5py.h5a.get_num_attrs(owner)
    if count > _MAX_ATTRIBUTES:
        raise Refused(f"{where} has {count} attributes")
    for index in range(count):
        attribute = h5py.h5a.open(owner, index=index)
        check_attribute(attribute, f"attribute {_plain_name(attribute.name)} of {where}")


def _dataset_bytes(child: Any, where: str) -> int:
    if not isinstance(child, h5py.h5d.DatasetID):
        raise Refused(f"{where} is neither a group nor a dataset")
    _check_attributes(child, where)
    return check_dataset(child, where)
