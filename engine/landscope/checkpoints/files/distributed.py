"""Folders of torch.distributed.checkpoint: ``.metadata`` says where in which file each tensor lies.

Torch itself unpickles ``.metadata`` without restriction, which runs what a stranger put there.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

from landscope.checkpoints.files.archive import read_open_archive
from landscope.checkpoints.pickles.foreign import Foreign
from landscope.checkpoints.pickles.pickled import unpickled
from landscope.checkpoints.pickles.rebuilt import without_data
from landscope.checkpoints.records import TensorRecord, TruncatedError
from landscope.checkpoints.wording import shown
from landscope.contract.errors import CheckpointError

_CONVERT = "convert it with torch.distributed.checkpoint.format_utils.dcp_to_torch_save"
_SMALL = 1 << 16


class _Window(io.RawIOBase):
    """A range of an open file as a file of its own."""

    def __init__(self, file: IO[bytes], begin: int, size: int) -> None:
        self._file, self._begin, self._size, self._at = file, begin, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, self._size)[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._begin + self._at)
        part = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def read_distributed(path: Path) -> tuple[Any, tuple[str, ...]]:
    """What was saved, tensors as records. Tensors saved in several pieces are named, not read.

    Args:
        path: the folder's ``.metadata``.

    Raises:
        TruncatedError: a file ends too early. CheckpointError: damaged, or not laid out as torch does.
    """
    with path.open("rb") as file:
        found, unpickler = unpickled(path, file)
    tensors = _attribute(found, "state_dict_metadata")
    places = _attribute(found, "storage_data")
    if not isinstance(tensors, dict) or not isinstance(places, dict):
        raise CheckpointError(f"{path.name}: not the metadata of a distributed checkpoint")
    where = _places(places)
    routes = _attribute(found, "planner_data")
    tree: dict[Any, Any] = {}
    files: dict[str, IO[bytes]] = {}
    try:
        for name, about in tensors.items():
            if isinstance(name, str):
                value = _value(path, about, where.get(name, []), files)
                _put(tree, routes.get(name) if isinstance(routes, dict) else None, name, value)
    finally:
        for opened in files.values():
            opened.close()
    expected = ("torch.distributed.", "torch.serialization.")
    return tree, tuple(name for name in unpickler.refused if not name.startswith(expected))


def _attribute(value: Any, name: str) -> Any:
    return value.state.get(name) if isinstance(value, Foreign) and isinstance(value.state, dict) else None


def _places(places: dict[Any, Any]) -> dict[str, list[Any]]:
    """Pieces by tensor name."""
    found: dict[str, list[Any]] = {}
    for index, place in places.items():
        name = _attribute(index, "fqn")
        if isinstance(name, str):
            found.setdefault(name, []).append(place)
    return found


def _value(path: Path, about: Any, pieces: list[Any], files: dict[str, IO[bytes]]) -> Any:
    shape = _attribute(about, "size")
    if not isinstance(shape, tuple):
        small = len(pieces) == 1 and _range(pieces[0])[1] <= _SMALL
        return _saved(path, pieces[0], files) if small else None
    if len(pieces) != 1:
        return without_data(f"is saved in {len(pieces)} pieces; {_CONVERT}", shape)
    tensor = _saved(path, pieces[0], files)
    if not isinstance(tensor, TensorRecord):
        return without_data(f"is saved in a way that is not known; {_CONVERT}", shape)
    return tensor if tensor.shape == shape else without_data(f"is one piece of {shape}; {_CONVERT}", shape)


def _range(place: Any) -> tuple[int, int]:
    first, size = _attribute(place, "offset"), _attribute(place, "length")
    known = type(first) is int and type(size) is int and first >= 0 and size > 0
    return (first, size) if known else (0, 0)


def _saved(path: Path, place: Any, files: dict[str, IO[bytes]]) -> Any:
    """One saved value: an archive of its own inside a ``.distcp`` file."""
    name = _attribute(place, "relative_path")
    if not isinstance(name, str) or Path(name).name != name or "\\" in name or name in ("", ".."):
        raise CheckpointError(
            f"{path.name}: names a file outside its own folder ({shown(repr(name))}); refused"
        )
    part = path.with_name(name)
    if name not in files:
        if not part.is_file():
            raise CheckpointError(f"{path.name}: its file {shown(name)!r} is missing")
        files[name] = part.open("rb")
    first, size = _range(place)
    if size == 0 or first + size > part.stat().st_size:
        raise TruncatedError(f"{path.name}: {shown(name)} is truncated: still being written?")
    window = io.BufferedReader(_Window(files[name], first, size))
    return read_open_archive(part, window, size, first)[0]


def _put(tree: dict[Any, Any], route: Any, name: str, value: Any) -> None:
    """Under the keys that lead to it in what was saved, which ``planner_data`` keeps."""
    keys = route if isinstance(route, tuple) and all(isinstance(k, (str, int)) for k in route) else (name,)
    for key in keys[:-1]:
        below = tree.setdefault(key, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[keys[-1] if keys else name] = value
