"""A folder of checkpoints: its files in training order, each with one state; no file stops the others."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from landscope.checkpoints.agreement import agreeing
from landscope.checkpoints.arrange import Listing, in_training_order
from landscope.checkpoints.entry import Entry, with_changes
from landscope.checkpoints.folder import checkpoint_files
from landscope.checkpoints.header import Header, read_header
from landscope.checkpoints.mappings import find_mappings, find_progress, find_uninitialised
from landscope.checkpoints.match import Matched, Reference, match
from landscope.checkpoints.names import plain_parametrisation, without_wrappers
from landscope.checkpoints.records import TensorRecord, TruncatedError, unreadable
from landscope.checkpoints.sniff import holds_no_weights, sniff
from landscope.contract.deltas import CheckpointInfo, RunListed
from landscope.contract.errors import CheckpointError
from landscope.contract.frames import escaped

if TYPE_CHECKING:
    from torch import Tensor

SETTLED_S = 10.0
"""A truncated file changed less than this many seconds ago is waited for; an older one is broken."""


def list_run(folder: str | Path, *, run: str = "", trusted: bool = False) -> RunListed:  # noqa: ARG001
    """A run's checkpoints in training order, from the files alone; torch is not needed.

    Args:
        folder: the run's folder. run: its name, the folder's own if empty.
        trusted: has no influence; nothing in the files is ever run.

    Raises:
        CheckpointError: the folder cannot be read.
    """
    return list_files(folder, run=run).listed


def list_files(folder: str | Path, *, run: str = "", reference: Reference | None = None) -> Listing:
    """As ``list_run``, keeping the weights' places; with a ``reference`` every file is fitted to the model.

    Without one, files whose parameters differ from those of most files are skipped: they cannot be compared.

    Raises:
        CheckpointError: the folder cannot be read.
    """
    root = Path(folder)
    entries = [_entry(root, path, reference) for path in checkpoint_files(root)]
    if reference is None:
        entries = agreeing(entries)
    return in_training_order(root, run or root.resolve().name, entries)


def load_state(folder: str | Path, checkpoint: str, *, trusted: bool = False) -> dict[str, Tensor]:  # noqa: ARG001
    """The weights of one file without a model: its most likely mapping, prefixes of wrappers removed.

    Buffers are included; ``names.looks_like_buffer`` tells them apart. Entries that share a storage share it.

    Raises:
        CheckpointError: the file cannot be used.
    """
    from landscope.checkpoints.read import load_tensors  # torch is only needed here

    root = Path(folder)
    entry = _entry(root, root / checkpoint, None)
    if entry.matched is None:
        raise CheckpointError(f"{checkpoint}: {entry.info.reason}")
    return load_tensors(entry.matched.tensors)


def _entry(root: Path, path: Path, reference: Reference | None) -> Entry:
    """Read a file's header; whatever is wrong with it becomes its reason."""
    name = path.relative_to(root).as_posix()
    info = CheckpointInfo(name=escaped(name), state="skipped", size=_size(path))
    if info.name != name:
        return Entry(with_changes(info, reason="its name is not UTF-8: rename it"))
    try:
        header = read_header(path, sniff(path))
        return _ready(info, header, path, reference)
    except TruncatedError as error:
        recent = _age_s(path) < SETTLED_S
        reason = _clause(error, path)
        return Entry(with_changes(info, state="waiting" if recent else "skipped", reason=reason))
    except CheckpointError as error:
        return Entry(with_changes(info, reason=_clause(error, path)))
    except OSError as error:
        return Entry(with_changes(info, reason=f"cannot be read ({error.strerror or error})"))


def _clause(error: CheckpointError, path: Path) -> str:
    return error.sentence.removeprefix(f"{path.name}: ")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")


def _ready(info: CheckpointInfo, header: Header, path: Path, reference: Reference | None) -> Entry:
    matched = _matched(header, path, reference)
    step, epoch = find_progress(header)
    if path.parent.name and "/" in info.name:
        step, epoch = _trainer_progress(path.parent, step, epoch)
    _check_readable(path, matched)
    notes = (*header.remarks, *matched.notes)
    return Entry(with_changes(info, state="ready", step=step, epoch=epoch, notes=notes), matched)


def _matched(header: Header, path: Path, reference: Reference | None) -> Matched:
    lazy = find_uninitialised(header)
    if lazy:
        raise CheckpointError(f"{path.name}: holds uninitialised (lazy) parameters, first {lazy}")
    candidates = find_mappings(header)
    reason = holds_no_weights(path.name)
    if not candidates:
        raise CheckpointError(f"{path.name}: {reason or _what_else(header)}")
    if reference is not None:
        try:
            return match(candidates, reference, path.name)
        except CheckpointError:
            if reason:
                raise CheckpointError(f"{path.name}: {reason}") from None
            raise
    if reason:
        raise CheckpointError(f"{path.name}: {reason}")
    chosen = candidates[0]
    bare, removed = without_wrappers(chosen.tensors)
    notes = tuple(f"removed prefix {prefix}" for prefix in removed)
    where = (f"weights taken from '{chosen.path}'",) if chosen.path else ()
    named = {plain_parametrisation(bare[name]): tensor for name, tensor in chosen.tensors.items()}
    return Matched(named, {}, (*where, *notes))


def _check_readable(path: Path, matched: Matched) -> None:
    for name, tensor in matched.tensors.items():
        problem = unreadable(tensor) if isinstance(tensor, TensorRecord) else ""
        if problem:
            raise CheckpointError(f"{path.name}: {name} {problem}")


def _what_else(header: Header) -> str:
    keys = {str(key) for key in header.tree} if isinstance(header.tree, Mapping) else set()
    if {"param_groups", "state"} <= keys:
        return "optimizer state only, no weights"
    if {"last_epoch", "_step_count"} & keys:
        return "scheduler state only, no weights"
    return "no weights found"


def _trainer_progress(folder: Path, step: int | None, epoch: int | None) -> tuple[int | None, int | None]:
    """Step of a Hugging Face folder from its ``trainer_state.json``."""
    try:
        stored = json.loads((folder / "trainer_state.json").read_text(encoding="utf-8"))
        return int(stored["global_step"]), epoch
    except (OSError, ValueError, KeyError, TypeError):
        return step, epoch
