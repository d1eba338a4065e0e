"""The header of a safetensors file: a length, JSON, then the bytes of all tensors without gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from landscope.checkpoints.records import Storage, TensorRecord, TruncatedError, contiguous_stride
from landscope.contract.errors import CheckpointError

_MAX_HEADER = 100 << 20
_DTYPES = {
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


def read_safetensors(path: Path) -> tuple[dict[str, TensorRecord], dict[str, str]]:
    """Records of a file's tensors and its free-form metadata; no tensor is read.

    Raises:
        TruncatedError: it ends too early. CheckpointError: its header is damaged.
    """
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
    named = {str(k): str(v) for k, v in metadata.items()} if isinstance(metadata, dict) else {}
    return _records(path, entries, 8 + length, size), named


def _records(path: Path, entries: dict[str, Any], begin: int, size: int) -> dict[str, TensorRecord]:
    """Records of all tensors, whose bytes must follow one another without gap or overlap."""
    records, spans = {}, []
    for name, entry in entries.items():
        try:
            shape = tuple(int(n) for n in entry["shape"])
            first, last = (int(n) for n in entry["data_offsets"])
            dtype = _DTYPES.get(entry["dtype"], str(entry["dtype"]))
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
