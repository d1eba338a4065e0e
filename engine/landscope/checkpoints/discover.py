"""A folder of checkpoints: its files in training order, each with one state; no file stops the others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from landscope.checkpoints.agreement import agreeing
from landscope.checkpoints.arrange import Listing, in_training_order
from landscope.checkpoints.entry import Entry, with_changes
from landscope.checkpoints.folder import checkpoint_files
from landscope.checkpoints.guarded.facts import FileFacts
from landscope.checkpoints.guarded.guard import describe_file, describe_files
from landscope.checkpoints.matching.fitting import Fitting
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.wording import clause
from landscope.contract.deltas import CheckpointInfo, RunListed
from landscope.contract.errors import CheckpointError
from landscope.contract.frames import escaped
from landscope.contract.job import CancelToken

if TYPE_CHECKING:
    from torch import Tensor

_FIRST_S = 0.25
"""After this long the part of a list that is known is told."""
_GROWTH = 4
"""Then again whenever it has grown so many times: telling costs time, too."""


def list_run(folder: str | Path, *, run: str = "", wanted: str = "") -> RunListed:
    """A run's checkpoints in training order, from the files alone; torch is not needed.

    Args:
        folder: the run's folder. run: its name, the folder's own if empty.
        wanted: the set of weights to use where files hold several (see ``match``).

    Raises:
        CheckpointError: the folder cannot be read.
    """
    return list_files(folder, run=run, wanted=wanted).listed


def list_files(
    folder: str | Path,
    *,
    run: str = "",
    reference: Reference | None = None,
    wanted: str = "",
    token: CancelToken | None = None,
) -> Listing:
    """As ``list_run``, keeping the weights' places; with a ``reference`` every file is fitted to the model.

    Without one, files whose parameters differ from those of most files are skipped: they cannot be compared.

    Raises:
        CheckpointError: the folder cannot be read. JobCancelled: somebody cancelled.
    """
    root = Path(folder)
    entries = list(_entries(root, Fitting(reference, wanted), token))
    return _listing(root, run, agreeing(entries) if reference is None else entries)


def list_growing(
    folder: str | Path, *, run: str = "", wanted: str = "", token: CancelToken | None = None
) -> Iterator[RunListed]:
    """As ``list_run``: first, if it takes longer, what is known so far, at last everything.

    Raises:
        CheckpointError: the folder cannot be read. JobCancelled: somebody cancelled.
    """
    root = Path(folder)
    due, entries = time.monotonic() + _FIRST_S, list[Entry]()
    told = 1
    for entry in _entries(root, Fitting(None, wanted), token):
        entries.append(entry)
        if len(entries) >= _GROWTH * told and time.monotonic() > due:
            told = len(entries)
            yield _so_far(_listing(root, run, entries))
    yield _listing(root, run, agreeing(entries)).listed


def list_file(path: str | Path, *, wanted: str = "") -> RunListed:
    """One file alone, whatever lies beside it; torch is not needed.

    Args:
        path: the file. wanted: as in ``list_run``.
    """
    file = Path(path).absolute()
    entry = _entry(file.parent, file, describe_file(file), Fitting(None, wanted))
    return in_training_order(file.parent, file.parent.name, [entry]).listed


def load_state(folder: str | Path, checkpoint: str, *, wanted: str = "") -> dict[str, Tensor]:
    """The weights of one file without a model: its most likely mapping, prefixes of wrappers removed.

    Buffers are included; ``names.looks_like_buffer`` tells them apart. Entries that share a storage share it.

    Raises:
        CheckpointError: the file cannot be used.
    """
    from landscope.checkpoints.read import load_tensors  # torch is only needed here

    root = Path(folder)
    path = root / checkpoint
    entry = _entry(root, path, describe_file(path), Fitting(None, wanted))
    if entry.matched is None:
        raise CheckpointError(f"{checkpoint}: {entry.info.reason}")
    return load_tensors(entry.matched.tensors, entry.parts)


def _listing(root: Path, run: str, entries: list[Entry]) -> Listing:
    return in_training_order(root, run or root.resolve().name, entries)


def _so_far(listing: Listing) -> RunListed:
    """A list without verdicts that the files still to come may change."""
    sure = (info for info in listing.listed.others if listing.entries[info.name].matched is None)
    return msgspec.structs.replace(listing.listed, others=tuple(sure))


def _entries(root: Path, fitting: Fitting, token: CancelToken | None) -> Iterator[Entry]:
    """The files of a folder, indexes first: the shards that they name are no checkpoints of their own."""
    paths = checkpoint_files(root)
    indexes = [path for path in paths if path.name.endswith(".index.json")]
    shards: set[Path] = set()
    for path, facts in zip(indexes, describe_files(indexes, token), strict=True):
        shards |= {path.parent / name for name in facts.shards}
        yield _entry(root, path, facts, fitting)
    known = shards | set(indexes)
    others = [path for path in paths if path not in known] if known else paths
    for path, facts in zip(others, describe_files(others, token), strict=True):
        if facts.kind != "ignored":
            yield _entry(root, path, facts, fitting)


def _entry(root: Path, path: Path, facts: FileFacts, fitting: Fitting) -> Entry:
    """Choose a file's weights; whatever is wrong with it becomes its reason."""
    name = path.relative_to(root).as_posix()
    size = sum(part.size for part in facts.parts if not part.path.endswith(b".json")) or _size(path)
    info = CheckpointInfo(name=escaped(name), state="skipped", size=size)
    if info.name != name:
        return Entry(with_changes(info, reason="its name is not UTF-8: rename it"))
    if facts.state != "ready":
        return Entry(with_changes(info, state=facts.state, reason=clause(facts.reason)))
    try:
        matched = fitting.matched(facts, path.name)
    except CheckpointError as error:
        return Entry(with_changes(info, reason=clause(error.sentence)))
    info = with_changes(
        info,
        state="ready",
        step=facts.step,
        epoch=facts.epoch,
        notes=tuple(map(clause, (*facts.remarks, *matched.notes))),
        sets=matched.sets,
    )
    return Entry(info, matched, facts.parts, facts.kind, facts.holds_optimizer)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
