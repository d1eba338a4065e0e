"""What a checkpoint file holds, before its tensors are read: values with ``TensorRecord`` leaves."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from landscope.checkpoints.records import ITEM_SIZES, Storage, TensorRecord, contiguous_stride
from landscope.checkpoints.sniff import Sniffed, read_index, sniff
from landscope.checkpoints.unpickle import RestrictedUnpickler
from landscope.contract.errors import CheckpointError

_MAX_HEADER = 100 << 20
_LOCAL_HEADER = struct.Struct("<26xHH")
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
_SAFETENSORS_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
}


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


class TruncatedError(CheckpointError):
    """The file ends too early: perhaps it is still being written."""


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
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = _checked_members(path, archive)
            prefix = next(n for n in members if n.endswith("data.pkl") and n.count("/") <= 1)[
                : -len("data.pkl")
            ]
            big = prefix + "byteorder" in members and archive.read(prefix + "byteorder") == b"big"
            locate = _zip_locator(path, file, members, prefix, big)
            with archive.open(members[prefix + "data.pkl"]) as data:
                tree, refused = _unpickle(path, data, locate)
    except (zipfile.BadZipFile, StopIteration, NotImplementedError) as error:
        raise CheckpointError(f"{path.name}: damaged zip archive ({error})") from error
    return Header(path, "zip", tree, refused)


def _checked_members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Members by name. torch stores them uncompressed; anything else is a trap, not a checkpoint."""
    members = {info.filename: info for info in archive.infolist()}
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
    try:
        return unpickler.load(), tuple(unpickler.refused)
    except _PICKLE_ERRORS as error:
        raise CheckpointError(
            f"{path.name}: its pickle cannot be read ({type(error).__name__}: {error})"
        ) from error


def _read_legacy(path: Path) -> Header:
    """Files before torch 1.6: four pickles, the list of storage keys, then the storages one after another."""
    places: dict[str, Storage] = {}
    pending: list[str] = []
    with path.open("rb") as file:
        for _ in range(3):
            _unpickle(path, file, lambda _key: None)
        begin = file.tell()
        first = RestrictedUnpickler(file, lambda key: pending.append(key))
        try:
            first.load()
        except _PICKLE_ERRORS as error:
            raise CheckpointError(f"{path.name}: its pickle cannot be read ({error})") from error
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
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if len(head) < 8 or (length <= _MAX_HEADER and 8 + length > size):
            raise TruncatedError(f"{path.name}: truncated: still being written?")
        if length > _MAX_HEADER:
            raise CheckpointError(f"{path.name}: not a safetensors file (its header claims {length} bytes)")
        try:
            entries = json.loads(file.read(length))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise CheckpointError(f"{path.name}: damaged safetensors header ({error})") from error
    if not isinstance(entries, dict):
        raise CheckpointError(f"{path.name}: damaged safetensors header (not a table)")
    metadata = entries.pop("__metadata__", None)
    tree = _safetensors_records(path, entries, 8 + length, size)
    named = {str(k): str(v) for k, v in metadata.items()} if isinstance(metadata, dict) else {}
    return Header(path, "safetensors", tree, metadata=named)


def _safetensors_records(
    path: Path, entries: dict[str, Any], begin: int, size: int
) -> dict[str, TensorRecord]:
    """Records of all tensors, whose bytes must follow one another without gap or overlap."""
    records, spans = {}, []
    for name, entry in entries.items():
        try:
            shape = tuple(int(n) for n in entry["shape"])
            first, last = (int(n) for n in entry["data_offsets"])
            dtype = _SAFETENSORS_DTYPES.get(entry["dtype"], str(entry["dtype"]))
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path.name}: damaged safetensors entry {name!r}") from error
        spans.append((first, last))
        place = Storage(path, begin + first, last - first)
        records[name] = TensorRecord(dtype, shape, contiguous_stride(shape), place)
    _check_spans(path, sorted(spans), size - begin)
    return records


def _check_spans(path: Path, spans: list[tuple[int, int]], available: int) -> None:
    end = 0
    for first, last in spans:
        if first != end or last < first:
            raise CheckpointError(f"{path.name}: its tensors overlap or leave gaps; refused")
        end = last
    if end > available:
        raise TruncatedError(f"{path.name}: truncated: still being written?")


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
