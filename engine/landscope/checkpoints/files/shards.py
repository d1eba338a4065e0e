"""Checkpoints in several files beside an index: every tensor once, in the shard that the index names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from landscope.checkpoints.files.sniff import read_index
from landscope.checkpoints.wording import counted, shown
from landscope.contract.errors import CheckpointError

if TYPE_CHECKING:
    from landscope.checkpoints.files.header import Header


def read_sharded(path: Path, read: Callable[[Path], Header]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The tensors of all shards as one mapping, and the foreign names in them.

    Args:
        path: the ``*.index.json``. read: reads one shard.

    Raises:
        CheckpointError: the index or a shard cannot be used.
    """
    try:
        shards = read_index(path)
    except ValueError as error:
        raise CheckpointError(f"{path.name}: {shown(str(error))}") from error
    named: dict[str, list[str]] = {}
    for name, shard in shards.items():
        named.setdefault(shard, []).append(name)
    tree: dict[str, Any] = {}
    refused: list[str] = []
    for shard, names in sorted(named.items()):
        header = read(_shard_path(path, shard))
        found = header.tree if isinstance(header.tree, dict) else {}
        twice = tree.keys() & found.keys()
        if twice:
            raise CheckpointError(f"{path.name}: {shown(min(map(str, twice)))} is in two shards; refused")
        tree.update(found)
        refused.extend(header.refused)
        _check_complete(path, shard, names, found)
    return tree, tuple(dict.fromkeys(refused))


def _check_complete(path: Path, shard: str, names: list[str], found: dict[str, Any]) -> None:
    missing = [name for name in names if name not in found]
    if missing:
        raise CheckpointError(
            f"{path.name}: the shard {shown(shard)!r} lacks {counted(len(missing), 'tensor')} of the index, "
            f"first {shown(missing[0])!r}: download it again"
        )


def _shard_path(index: Path, shard: str) -> Path:
    inside = Path(shard).name == shard == PureWindowsPath(shard).name and shard not in ("", ".", "..")
    if not inside or not shard.isprintable() or shard.endswith(".index.json"):
        raise CheckpointError(
            f"{index.name}: names a shard outside its own folder ({shown(shard)!r}); refused"
        )
    path = index.with_name(shard)
    if not path.is_file():
        raise CheckpointError(f"{index.name}: the shard {shown(shard)!r} is missing")
    return path
