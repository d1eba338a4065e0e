"""What is known of one file of a run, in lines: what was done to read it, and why it is left out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from landscope.contract.deltas import CheckpointInfo
from landscope.session.model import Run
from landscope_app.plots.loss_chart import splits_of
from landscope_app.plots.numbers import count, short


def details_of(run: Run, info: CheckpointInfo | None) -> str:
    """Lines of text; of the run itself where there is no file."""
    if info is None:
        left_out = f", {_counted(len(run.others), 'file')} left out" if run.others else ""
        return f"{run.folder}\n{_counted(len(run.checkpoints), 'checkpoint')}{left_out}"
    return "\n".join(line for line in _lines(run, info) if line)


def _counted(number: int, word: str) -> str:
    return f"{count(number)} {word}{'' if number == 1 else 's'}"


def _lines(run: Run, info: CheckpointInfo) -> Iterator[str]:
    yield info.name
    yield " · ".join(filter(None, (_state(info), *_places(info), size_text(info.size))))
    yield _sentence(info.reason)
    yield from map(_sentence, info.notes)
    if info.sets:
        used, *others = info.sets
        yield f"Weights: {used} (used), {', '.join(others)}." if others else ""
    if info.aliases:
        yield f"The same as {', '.join(info.aliases)}."
    for split in splits_of(run):
        yield _measured(run, info.name, split)
    yield f"SHA-256 {info.sha256}" if info.sha256 else ""


def _state(info: CheckpointInfo) -> str:
    return {"waiting": "still being written", "skipped": "left out"}.get(info.state, "")


def _places(info: CheckpointInfo) -> Iterator[str]:
    if info.step is not None:
        yield f"step {count(info.step)}"
    if info.epoch is not None:
        yield f"epoch {count(info.epoch)}"


def _measured(run: Run, name: str, split: str) -> str:
    one = run.measured[split].get(name)
    if one is None:
        return ""
    error = f" ± {short(one.loss_se, 2)}" if math.isfinite(one.loss_se) else ""  # else it is not known
    values = [f"loss {short(one.loss, 4)}{error}"]
    values += [f"{metric} {short(value, 4)}" for metric, value in one.metrics.items()]
    return f"{split}: {', '.join(values)} (n = {count(one.samples)})"


def _sentence(text: str) -> str:
    if text.partition(" ")[0].isalpha():  # not the name of a file or tensor
        text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def size_text(size: int) -> str:
    """Bytes for people; empty where they are not known."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}" if size else ""
        amount /= 1000
    return f"{amount:.3g} GB"
