"""One checkpoint file as plain facts, torch is not needed; runs in the guarded child."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Literal

from landscope.checkpoints.files.header import Header, read_header
from landscope.checkpoints.files.mappings import Candidate, find_mappings, find_uninitialised, why_no_mapping
from landscope.checkpoints.files.optimizer_states import find_optimizers, holds_optimizer
from landscope.checkpoints.files.progress import find_progress
from landscope.checkpoints.files.sniff import holds_no_weights, read_index, sniff
from landscope.checkpoints.files.trainer_state import TRAINER_STATE, TrainerState, read_trainer_state
from landscope.checkpoints.folder import FOLDER_FILES
from landscope.checkpoints.guarded.facts import FileFacts, Part, StorageRow
from landscope.checkpoints.guarded.packer import Packer
from landscope.checkpoints.records import Storage, TruncatedError
from landscope.contract.errors import CheckpointError

SETTLED_S = 10.0
"""A file changed less than this many seconds ago may still be being written."""
TOO_LARGE = "describing it needs more memory than the description of a file may take"
_LARGEST_STATE = 64 << 20
_BLOCK = 1 << 20


def describe(path: Path, *, check: int = 0) -> FileFacts:
    """What a file holds, or why it cannot be used; never raises for what the file contains.

    Args:
        path: the file. check: tensors of up to so many bytes in all are read once, to compare them with
            their checksums and to know those of files that state none.
    """
    return _readable(path, lambda own: _described(path, own, check))


def describe_optimizers(path: Path) -> FileFacts:
    """What the state of the optimizers in a file tells of their last step; as ``describe``."""
    return _readable(path, lambda own: _with_optimizers(path, own))


def _readable(path: Path, look: Callable[[Part], FileFacts]) -> FileFacts:
    try:
        return _told(path, look)
    except OSError as error:
        return FileFacts(state="skipped", reason=f"cannot be read ({error.strerror or error})")


def _told(path: Path, look: Callable[[Part], FileFacts]) -> FileFacts:
    before = Part.of(path)
    try:
        facts = look(before)
    except TruncatedError as error:
        recent = time.time() - path.stat().st_mtime < SETTLED_S
        facts = _refused(path, "waiting" if recent else "skipped", error.sentence)
    except CheckpointError as error:
        short = isinstance(error.__cause__, MemoryError)
        facts = _refused(path, "skipped", TOO_LARGE if short else error.sentence)
    return facts if Part.of(path) == before else _refused(path, "waiting", "still being written")


def _refused(path: Path, state: Literal["waiting", "skipped"], sentence: str) -> FileFacts:
    """A file that cannot be used. One with shards has no parts: what it lacks may come without its change."""
    shards = _shards(path)
    reason = sentence.removeprefix(f"{path.name}: ")
    return FileFacts(state=state, reason=reason, shards=shards, parts=() if shards else (Part.of(path),))


def _shards(path: Path) -> tuple[str, ...]:
    """Files that an index names; none if it cannot be read, which ``read_header`` tells."""
    if not path.name.endswith(".index.json"):
        return ()
    try:
        return tuple(sorted(set(read_index(path).values())))
    except ValueError:
        return ()


def _described(path: Path, own: Part, check: int) -> FileFacts:
    sniffed = sniff(path)
    if sniffed.kind == "ignored":
        return FileFacts(state="skipped", kind=sniffed.kind, reason="not a checkpoint")
    header = read_header(path, sniffed)
    candidates = _candidates(header)
    step, epoch = find_progress(header)
    packer = Packer()
    sets = packer.packed(candidates)
    state = _trainer_state(path)
    told = read_trainer_state(state) if state else TrainerState()
    files = _files(path, own, packer.storages)
    small = sum(storage.size for storage in packer.storages) <= check
    storages = list(_checked(packer.storages)) if small else packer.storages
    return FileFacts(
        state="ready",
        kind=header.kind,
        step=step if told.step is None else told.step,
        epoch=epoch,
        remarks=(*header.remarks, *told.notes),
        shards=_shards(path),
        parts=(*files.values(), *([Part.of(state)] if state else [])),
        storages=_rows(files, storages),
        sets=sets,
        holds_optimizer=holds_optimizer(header.tree),
    )


def _with_optimizers(path: Path, own: Part) -> FileFacts:
    header = read_header(path)
    packer = Packer()
    optimizers = packer.packed_optimizers(find_optimizers(header.tree))
    files = _files(path, own, packer.storages)
    return FileFacts(
        state="ready",
        kind=header.kind,
        parts=tuple(files.values()),
        storages=_rows(files, packer.storages),
        optimizers=optimizers,
    )


def _files(path: Path, own: Part, storages: list[Storage]) -> dict[Path, Part]:
    """The file itself and those that the storages lie in."""
    files = {path: own}
    for storage in storages:
        if storage.file not in files:
            files[storage.file] = Part.of(storage.file)
    return files


def _rows(files: dict[Path, Part], storages: list[Storage]) -> list[StorageRow]:
    order = {file: index for index, file in enumerate(files)}
    return [(order[s.file], s.offset, s.size, s.crc, s.swapped) for s in storages]


def _candidates(header: Header) -> tuple[Candidate, ...]:
    lazy = find_uninitialised(header)
    if lazy:
        raise CheckpointError(f"holds uninitialised (lazy) parameters, first {lazy}")
    found = find_mappings(header)
    if not found:
        raise CheckpointError(holds_no_weights(header.path.name) or why_no_mapping(header))
    return found


def _trainer_state(path: Path) -> Path | None:
    """The ``trainer_state.json`` beside the weights of a Hugging Face folder."""
    state = path.with_name(TRAINER_STATE)
    if path.name in FOLDER_FILES and state.is_file() and state.stat().st_size <= _LARGEST_STATE:
        return state
    return None


def _checked(storages: list[Storage]) -> Iterator[Storage]:
    """The storages with the checksums of their bytes.

    Raises:
        CheckpointError: a checksum is not the one that the file states. TruncatedError: bytes are missing.
    """
    files: dict[Path, BinaryIO] = {}
    try:
        for storage in storages:
            if storage.file not in files:
                files[storage.file] = storage.file.open("rb")
            crc = _crc(files[storage.file], storage)
            if storage.crc is not None and crc != storage.crc:
                raise CheckpointError("its bytes do not match their checksum; the file is damaged")
            yield storage if storage.crc is not None else replace(storage, crc=crc)
    finally:
        for file in files.values():
            file.close()


def _crc(file: BinaryIO, storage: Storage) -> int:
    file.seek(storage.offset)
    crc, left = 0, storage.size
    while left:
        block = file.read(min(left, _BLOCK))
        if not block:
            raise TruncatedError("truncated: still being written?")
        crc = zlib.crc32(block, crc)
        left -= len(block)
    return crc
