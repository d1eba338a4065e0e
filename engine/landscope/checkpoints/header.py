"""What a checkpoint file holds, before its tensors are read: values with ``TensorRecord`` leaves."""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from landscope.checkpoints.records import ITEM_SIZES, Storage, TruncatedError
from landscope.checkpoints.safetensors_file import read_safetensors
from landscope.checkpoints.sniff import Sniffed, read_index, sniff, why_not_torch
from landscope.checkpoints.unpickle import RestrictedUnpickler
from landscope.contract.errors import CheckpointError

_LOCAL_HEADER = struct.Struct("<26xHH")
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    StopIteration,
    NotImplementedError,
    UnicodeDecodeError,
    EOFError,
    struct.error,
    RuntimeError,
)
_PICKLE_ERRORS = (
    pickle.UnpicklingError,
    EOFError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    ImportError,
    OverflowError,
    MemoryError,
    RecursionError,
    UnicodeDecodeError,
)


@dataclass(frozen=True)
class Header:
    """A checkpoint file without its numbers.

    Attributes:
        path: the file. kind: zip, legacy, safetensors or index.
        tree: what was saved; tensors are ``TensorRecord``, unknown things ``Foreign``.
        refused: names of foreign things in the file, which were left alone.
        notes: sentences for the person.
    """

    path: Path
    kind: str
    tree: Any
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and which foreign things were left alone."""
        if not self.refused:
            return self.notes
        shown = ", ".join(self.refused[:3]) + (" and more" if len(self.refused) > 3 else "")
        return (*self.notes, f"left alone, not needed for the weights: {shown}")


def read_header(path: Path, sniffed: Sniffed | None = None) -> Header:
    """Describe a checkpoint file.

    Raises:
        TruncatedError: empty or cut off. CheckpointError: not readable, with the reason.
    """
    try:
        sniffed = sniffed or sniff(path)
        if sniffed.kind == "truncated":
            raise TruncatedError(f"{path.name}: {sniffed.reason}")
        if sniffed.kind in ("unusable", "ignored"):
            raise CheckpointError(f"{path.name}: {sniffed.reason or 'not a checkpoint'}")
        return _READERS[sniffed.kind](path)
    except OSError as error:
        raise CheckpointError(f"{path.name}: cannot be read ({error.strerror or error})") from error


def _read_zip(path: Path) -> Header:
    try:
        with path.open("rb") as file, _archive(path, file) as archive:
            members = _checked_members(path, archive)
            prefix = next(n for n in members if n.endswith("data.pkl") and n.count("/") <= 1)[
                : -len("data.pkl")
            ]
            big = prefix + "byteorder" in members and archive.read(prefix + "byteorder") == b"big"
            locate = _zip_locator(path, file, members, prefix, big)
            with archive.open(members[prefix + "data.pkl"]) as data:
                tree, refused = _unpickle(path, data, locate)
    except _ZIP_ERRORS as error:
        raise CheckpointError(f"{path.name}: damaged zip archive ({error})") from error
    return Header(path, "zip", tree, refused)


def _archive(path: Path, file: IO[bytes]) -> zipfile.ZipFile:
    """The opened archive. Its table of members comes last: an archive without one was cut off."""
    try:
        return zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        if "not a zip file" in str(error):
            raise TruncatedError(f"{path.name}: truncated zip archive: still being written?") from error
        raise


def _checked_members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Members by name. torch stores them uncompressed; anything else is a trap, not a checkpoint."""
    members = {info.filename: info for info in archive.infolist()}
    reason = why_not_torch(members)
    if reason:
        raise CheckpointError(f"{path.name}: {reason}")
    if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
        raise CheckpointError(f"{path.name}: has compressed members, which torch never writes; refused")
    if sum(info.file_size for info in members.values()) > path.stat().st_size:
        raise CheckpointError(f"{path.name}: claims more data than the file holds; refused")
    return members


def _zip_locator(
    path: Path, file: IO[bytes], members: dict[str, zipfile.ZipInfo], prefix: str, big: bool
) -> Callable[[str], Storage | None]:
    known: dict[str, Storage | None] = {}

    def locate(key: str) -> Storage | None:
        if key not in known:
            info = members.get(f"{prefix}data/{key}")
            known[key] = None if info is None else _zip_storage(path, file, info, big)
        return known[key]

    return locate


