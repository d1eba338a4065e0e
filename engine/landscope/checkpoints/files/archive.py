"""Zip archives as torch writes them: a pickle and the storages it names, all uncompressed."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from landscope.checkpoints.files.formats import why_not_torch
from landscope.checkpoints.pickles.pickled import Locate, unpickled
from landscope.checkpoints.records import Storage, TruncatedError
from landscope.checkpoints.wording import shown
from landscope.contract.errors import CheckpointError

_LOCAL_HEADER = struct.Struct("<26xHH")
_ENCRYPTED = 1
_SMALL = 1 << 18
_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    UnicodeDecodeError,
    EOFError,
    MemoryError,
    OverflowError,
    ValueError,
    struct.error,
    RuntimeError,
)


def read_archive(path: Path) -> tuple[Any, tuple[str, ...]]:
    """What was saved, tensors as records, and the foreign names in it.

    Raises:
        TruncatedError: cut off. CheckpointError: damaged, a trap, or no archive of torch.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        whole = io.BytesIO(file.read(_SMALL)) if size <= _SMALL else file  # faster to move about in
        return read_open_archive(path, whole, size)


def read_open_archive(path: Path, file: IO[bytes], size: int, begin: int = 0) -> tuple[Any, tuple[str, ...]]:
    """As ``read_archive``, for an archive of ``size`` bytes; ``file`` starts at ``begin`` of ``path``."""
    try:
        with _archive(path, file) as archive:
            members = _checked_members(path, archive, size)
            inner = next(n for n in members if n.endswith("data.pkl") and n.count("/") <= 1)
            prefix = inner.removesuffix("data.pkl")
            order = members.get(prefix + "byteorder")
            big = order is not None and _content(file, order) == b"big"
            locate = _locator(path, file, members, prefix, big, begin)
            tree, unpickler = unpickled(path, io.BytesIO(_content(file, members[inner])), locate)
            return tree, tuple(unpickler.refused)
    except StopIteration as error:
        raise CheckpointError(f"{path.name}: zip archive without torch data") from error
    except _ERRORS as error:
        raise CheckpointError(f"{path.name}: damaged zip archive ({shown(str(error))})") from error


def _archive(path: Path, file: IO[bytes]) -> zipfile.ZipFile:
    """The opened archive. Its table of members comes last: an archive without one was cut off."""
    try:
        return zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        if "not a zip file" in str(error):
            raise TruncatedError(f"{path.name}: truncated zip archive: still being written?") from error
        raise


def _checked_members(path: Path, archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Members by name. torch stores them once and uncompressed; anything else is a trap, not a checkpoint."""
    listed = archive.infolist()
    members = {info.filename: info for info in listed}
    reason = why_not_torch(members)
    if reason:
        raise CheckpointError(f"{path.name}: {reason}")
    if any(info.flag_bits & _ENCRYPTED for info in listed):
        raise CheckpointError(f"{path.name}: encrypted zip archive: unpack it first")
    if any(info.compress_type != zipfile.ZIP_STORED for info in listed):
        raise CheckpointError(f"{path.name}: has compressed members, which torch never writes; refused")
    if len(members) < len(listed):
        raise CheckpointError(f"{path.name}: has two members of one name, which torch never writes; refused")
    if sum(info.file_size for info in listed) > size:
        raise CheckpointError(f"{path.name}: claims more data than the file holds; refused")
    return members


def _locator(
    path: Path, file: IO[bytes], members: dict[str, zipfile.ZipInfo], prefix: str, big: bool, begin: int
) -> Locate:
    known: dict[str, Storage | None] = {}

    def locate(key: str) -> Storage | None:
        if key not in known:
            info = members.get(f"{prefix}data/{key}")
            known[key] = None if info is None else _storage(path, file, info, big, begin)
        return known[key]

    return locate


def _storage(path: Path, file: IO[bytes], info: zipfile.ZipInfo, big: bool, begin: int) -> Storage:
    return Storage(path, begin + _first_byte(file, info), info.file_size, crc=info.CRC, swapped=big)


def _first_byte(file: IO[bytes], info: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored member begin: after its local header, whose extra field pads it."""
    file.seek(info.header_offset)
    name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    return info.header_offset + _LOCAL_HEADER.size + int(name) + int(extra)


def _content(file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """The bytes of a stored member, which is much faster than through ``ZipFile.open``."""
    file.seek(_first_byte(file, info))
    content = file.read(info.file_size)
    if len(content) < info.file_size or zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"the bytes of {info.filename} do not match their checksum")
    return content
