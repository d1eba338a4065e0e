"""``landscope info`` on checkpoint files and folders: what is in them, without torch and without trust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from landscope.checkpoints.discover import list_file, list_run
from landscope.checkpoints.wording import printable
from landscope.contract.deltas import CheckpointInfo, RunListed
from landscope.contract.errors import OptionError
from landscope.project.find import find_runs

_NAME, _STATE, _STEP = 34, 8, 12


def listed(path: Path) -> list[RunListed]:
    """The runs at a folder, or the run of one file with that file alone.

    Raises:
        OptionError: no file could be a checkpoint. CheckpointError: the folder cannot be read.
    """
    if path.is_dir():
        folders = find_runs(path)
        if not folders:
            raise OptionError(f"No checkpoints were found in {path} or up to five levels below it.")
        return [list_run(folder, run=_run_name(path, Path(folder))) for folder in folders]
    return [list_file(path)]


def _run_name(root: Path, folder: Path) -> str:
    inside = folder.relative_to(root) if root in folder.parents else Path()
    return inside.as_posix() if inside.parts else folder.resolve().name


def as_facts(runs: list[RunListed]) -> dict[str, Any]:
    """For ``--json``."""
    return {
        "runs": [
            {
                "run": run.run,
                "folder": run.folder,
                "checkpoints": [_facts(info) for info in (*run.checkpoints, *run.others)],
            }
            for run in runs
        ]
    }


def _facts(info: CheckpointInfo) -> dict[str, Any]:
    return {name: getattr(info, name) for name in info.__struct_fields__ if name != "sha256"}


def as_lines(runs: list[RunListed]) -> list[str]:
    """For people: a line per file, then what was done to read it; nothing in it moves the cursor."""
    lines = []
    for run in runs:
        number = len(run.checkpoints)
        lines.append(f"{run.run}: {number} checkpoint{'' if number == 1 else 's'} in {run.folder}")
        for info in (*run.checkpoints, *run.others):
            lines += _lines(info)
    return [printable(line) for line in lines]


def _lines(info: CheckpointInfo) -> list[str]:
    step = f"step {info.step}" if info.step is not None else ""
    epoch = f"epoch {info.epoch}" if info.epoch is not None and info.step is None else ""
    head = f"  {info.name:<{_NAME}} {info.state:<{_STATE}} {step or epoch:<{_STEP}} {size_text(info.size)}"
    more = [
        info.reason,
        *info.notes,
        f"the same as {', '.join(info.aliases)}" if info.aliases else "",
        f"weights: {', '.join(info.sets)} (the first is used)" if info.sets else "",
    ]
    return [head, *(f"      {text}" for text in more if text)]


def size_text(size: int) -> str:
    """Bytes for people: B, kB, MB or GB."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
