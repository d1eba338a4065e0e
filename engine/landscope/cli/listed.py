"""What a listing of checkpoints means to a person, in sentences, each said once."""

from __future__ import annotations

from collections.abc import Iterator

from landscope.checkpoints.arrange import IDENTICAL, SAME
from landscope.checkpoints.wording import some
from landscope.contract.deltas import RunListed
from landscope.contract.events import Level, Notice

_MOST = 20


class Listings:
    """Turns listings into notices; a later listing of the same run only adds what is new."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def news(self, listed: RunListed) -> Iterator[Notice]:
        """How many checkpoints there are, which files are left out and why, what was done to read them."""
        for level, sentence in _sentences(listed):
            if sentence not in self._said:
                self._said.add(sentence)
                yield Notice(level=level, sentence=sentence)


def _sentences(listed: RunListed) -> Iterator[tuple[Level, str]]:
    names = [info.name for info in listed.checkpoints]
    span = f", {names[0]} to {names[-1]}" if len(names) > 1 else "".join(f", {name}" for name in names)
    yield "info", f"{listed.run}: {_counted(len(names), 'checkpoint')}{span}."
    for info in listed.others[:_MOST]:
        done = "skipped" if info.state == "skipped" else "not ready"
        yield "warning", _ended(f"{listed.run}: {info.name} {done}: {info.reason or 'still being written'}")
    if len(listed.others) > _MOST:
        yield "warning", f"{listed.run}: {len(listed.others) - _MOST} more files skipped."
    yield from _on_identical(listed)
    for note, about in list(_notes(listed).items())[:_MOST]:
        one = f" {about[0]}:" if len(about) == 1 else ""
        yield "info", _ended(f"{listed.run}:{one} {note}{'' if one else f' ({len(about)} checkpoints)'}")


def _on_identical(listed: RunListed) -> Iterator[tuple[Level, str]]:
    """One sentence for all files that hold the weights of the one before them."""
    same = [info.name for info in listed.checkpoints if any(map(_says_identical, info.notes))]
    if same and len(same) == len(listed.checkpoints) - 1:
        yield "warning", IDENTICAL.format(listed.run)
    elif same:
        counted = f"{_counted(len(same), 'checkpoint')} {'has' if len(same) == 1 else 'have'}"
        yield "info", f"{listed.run}: {counted} the weights of the one before it ({some(same)})."


def _notes(listed: RunListed) -> dict[str, list[str]]:
    """What was done to read the files, and the files it was done to."""
    found: dict[str, list[str]] = {}
    for info in listed.checkpoints:
        for note in info.notes:
            if not _says_identical(note):
                found.setdefault(note, []).append(info.name)
    return found


def _says_identical(note: str) -> bool:
    return note.startswith(SAME)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(("?", ".", "!")) else f"{sentence}."


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
