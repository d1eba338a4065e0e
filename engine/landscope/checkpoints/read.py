"""Reading the numbers of a checkpoint: one copy in memory, on the CPU, nothing from the file is ever run."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from landscope.checkpoints.files.mappings import Weights
from landscope.checkpoints.guarded.facts import Part
from landscope.checkpoints.pickles.unpickle import DtypeName
from landscope.checkpoints.records import ITEM_SIZES, Quantised, Storage, TensorRecord, unreadable
from landscope.contract.errors import CheckpointError

_BLOCK = 1 << 24


def load_tensors(tensors: Mapping[str, Weights], parts: Iterable[Part] = ()) -> dict[str, Tensor]:
    """Read tensors from their files into CPU memory; entries that share a storage keep sharing it.

    Args:
        tensors: names to places. parts: the files as they were when the places were found.

    Raises:
        CheckpointError: a tensor cannot be read, its bytes do not have the checksum that the file states, or
            a file has changed.
    """
    with _Files(parts) as files:
        storages: dict[Storage, Tensor] = {}
        return {name: _load(name, value, storages, files) for name, value in tensors.items()}


def stream_tensors(
    tensors: Mapping[str, Weights], parts: Iterable[Part] = ()
) -> Iterator[tuple[str, Tensor]]:
    """As ``load_tensors``, one after the other in the order of the files, each storage in memory only once.

    A tensor shares its memory with others of its storage; whoever keeps it keeps all of that.

    Raises:
        CheckpointError: as ``load_tensors``; tensors given before may have been of a damaged file (see
            ``check_bytes``).
    """
    groups: dict[Storage | None, list[str]] = {}
    for name, value in tensors.items():
        groups.setdefault(value.storage if isinstance(value, TensorRecord) else None, []).append(name)
    with _Files(parts) as files:
        for place in sorted(groups, key=_in_file_order):
            storages: dict[Storage, Tensor] = {}
            for name in groups[place]:
                yield name, _load(name, tensors[name], storages, files)


def _in_file_order(place: Storage | None) -> tuple[str, int]:
    return (str(place.file), place.offset) if place else ("", 0)


class StoredTensors(Sequence[Tensor]):
    """Tensors of a checkpoint, each read whenever it is asked for.

    Args:
        tensors: their places. parts: the files as they were when the places were found.
    """

    def __init__(self, tensors: Sequence[Weights], parts: tuple[Part, ...] = ()) -> None:
        self._tensors, self._parts = tensors, parts

    def __len__(self) -> int:
        return len(self._tensors)

    def __getitem__(self, index: Any) -> Any:
        with _Files(self._parts) as files:
            return _load(f"tensor {index}", self._tensors[index], {}, files)


def check_bytes(tensors: Mapping[str, Weights], parts: Iterable[Part] = ()) -> None:
    """Read everything once in blocks, to know that it can be read and is what the checksums say.

    Raises:
        CheckpointError: as ``load_tensors``.
    """
    places = {v.storage for v in tensors.values() if isinstance(v, TensorRecord) and v.storage is not None}
    block = memoryview(bytearray(_BLOCK))
    with _Files(parts) as files:
        for place in sorted(places, key=_in_file_order):
            if place.crc is not None:
                _read_into(files.of(place.file), place, lambda _begin, size: block[:size])


def load_value(value: Any, parts: Iterable[Part] = ()) -> Any:
    """Extra state with its tensors read, on the CPU.

    Raises:
        CheckpointError: as ``load_tensors``.
    """
    with _Files(parts) as files:
        return _loaded(value, {}, files)


def _loaded(value: Any, storages: dict[Storage, Tensor], files: _Files) -> Any:
    if isinstance(value, TensorRecord):
        return _load("extra state", value, storages, files)
    if isinstance(value, DtypeName):
        return getattr(torch, value, value)
    if isinstance(value, dict):
        return {key: _loaded(one, storages, files) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_loaded(one, storages, files) for one in value)
    return value


class _Files:
    """The files of one reading, opened when first needed and closed together.

    Args:
        parts: the files as they were described; they must still be so.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = {part.file: part for part in parts}
        self._open: dict[Path, BinaryIO] = {}

    def __enter__(self) -> _Files:
        for part in self._parts.values():
            _check(part, Part.of)
        return self

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        for file in self._open.values():
            file.close()
        if isinstance(error, OSError):
            sentence = f"A checkpoint file cannot be read ({error.strerror or error})"
            raise CheckpointError(sentence) from error

    def of(self, path: Path) -> BinaryIO:
        """An open file."""
        if path not in self._open:
            file = self._open[path] = open(path, "rb", buffering=0, opener=_opened)  # noqa: SIM115
            if path in self._parts:
                _check(self._parts[path], lambda path: Part.opened(path, os.fstat(file.fileno())))
        return self._open[path]


def _opened(path: str, flags: int) -> int:
    """A file without waiting, whatever took its place meanwhile (a pipe would wait for a writer)."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check(part: Part, look: Callable[[Path], Part]) -> None:
    """Make sure that a file is as it was when it was described.

    Raises:
        CheckpointError: it has changed or is gone.
    """
    try:
        now = look(part.file)
    except OSError as error:
        raise CheckpointError(f"{part.file.name}: cannot be read ({error.strerror or error})") from error
    if now != part:
        raise CheckpointError(f"{part.file.name}: has changed since it was listed: list the run again")


def _load(name: str, value: Weights, storages: dict[Storage, Tensor], files: _Files) -> Tensor:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value, dtype=value.dtype.newbyteorder("=")))
    problem = unreadable(value)
    if problem or value.storage is None:
        where = value.storage.file.name if value.storage else "The file"
        raise CheckpointError(f"{where}: {name} {problem}")
    place = value.storage
    if place not in storages:
        item = ITEM_SIZES[value.dtype] // (2 if value.dtype.startswith("complex") else 1)
        storages[place] = _read_storage(files.of(place.file), place, item)
    tensor = _view(value, storages[place])
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
    _read_into(file, place, lambda begin, size: into[begin : begin + size])
    if place.swapped and item > 1:
        swapped = raw.numpy()[: place.size // item * item].reshape(-1, item)[:, ::-1].copy()
        raw = torch.from_numpy(swapped.reshape(-1))
    return raw


def _read_into(file: BinaryIO, place: Storage, target: Callable[[int, int], memoryview]) -> None:
    """Read a storage in blocks, each where ``target(begin, size)`` says; check its CRC."""
    file.seek(place.offset)
    crc = 0
    for begin in range(0, place.size, _BLOCK):
        part = target(begin, min(_BLOCK, place.size - begin))
        _fill(file, part, place)
        crc = zlib.crc32(part, crc)
    if place.crc is not None and crc != place.crc:
        raise CheckpointError(
            f"{place.file.name}: its bytes do not match their checksum; the file is damaged"
        )


def _fill(file: BinaryIO, part: memoryview, place: Storage) -> None:
    while part:
        count = file.readinto(part)  # type: ignore[attr-defined]
        if not count:
            raise CheckpointError(f"{place.file.name}: truncated: still being written?")
        part = part[count:]


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
