"""Checkpoints in several files beside an index: every tensor once, in the shard that the index names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from landscope.checkpoints.sniff import read_index
from landscope.checkpoints.wording import shown
from landscope.contract.errors import CheckpointError

if TYPE_CHECKING:
    from landscope.checkpoints.header import Header


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
    tree: dict[str, Any] = {}
    refused: list[str] = []
    for shard in sorted(set(shards.values())):
        header = read(_shard_path(path, shard))
        found = header.tree if isinstance(header.tree, dict) else {}
        twice = tree.keys() & found.keys()
        if twice:
            raise CheckpointError(f"{path.name}: {shown(min(map(str, twice)))} is in two shards; refused")
        tree.update(found)
        refused.extend(header.refused)
        _check_complete(path, shard, shards, found)
    return tree, tuple(dict.fromkeys(refused))


def _check_complete(path: Path, shard: str, shards: dict[str, str], found: dict[str, Any]) -> None:
    missing = [name for name, place in shards.items() if place == shard and name not in found]
    if missing:
        what = f"{len(missing)} tensors are not in their shard {shown(shard)!r}, first {shown(missing[0])!r}"
        raise CheckpointError(f"{path.name}: {what}")


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
