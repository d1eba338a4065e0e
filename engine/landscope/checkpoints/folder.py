"""Which files of a folder may be checkpoints: the folder's own, and one per sub-folder named like one."""

from __future__ import annotations

import os
from pathlib import Path

from landscope.checkpoints.file_names import is_initial, is_special, natural_key
from landscope.checkpoints.sniff import DISTRIBUTED, is_candidate
from landscope.contract.errors import CheckpointError

FOLDER_FILES = (
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "model.safetensors",
    "pytorch_model.bin",
    DISTRIBUTED,
)


def checkpoint_files(root: Path) -> list[Path]:
    """Files that may be checkpoints, in natural order: the folder's own and one per ``checkpoint-N/``.

    No file is opened. Shards are among them: which file is one is told by its index.

    Raises:
        CheckpointError: the folder cannot be read.
    """
    try:
        with os.scandir(root) as found:
            children = sorted(found, key=lambda child: natural_key(child.name))
    except OSError as error:
        raise CheckpointError(f"{root}: the folder cannot be read ({error.strerror or error})") from error
    paths = [(child, root / child.name) for child in children]
    files = [path for child, path in paths if is_candidate(path) and child.is_file()]
    folders = [_folder_checkpoint(path) for child, path in paths if _like_one(child.name) and child.is_dir()]
    return files + [path for path in folders if path is not None]


def _like_one(folder: str) -> bool:
    """Whether a folder's name says that it is one checkpoint of several: a number, or such as ``best``."""
    return not folder.startswith(".") and (folder[-1:].isdigit() or is_special(folder) or is_initial(folder))


def _folder_checkpoint(folder: Path) -> Path | None:
    return next((folder / name for name in FOLDER_FILES if (folder / name).is_file()), None)
