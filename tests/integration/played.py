"""Plays jobs on a project as window and command line do, and keeps what was said and found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from landscope.contract.events import ENDINGS, AnyBody, Done, Failed, Notice, Partial
from landscope.contract.job import CancelToken
from landscope.contract.options import EngineOptions, ProjectSpec
from landscope.project.spec import load_project
from landscope.runner.bench import Bench
from landscope.runner.run import run_job

CASES = Path(__file__).parents[1] / "data" / "cases"
Found = TypeVar("Found")


def copied(slug: str, folder: Path) -> tuple[ProjectSpec, dict[str, Any], dict[str, Any]]:
    """A copy of a case that may be run: the project as it is found, its row and what is expected."""
    root = Path(shutil.copytree(CASES / slug, folder / slug))
    row, expected = (json.loads((root / name).read_text("utf-8")) for name in ("case.json", "expected.json"))
    return trusted(load_project(root)), row, expected


def trusted(project: ProjectSpec, **changes: Any) -> ProjectSpec:
    """The project on the CPU, its script trusted for this once."""
    return msgspec.structs.replace(project, trusted=True, engine=EngineOptions(device="cpu"), **changes)


class Played:
    """One job, played to its end."""

    def __init__(self, job: Any, bench: Bench | None = None) -> None:
        bodies = [event.body for event in run_job("job", job, bench or Bench(), CancelToken())]
        self.ending: AnyBody = bodies[-1]
        assert [body for body in bodies if isinstance(body, ENDINGS)] == [self.ending]
        self.deltas = [body.delta for body in bodies if isinstance(body, Partial)]
        self.notices = [body.sentence for body in bodies if isinstance(body, Notice)]

    @property
    def failure(self) -> str:
        """The sentence that it failed with; empty if it did not."""
        return self.ending.sentence if isinstance(self.ending, Failed) else ""

    @property
    def answer(self) -> dict[str, Any]:
        """What a job was asked for."""
        return self.done.answer

    @property
    def done(self) -> Done:
        """The good ending."""
        assert isinstance(self.ending, Done), self.ending
        return self.ending

    def all(self, kind: type[Found]) -> list[Found]:
        """Deltas of a kind, in order."""
        return [delta for delta in self.deltas if isinstance(delta, kind)]

    def last(self, kind: type[Found]) -> Found:
        """The last delta of a kind."""
        return self.all(kind)[-1]
