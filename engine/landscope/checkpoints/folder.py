"""Which files of a folder are checkpoints: single files, sharded ones, and one per numbered sub-folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from landscope.checkpoints.names import natural_key
from landscope.checkpoints.sniff import is_candidate, read_index
from landscope.contract.errors import CheckpointError

_FOLDER_FILES = (
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "model.safetensors",
    "pytorch_model.bin",
)


def checkpoint_files(root: Path) -> list[Path]:
    """Files that may be checkpoints, in natural order: the folder's own and one per ``checkpoint-N/``.

    Raises:
        CheckpointError: the folder cannot be read.
    """
    try:
        children = sorted(root.iterdir(), key=lambda p: natural_key(p.name))
    except OSError as error:
        raise CheckpointError(f"{root}: the folder cannot be read ({error.strerror or error})") from error
    files = [path for path in children if path.is_file() and is_candidate(path)]
    folders = [_folder_checkpoint(path) for path in children if path.is_dir() and _numbered(path)]
    shards = {shard for path in files if path.name.endswith(".index.json") for shard in _shards(path)}
    return [path for path in files if path.name not in shards] + [
        path for path in folders if path is not None
    ]


def _numbered(folder: Path) -> bool:
    return folder.name[-1:].isdigit() and not folder.name.startswith(".")


def _folder_checkpoint(folder: Path) -> Path | None:
    return next((folder / name for name in _FOLDER_FILES if (folder / name).is_file()), None)


def _shards(index: Path) -> Iterable[str]:
    try:
        return read_index(index).values()
    except (ValueError, OSError):
        return ()
