"""The rows of the list of checkpoints, without Qt: every run, its files in order, then those left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from landscope.contract.deltas import CheckpointInfo
from landscope.session.model import Run

_LOOKED_AT = 200


class FileRow(NamedTuple):
    """A run (``info`` is None) or one of its files; ``step`` is NaN for files that are not ready."""

    run: str
    info: CheckpointInfo | None = None
    step: float = float("nan")

    @property
    def key(self) -> tuple[str, str]:
        """What a row is known by while others come and go: run and name of the file (empty: the run)."""
        return self.run, self.info.name if self.info is not None else ""

    @property
    def is_ready(self) -> bool:
        """Whether it is a checkpoint that can be selected."""
        return self.info is not None and self.info.state == "ready"


def file_rows(runs: Iterable[Run], folded: Collection[str]) -> list[FileRow]:
    """All rows in order; the files of a folded run are left out."""
    rows: list[FileRow] = []
    for run in runs:
        rows.append(FileRow(run.name))
        if run.name not in folded:
            steps = run.steps.tolist()
            rows += [FileRow(run.name, info, step) for info, step in zip(run.checkpoints, steps, strict=True)]
            rows += [FileRow(run.name, info) for info in run.others]
    return rows


def common_suffix(run: Run) -> str:
    """The ending that all checkpoints share (``.pt``), which says nothing in a list."""
    endings = {info.name.rpartition(".")[2] for info in run.checkpoints}
    ending = endings.pop() if len(endings) == 1 else ""
    return f".{ending}" if ending.isalnum() and len(ending) < 12 else ""


def names_say_steps(run: Run) -> bool:
    """Whether a column of steps would only repeat the numbers in the names."""
    steps = run.steps[:_LOOKED_AT].tolist()
    numbers = ([int(n) for n in re.findall(r"\d+", i.name)[:9]] for i in run.checkpoints[:_LOOKED_AT])
    return all(int(step) in found for step, found in zip(steps, numbers, strict=True))


def weight_sets(runs: Iterable[Run]) -> tuple[str, ...]:
    """Names of the sets of weights that files offer, the one in use first; empty where there is no choice."""
    found: dict[str, None] = {}
    for run in runs:
        for info in run.checkpoints:
            if info.sets:
                found.update(dict.fromkeys(info.sets))
    return tuple(found)
