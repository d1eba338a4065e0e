"""What a listing of checkpoints means to a person, in sentences, each said once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from landscope.contract.deltas import RunListed
from landscope.contract.events import Notice

_MOST = 20
Level = Literal["info", "warning", "error"]


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
    for note, about in list(_notes(listed).items())[:_MOST]:
        one = f" {about[0]}:" if len(about) == 1 else ""
        yield "info", _ended(f"{listed.run}:{one} {note}{'' if one else f' ({len(about)} checkpoints)'}")


def _notes(listed: RunListed) -> dict[str, list[str]]:
    """What was done to read the files, and the files it was done to."""
    found: dict[str, list[str]] = {}
    for info in listed.checkpoints:
        for note in info.notes:
            found.setdefault(note, []).append(info.name)
    return found


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(("?", ".", "!")) else f"{sentence}."


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
