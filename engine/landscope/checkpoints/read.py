"""Reading the numbers of a checkpoint: one copy in memory, on the CPU, nothing from the file is ever run."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from torch import Tensor

from landscope.checkpoints.header import Header, read_header
from landscope.checkpoints.mappings import Candidate, Weights, find_mappings, find_progress
from landscope.checkpoints.records import ITEM_SIZES, Quantised, Storage, TensorRecord, unreadable
from landscope.contract.errors import CheckpointError

_BLOCK = 1 << 24


@dataclass(frozen=True)
class CheckpointContent:
    """What a file holds; numbers stay on disk until ``load_tensors``.

    Attributes:
        header: the description of the file.
        candidates: mappings that may be weights, the most likely first.
        step, epoch: as stored, None = the file does not say.
        notes: clauses for the person.
    """

    header: Header
    candidates: tuple[Candidate, ...]
    step: int | None
    epoch: int | None
    notes: tuple[str, ...]


def read_tensors(path: Path, *, trusted: bool = False) -> CheckpointContent:  # noqa: ARG001
    """Describe a checkpoint file and its mappings of tensors.

    Args:
        path: the file.
        trusted: has no influence on these formats, none of which needs code to be read.

    Raises:
        CheckpointError: the file cannot be read; one sentence.
    """
    header = read_header(path)
    step, epoch = find_progress(header)
    return CheckpointContent(header, find_mappings(header), step, epoch, header.remarks)


def load_tensors(tensors: Mapping[str, Weights]) -> dict[str, Tensor]:
    """Read tensors from their files into CPU memory; entries that share a storage keep sharing it.

    Raises:
        CheckpointError: a tensor cannot be read, or its bytes do not have the checksum that the file states.
    """
    storages: dict[tuple[Path, int, int], Tensor] = {}
    files: dict[Path, BinaryIO] = {}
    try:
        return {name: _load(name, value, storages, files) for name, value in tensors.items()}
    except OSError as error:
        raise CheckpointError(f"A checkpoint file cannot be read ({error.strerror or error})") from error
    finally:
        for file in files.values():
            file.close()


def _load(
    name: str, value: Weights, storages: dict[tuple[Path, int, int], Tensor], files: dict[Path, BinaryIO]
) -> Tensor:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value, dtype=value.dtype.newbyteorder("=")))
    problem = unreadable(value)
    if problem or value.storage is None:
        where = value.storage.file.name if value.storage else "The file"
        raise CheckpointError(f"{where}: {name} {problem}")
    place = value.storage
    key = (place.file, place.offset, place.size)
    if key not in storages:
        file = (
            files.setdefault(place.file, place.file.open("rb"))
            if place.file not in files
            else files[place.file]
        )
        storages[key] = _read_storage(file, place, ITEM_SIZES[value.dtype])
    tensor = _view(value, storages[key])
    if value.quantised is None:
        return tensor
    return _dequantised(tensor, value.quantised, lambda record: _load(name, record, storages, files))


def _dequantised(integers: Tensor, how: Quantised, load: Callable[[TensorRecord], Tensor]) -> Tensor:
    """The numbers that integers stand for, as float32."""
    shape = [-1 if axis == how.axis else 1 for axis in range(integers.dim())]
    zero, scale = (
        load(value).float().reshape(shape) if isinstance(value, TensorRecord) else value
        for value in (how.zero, how.scale)
    )
    return (integers.float() - zero) * scale


def _read_storage(file: BinaryIO, place: Storage, item: int) -> Tensor:
    """All bytes of a storage, checked against its CRC (torch never does: a flipped bit loads silently)."""
    raw = torch.empty(place.size, dtype=torch.uint8)
    into = memoryview(raw.numpy())  # type: ignore[arg-type]
    file.seek(place.offset)
    crc = 0
    for begin in range(0, place.size, _BLOCK):
        part = into[begin : begin + _BLOCK]
        if file.readinto(part) != len(part):  # type: ignore[attr-defined]
            raise CheckpointError(f"{place.file.name}: truncated: still being written?")
        crc = zlib.crc32(part, crc)
    if place.crc is not None and crc != place.crc:
        raise CheckpointError(
            f"{place.file.name}: its bytes do not match their checksum; the file is damaged"
        )
    if place.swapped and item > 1:
        swapped = raw.numpy().reshape(-1, item)[:, ::-1].copy()
        raw = torch.from_numpy(swapped.reshape(-1))
    return raw


def _view(record: TensorRecord, raw: Tensor) -> Tensor:
    dtype: torch.dtype = getattr(torch, record.dtype)
    item = ITEM_SIZES[record.dtype]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # complex32 is said to be experimental
        typed = raw[: raw.numel() // item * item].view(dtype)
        view = (
            typed.as_strided(record.shape, record.stride, record.start)
            if record.elements
            else typed.new_empty(record.shape)
        )
    wasteful = raw.numel() > 2 * record.elements * item + 1024
    return view.clone() if wasteful else view
