"""Which files of a folder may be checkpoints: the folder's own, and one per sub-folder named like one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from landscope.checkpoints.file_names import epoch_in, is_initial, is_special, natural_key, step_in
from landscope.checkpoints.files.formats import USUAL_SUFFIXES
from landscope.checkpoints.files.sniff import DISTRIBUTED, holds_no_weights, is_candidate
from landscope.contract.errors import CheckpointError

FOLDER_FILES = (
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "model.safetensors",
    "pytorch_model.bin",
    DISTRIBUTED,
    "adapter_model.safetensors",
    "adapter_model.bin",
)
_MODEL = re.compile(r"(model|pytorch_model|diffusion_pytorch_model|weights|checkpoint|mp_rank_00)(?![a-z])")
_INNER = ("pytorch_model", "pytorch_model_fsdp_0", "mp_rank_00", "model", "unwrapped_model")


def checkpoint_files(root: Path) -> list[Path]:
    """Files that may be checkpoints, in natural order: the folder's own and one per ``checkpoint-N/``.

    No file is opened. Shards are among them: which file is one is told by its index.

    Raises:
        CheckpointError: the folder cannot be read.
    """
    try:
        with os.scandir(root) as found:
            children = [child for child in found if _is_candidate(child)]
    except OSError as error:
        raise CheckpointError(f"{root}: the folder cannot be read ({error.strerror or error})") from error
    children.sort(key=lambda child: natural_key(child.name))
    files = [root / child.name for child in children if not certainly(child.is_dir)]
    folders = [_folder_checkpoint(root / child.name) for child in children if certainly(child.is_dir)]
    return files + [path for path in folders if path is not None]


def _is_candidate(child: os.DirEntry[str]) -> bool:
    if certainly(child.is_dir):
        return _like_one(child.name)
    return is_candidate(Path(child.path)) and _is_file_or_lost(child)


def _is_file_or_lost(child: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link with a usual name that leads nowhere: that is worth telling."""
    if certainly(child.is_file) or not child.is_symlink():
        return certainly(child.is_file)
    return child.name.lower().endswith(USUAL_SUFFIXES) and not certainly(Path(child.path).exists)


def certainly(what: Callable[[], bool]) -> bool:
    """Whether it is so; not where that cannot be told: a loop of links, a folder that must not be entered."""
    try:
        return what()
    except OSError:
        return False


def _like_one(folder: str) -> bool:
    """Whether a folder's name says that it is one checkpoint of several: a number, or such as ``best``."""
    return not folder.startswith(".") and (folder[-1:].isdigit() or is_special(folder) or is_initial(folder))


def _folder_checkpoint(folder: Path, inner: tuple[str, ...] = _INNER) -> Path | None:
    """The file with a folder's weights: of a known name, or the only one if the folder says how far it is."""
    if _says_progress(folder.name) and not os.access(folder, os.R_OK | os.X_OK):
        return folder  # that it cannot be read is told as of a file
    known = next((folder / name for name in FOLDER_FILES if certainly((folder / name).is_file)), None)
    if known is not None or not (_says_progress(folder.name) or not inner):
        return known
    found = [p for p in _children(folder) if p.suffix and is_candidate(p) and not holds_no_weights(p.name)]
    files = [path for path in found if certainly(path.is_file)]
    models = files if len(files) == 1 else [path for path in files if _MODEL.match(path.name.lower())]
    if len(models) == 1:
        return models[0]
    below = (folder / name for name in inner if certainly((folder / name).is_dir))
    return next((path for one in below if (path := _folder_checkpoint(one, ()))), None)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _says_progress(folder: str) -> bool:
    counted = folder.isdigit() or step_in(folder) is not None or epoch_in(folder) is not None
    return counted or is_special(folder) or is_initial(folder)
