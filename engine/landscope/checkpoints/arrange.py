"""The files of a run in training order, with copies such as ``best.pt`` recognised."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from landscope.checkpoints.entry import Entry, with_changes
from landscope.checkpoints.file_names import is_special
from landscope.checkpoints.identity import Fingerprint, fingerprint
from landscope.checkpoints.order import Placed, in_order
from landscope.contract.deltas import CheckpointInfo, RunListed

SAME = "same weights as"
"""How the note begins at a file that holds the weights of the one before it."""
IDENTICAL = (
    "All checkpoints of {} have identical weights; if they were kept in a list while training, each "
    "state_dict() must be copied (copy.deepcopy) when it is taken."
)
"""What that means where it is so at every file; wants the run."""


@dataclass(frozen=True)
class Listing:
    """A run's folder as read: the list for people, and the weights behind every ready name (aliases too)."""

    listed: RunListed
    entries: Mapping[str, Entry]

    @property
    def all_identical(self) -> bool:
        """Whether there are several checkpoints and all hold the same weights."""
        infos = self.listed.checkpoints
        return len(infos) > 1 and all(SAME in "; ".join(info.notes) for info in infos[1:])


def without(listed: RunListed, unreadable: Mapping[str, str]) -> RunListed:
    """The list with some of its checkpoints among the others, each with its reason."""
    lost = [info for info in listed.checkpoints if info.name in unreadable]
    if not lost:
        return listed
    others = (with_changes(info, state="skipped", reason=unreadable[info.name]) for info in lost)
    kept = tuple(info for info in listed.checkpoints if info.name not in unreadable)
    return msgspec.structs.replace(listed, checkpoints=kept, others=(*listed.others, *others))


def in_training_order(root: Path, run: str, entries: list[Entry]) -> Listing:
    """Entries as a list for people; unreadable and unplaceable files are among the others."""
    by_name = {entry.info.name: entry for entry in entries}
    ready = [entry for entry in entries if entry.matched is not None]
    prints = {e.info.name: fingerprint(e.matched.tensors) for e in ready if e.matched is not None}
    aliases = _aliases(prints)
    files = [Placed(e.info.name, e.info.step, e.info.epoch) for e in ready if e.info.name not in aliases]
    placed, lost = in_order(files)
    own: dict[str, list[str]] = {}
    for alias, target in aliases.items():
        own.setdefault(target, []).append(alias)
    infos = [_finished(by_name[file.name].info, file, own.get(file.name, ())) for file in placed]
    infos = _say_identical(infos, prints)
    for info in infos:
        by_name[info.name] = replace(by_name[info.name], info=info)
    others = [e.info for e in entries if e.matched is None]
    reason = "its place in training is unknown: no step is stored in it"
    others += [with_changes(by_name[file.name].info, state="skipped", reason=reason) for file in lost]
    listed = RunListed(run=run, folder=str(root), checkpoints=tuple(infos), others=tuple(others))
    return Listing(listed, by_name)


def _aliases(prints: Mapping[str, Fingerprint | None]) -> dict[str, str]:
    """``best.pt`` and its like to the ordinary file with the same weights."""
    ordinary = {
        p: name for name, p in reversed(list(prints.items())) if p is not None and not is_special(name)
    }
    return {n: ordinary[p] for n, p in prints.items() if is_special(n) and p is not None and p in ordinary}


def _finished(info: CheckpointInfo, place: Placed, aliases: Iterable[str]) -> CheckpointInfo:
    return with_changes(info, step=place.step, epoch=place.epoch, aliases=tuple(aliases))


def _say_identical(
    infos: list[CheckpointInfo], prints: Mapping[str, Fingerprint | None]
) -> list[CheckpointInfo]:
    """A note at every file that holds the same weights as the one before it."""
    noted = infos[:1]
    for before, info in itertools.pairwise(infos):
        if prints[info.name] is not None and prints[info.name] == prints[before.name]:
            info = with_changes(info, notes=(*info.notes, f"{SAME} {before.name}"))
        noted.append(info)
    return noted