def _zip_storage(path: Path, file: IO[bytes], info: zipfile.ZipInfo, big: bool) -> Storage:
    """Where the bytes of a stored member begin: after its local header, whose extra field pads it."""
    here = file.tell()
    file.seek(info.header_offset)
    name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    file.seek(here)
    begin = info.header_offset + _LOCAL_HEADER.size + name + extra
    return Storage(path, begin, info.file_size, crc=info.CRC, swapped=big)


def _unpickle(
    path: Path, file: IO[bytes], locate: Callable[[str], Storage | None]
) -> tuple[Any, tuple[str, ...]]:
    unpickler = RestrictedUnpickler(file, locate)
    return _loaded(path, unpickler), tuple(unpickler.refused)


def _loaded(path: Path, unpickler: RestrictedUnpickler) -> Any:
    try:
        return unpickler.load()
    except _PICKLE_ERRORS as error:
        if isinstance(error, EOFError) or "truncated" in str(error):
            raise TruncatedError(f"{path.name}: truncated: still being written?") from error
        raise CheckpointError(
            f"{path.name}: its pickle cannot be read ({type(error).__name__}: {error})"
        ) from error


def _read_legacy(path: Path) -> Header:
    """Files before torch 1.6: four pickles, the list of storage keys, then the storages one after another."""
    with path.open("rb") as file:
        for _ in range(3):
            _unpickle(path, file, lambda _key: None)
        begin = file.tell()
        first = RestrictedUnpickler(file, lambda _key: None)
        _loaded(path, first)
        keys, _ = _unpickle(path, file, lambda _key: None)
        places = _legacy_storages(path, file, [str(key) for key in keys], first.storages)
        file.seek(begin)
        tree, refused = _unpickle(path, file, places.get)
    return Header(path, "legacy", tree, refused, ("old file format (before torch 1.6)",))


def _legacy_storages(
    path: Path, file: IO[bytes], keys: list[str], stated: dict[str, tuple[str, int]]
) -> dict[str, Storage]:
    places, end = {}, path.stat().st_size
    for key in keys:
        raw = file.read(8)
        count = int.from_bytes(raw, "little", signed=True)
        dtype = stated.get(key, ("uint8", 0))[0]
        size = count * ITEM_SIZES[dtype]
        if len(raw) < 8 or count < 0 or file.tell() + size > end:
            raise TruncatedError(f"{path.name}: truncated: still being written?")
        places[key] = Storage(path, file.tell(), size)
        file.seek(size, 1)
    return places


def _read_safetensors(path: Path) -> Header:
    tree, metadata = read_safetensors(path)
    return Header(path, "safetensors", tree, metadata=metadata)


def _read_sharded(path: Path) -> Header:
    """A ``*.index.json`` with its shards beside it, as one mapping."""
    try:
        shards = read_index(path)
    except ValueError as error:
        raise CheckpointError(f"{path.name}: {error}") from error
    tree: dict[str, Any] = {}
    refused: list[str] = []
    for shard in sorted(set(shards.values())):
        header = read_header(_shard_path(path, shard))
        if isinstance(header.tree, dict):
            tree.update(header.tree)
        refused.extend(header.refused)
    missing = sorted(set(shards) - set(tree))
    if missing:
        raise CheckpointError(f"{path.name}: {len(missing)} tensors are in no shard, first {missing[0]!r}")
    return Header(path, "index", tree, tuple(refused))


def _shard_path(index: Path, shard: str) -> Path:
    if Path(shard).name != shard or "\\" in shard or shard.endswith(".index.json"):
        raise CheckpointError(f"{index.name}: names a shard outside its own folder ({shard!r}); refused")
    path = index.with_name(shard)
    if not path.is_file():
        raise CheckpointError(f"{index.name}: the shard {shard!r} is missing")
    return path


_READERS: dict[str, Callable[[Path], Header]] = {
    "zip": _read_zip,
    "legacy": _read_legacy,
    "safetensors": _read_safetensors,
    "index": _read_sharded,
}
