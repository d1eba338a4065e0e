"""A folder of checkpoints: its files in training order, each with one state; no file stops the others."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscope.checkpoints.header import Header, TruncatedError, read_header
from landscope.checkpoints.identity import Fingerprint, fingerprint
from landscope.checkpoints.mappings import (
    Weights,
    find_mappings,
    find_progress,
    find_uninitialised,
)
from landscope.checkpoints.match import Matched, Reference, match
from landscope.checkpoints.names import (
    is_special,
    looks_like_buffer,
    natural_key,
    plain_weight_norm,
    without_wrappers,
)
from landscope.checkpoints.order import Placed, in_order
from landscope.checkpoints.records import TensorRecord
from landscope.checkpoints.sniff import holds_no_weights, is_candidate, read_index, sniff
from landscope.contract.deltas import CheckpointInfo, RunListed
from landscope.contract.errors import CheckpointError

if TYPE_CHECKING:
    from torch import Tensor

SETTLED_S = 10.0
"""A truncated file changed less than this many seconds ago is waited for; an older one is broken."""
_FOLDER_FILES = (
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "model.safetensors",
    "pytorch_model.bin",
)


@dataclass(frozen=True)
class Entry:
    """A file of a run: what is told about it and, when it is ready, its weights."""

    info: CheckpointInfo
    matched: Matched | None = None


@dataclass(frozen=True)
class Listing:
    """A run's folder as read: the list for people, and the weights behind every ready name (aliases too)."""

    listed: RunListed
    entries: Mapping[str, Entry]


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
        entries = _agreeing(entries)
    return _in_training_order(root, run or root.resolve().name, entries)


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


def _entry(root: Path, path: Path, reference: Reference | None) -> Entry:
    """Read a file's header; whatever is wrong with it becomes its reason."""
    name = path.relative_to(root).as_posix()
    info = CheckpointInfo(name=name, state="skipped", size=_size(path))
    try:
        header = read_header(path, sniff(path))
        return _ready(info, header, path, reference)
    except TruncatedError as error:
        recent = _age_s(path) < SETTLED_S
        reason = _clause(error, path)
        return Entry(_with(info, state="waiting" if recent else "skipped", reason=reason))
    except CheckpointError as error:
        return Entry(_with(info, reason=_clause(error, path)))
    except OSError as error:
        return Entry(_with(info, reason=f"cannot be read ({error.strerror or error})"))


def _with(info: CheckpointInfo, **changes: Any) -> CheckpointInfo:
    import msgspec

    return msgspec.structs.replace(info, **changes)


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
    notes = (*_file_notes(header), *matched.notes)
    return Entry(_with(info, state="ready", step=step, epoch=epoch, notes=notes), matched)


def _file_notes(header: Header) -> tuple[str, ...]:
    if not header.refused:
        return header.notes
    shown = ", ".join(header.refused[:3]) + (" and more" if len(header.refused) > 3 else "")
    return (*header.notes, f"left alone, not needed for the weights: {shown}")


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
    named = {plain_weight_norm(bare[name]): tensor for name, tensor in chosen.tensors.items()}
    return Matched(named, {}, (*where, *notes))


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


def is_buffer(name: str, tensor: Weights) -> bool:
    """Whether an entry of a file is a buffer, as far as that can be told without the model."""
    integer = tensor.is_integer if isinstance(tensor, TensorRecord) else tensor.dtype.kind in "biu"
    return looks_like_buffer(name, integer)


def _agreeing(entries: list[Entry]) -> list[Entry]:
    """Skip files whose parameters have other names or shapes than those of most files."""
    shapes = [_signature(entry.matched.tensors) if entry.matched else None for entry in entries]
    known = Counter(s for s in shapes if s is not None)
    if len(known) < 2:
        return entries
    common = dict(known.most_common(1)[0][0])
    return [
        _compared(e, dict(s), common) if s is not None else e for e, s in zip(entries, shapes, strict=True)
    ]


def _signature(tensors: Mapping[str, Weights]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple(sorted((n, tuple(t.shape)) for n, t in tensors.items() if not is_buffer(n, t)))


def _compared(
    entry: Entry, own: Mapping[str, tuple[int, ...]], common: Mapping[str, tuple[int, ...]]
) -> Entry:
    for name, shape in own.items():
        if name in common and common[name] != shape:
            reason = f"{name} has shape {shape}, in most files of this run {common[name]}"
            return Entry(_with(entry.info, state="skipped", reason=reason))
    odd = sorted((set(own) ^ set(common)) - _twins(entry))
    if not odd:
        return entry
    where = "only here" if odd[0] in own else "missing here"
    reason = f"its parameters differ from those of most files of this run: {odd[0]} is {where}"
    return Entry(_with(entry.info, state="skipped", reason=reason))


def _twins(entry: Entry) -> set[str]:
    """Names that stand for the same bytes as another name of the file: tied parameters."""
    places: dict[tuple[Any, ...], list[str]] = {}
    for name, tensor in (entry.matched.tensors if entry.matched else {}).items():
        if isinstance(tensor, TensorRecord):
            places.setdefault((tensor.storage, tensor.start, tensor.shape), []).append(name)
    return {name for names in places.values() if len(names) > 1 for name in names}


def _in_training_order(root: Path, run: str, entries: list[Entry]) -> Listing:
    by_name = {entry.info.name: entry for entry in entries}
    ready = [entry for entry in entries if entry.matched is not None]
    prints = {e.info.name: fingerprint(e.matched.tensors) for e in ready if e.matched is not None}
    aliases = _aliases(prints)
    files = [Placed(e.info.name, e.info.step, e.info.epoch) for e in ready if e.info.name not in aliases]
    placed, lost = in_order(files)
    infos = [_finished(by_name[file.name].info, file, aliases) for file in placed]
    infos = _say_identical(infos, prints)
    for info in infos:
        by_name[info.name] = replace(by_name[info.name], info=info)
    others = [e.info for e in entries if e.matched is None]
    reason = "its place in training is unknown: no step is stored in it"
    others += [_with(by_name[file.name].info, state="skipped", reason=reason) for file in lost]
    listed = RunListed(run=run, folder=str(root), checkpoints=tuple(infos), others=tuple(others))
    return Listing(listed, by_name)


def _aliases(prints: Mapping[str, Fingerprint | None]) -> dict[str, str]:
    """``best.pt`` and its like to the ordinary file with the same weights."""
    ordinary = {
        p: name for name, p in reversed(list(prints.items())) if p is not None and not is_special(name)
    }
    return {n: ordinary[p] for n, p in prints.items() if is_special(n) and p is not None and p in ordinary}


def _finished(info: CheckpointInfo, place: Placed, aliases: Mapping[str, str]) -> CheckpointInfo:
    own = tuple(alias for alias, target in aliases.items() if target == info.name)
    return _with(info, step=place.step, epoch=place.epoch, aliases=own)


def _say_identical(
    infos: list[CheckpointInfo], prints: Mapping[str, Fingerprint | None]
) -> list[CheckpointInfo]:
    """A note at every file that holds the same weights as the one before it."""
    noted = infos[:1]
    for before, info in itertools.pairwise(infos):
        if prints[info.name] is not None and prints[info.name] == prints[before.name]:
            info = _with(info, notes=(*info.notes, f"same weights as {before.name}"))
        noted.append(info)
    return noted
