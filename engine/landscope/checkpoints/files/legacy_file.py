"""Files before torch 1.6: four pickles, the list of storage keys, then the storages one after another."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from landscope.checkpoints.pickles.pickled import unpickled
from landscope.checkpoints.records import ITEM_SIZES, Storage, TruncatedError
from landscope.contract.errors import CheckpointError

_COUNT = 8


def read_legacy(path: Path) -> tuple[Any, tuple[str, ...]]:
    """What was saved, tensors as records, and the foreign names in it.

    Raises:
        TruncatedError: cut off. CheckpointError: damaged.
    """
    with path.open("rb") as file:
        for _ in ("magic number", "protocol"):
            unpickled(path, file)
        system, _unpickler = unpickled(path, file)
        big = isinstance(system, dict) and system.get("little_endian") is False
        begin = file.tell()
        _tree, first = unpickled(path, file)
        keys, _unpickler = unpickled(path, file)
        if not isinstance(keys, list) or not all(isinstance(key, (str, int)) for key in keys):
            raise CheckpointError(f"{path.name}: its list of storages is damaged")
        places = _storages(path, file, [str(key) for key in keys], first.storages, big)
        file.seek(begin)
        tree, second = unpickled(path, file, places.get)
    return tree, tuple(second.refused)


def _storages(
    path: Path, file: IO[bytes], keys: list[str], stated: dict[str, tuple[str, int]], big: bool
) -> dict[str, Storage]:
    places, end = {}, path.stat().st_size
    for key in keys:
        raw = file.read(_COUNT)
        count = int.from_bytes(raw, "big" if big else "little", signed=True)
        size = count * ITEM_SIZES[stated.get(key, ("uint8", 0))[0]]
        if len(raw) < _COUNT or count < 0 or file.tell() + size > end:
            raise TruncatedError(f"{path.name}: truncated: still being written?")
        places[key] = Storage(path, file.tell(), size, swapped=big)
        file.seek(size, 1)
    return places
