"""The header of a safetensors file: a length, JSON, then the bytes of all tensors without gaps."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from landscope.checkpoints.files.sniff import LONGEST_HEADER
from landscope.checkpoints.records import Storage, TensorRecord, TruncatedError, contiguous_stride, possible
from landscope.checkpoints.wording import shown
from landscope.contract.errors import CheckpointError

_DTYPES = {
    "F64": ("float64", 64),
    "F32": ("float32", 32),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "I64": ("int64", 64),
    "I32": ("int32", 32),
    "I16": ("int16", 16),
    "I8": ("int8", 8),
    "U64": ("uint64", 64),
    "U32": ("uint32", 32),
    "U16": ("uint16", 16),
    "U8": ("uint8", 8),
    "BOOL": ("bool", 8),
    "C64": ("complex64", 64),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F6_E2M3": ("float6_e2m3fn", 6),
    "F6_E3M2": ("float6_e3m2fn", 6),
    "F4": ("float4_e2m1fn", 4),
}
"""Torch's name and the bits of one element, by safetensors' name."""
_MOST_DIMENSIONS = 64
_LARGEST = 1 << 62


def read_safetensors(path: Path) -> tuple[dict[str, TensorRecord], dict[str, str]]:
    """Records of a file's tensors and its free-form metadata; no tensor is read.

    Raises:
        TruncatedError: it ends too early. CheckpointError: its header is damaged.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if len(head) < 8 or (length <= LONGEST_HEADER and 8 + length > size):
            raise TruncatedError(f"{path.name}: truncated: still being written?")
        if length > LONGEST_HEADER:
            raise CheckpointError(f"{path.name}: not a safetensors file (its header claims {length} bytes)")
        entries = _parsed(path, file.read(length))
    metadata = entries.pop("__metadata__", None)
    named = {k: v for k, v in metadata.items() if isinstance(v, str)} if isinstance(metadata, dict) else {}
    return _records(path, entries, 8 + length, size), named


def _parsed(path: Path, header: bytes) -> dict[str, Any]:
    try:
        if header[:1] != b"{":
            raise ValueError("it does not start with {")
        entries: dict[str, Any] = json.loads(header, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path.name}: damaged safetensors header ({shown(str(error))})") from error
    return entries


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def _records(path: Path, entries: dict[str, Any], begin: int, size: int) -> dict[str, TensorRecord]:
    """Records of all tensors, whose bytes must follow one another without gap or overlap."""
    records, spans = {}, []
    for name, entry in entries.items():
        try:
            shape, (first, last) = _whole(entry["shape"]), _whole(entry["data_offsets"])
            dtype, bits = _DTYPES.get(entry["dtype"], (str(entry["dtype"])[:20], 0))
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path.name}: damaged safetensors entry {shown(name)!r}") from error
        if bits and (math.prod(shape) * bits + 7) // 8 != last - first:
            raise CheckpointError(
                f"{path.name}: {shown(name)} claims another size than its bytes have; refused"
            )
        if not possible(shape):
            raise CheckpointError(f"{path.name}: {shown(name)} has an impossible shape")
        spans.append((first, last))
        place = Storage(path, begin + first, last - first)
        records[name] = TensorRecord(dtype, shape, contiguous_stride(shape), place)
    _check_spans(path, sorted(spans), size - begin)
    return records


def _whole(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > _MOST_DIMENSIONS:
        raise ValueError("not a list of sizes")
    if not all(type(value) is int and 0 <= value < _LARGEST for value in values):
        raise ValueError("not sizes")
    return tuple(values)


def _check_spans(path: Path, spans: list[tuple[int, int]], available: int) -> None:
    end = 0
    for first, last in spans:
        if first != end or last < first:
            raise CheckpointError(f"{path.name}: its tensors overlap or leave gaps; refused")
        end = last
    if end > available:
        raise TruncatedError(f"{path.name}: truncated: still being written?")
    if end < available:
        raise CheckpointError(f"{path.name}: has bytes after its tensors that belong to none; refused")
