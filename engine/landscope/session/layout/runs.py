"""``/checkpoints/NNNN``: one run, its checkpoints in order, and what was measured at each, per split."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope.contract.deltas import CheckpointInfo, CheckpointMeasured
from landscope.session.layout.put import (
    as_json,
    attach,
    mark_data,
    put_array,
    put_integers,
    put_scale,
    put_text,
    put_texts,
)
from landscope.session.layout.stack import put_stack, take_stack
from landscope.session.layout.take import (
    members,
    parsed,
    take_floats,
    take_group,
    take_integers,
    take_optional_integers,
    take_text,
    take_texts,
)
from landscope.session.model import Run
from landscope.session.schema import numbered

_Texts = tuple[str, ...]
_LISTS = ("aliases", "notes", "sets")


def put_run(group: Any, run: Run) -> None:
    """A run into its own, empty group."""
    put_text(group, "run", run.name)
    put_text(group, "folder", run.folder)
    table = group.create_group("files")
    put_array(table, "ready", np.int64(len(run.checkpoints)))
    _put_files(table, [*run.checkpoints, *run.others])
    steps = dict(zip(run.names, run.steps.tolist(), strict=True))
    splits = group.create_group("splits")
    for index, (split, measured) in enumerate(run.measured.items()):
        _put_split(splits.create_group(numbered(index)), split, list(measured.values()), steps)


def take_run(group: Any) -> Run:
    """The run again."""
    run = Run(name=take_text(group, "run"), folder=take_text(group, "folder"))
    table = take_group(group, "files")
    files = _take_files(table)
    ready = int(take_integers(table, "ready", ()))
    run.checkpoints, run.others = tuple(files[:ready]), tuple(files[ready:])
    for split in members(group, "splits"):
        found = _take_split(split, run.name)
        run.measured[take_text(split, "split")] = {one.checkpoint: one for one in found}
    return run


def _put_files(group: Any, files: list[CheckpointInfo]) -> None:
    for name in ("name", "state", "reason", "sha256"):
        put_texts(group, name, [getattr(file, name) for file in files])
    for name in _LISTS:
        put_texts(group, name, [as_json(getattr(file, name)) for file in files])
    for name in ("step", "epoch", "size"):
        put_integers(group, name, [getattr(file, name) for file in files])


def _take_files(group: Any) -> list[CheckpointInfo]:
    names = take_texts(group, "name")
    count = len(names)
    columns: dict[str, list[Any]] = {"name": list(names)}
    for name in ("state", "reason", "sha256"):
        columns[name] = list(take_texts(group, name, count))
    for name in _LISTS:
        if name not in group:  # "sets" is younger than the format
            continue
        texts = take_texts(group, name, count)
        columns[name] = [parsed(text, _Texts, f"{group.name}/{name}") for text in texts]
    for name in ("step", "epoch"):
        columns[name] = list(take_optional_integers(group, name, count))
    columns["size"] = take_integers(group, "size", (count,)).tolist()
    return [CheckpointInfo(**{name: column[row] for name, column in columns.items()}) for row in range(count)]


def _put_split(group: Any, split: str, measured: list[CheckpointMeasured], steps: dict[str, float]) -> None:
    """NXdata of one split: loss against step (NaN for a checkpoint that is no longer listed)."""
    put_text(group, "split", split)
    put_texts(group, "checkpoint", [one.checkpoint for one in measured])
    put_integers(group, "samples", [one.samples for one in measured])
    step = put_scale(group, "step", [steps.get(one.checkpoint, np.nan) for one in measured])
    loss = put_array(group, "loss", np.array([one.loss for one in measured], np.float64))
    put_array(group, "loss_se", np.array([one.loss_se for one in measured], np.float64))
    metrics = put_stack(group, [one.metrics for one in measured], (), tuple(group))
    for dataset in (loss, *metrics):
        attach(dataset, step)
    mark_data(group, "loss", ["step"], [str(metric.name).rsplit("/", 1)[-1] for metric in metrics])


def _take_split(group: Any, run: str) -> list[CheckpointMeasured]:
    names = take_texts(group, "checkpoint")
    count = len(names)
    loss, loss_se = (take_floats(group, name, (count,)) for name in ("loss", "loss_se"))
    samples = take_integers(group, "samples", (count,))
    metrics = take_stack(group, count, ())
    split = take_text(group, "split")
    return [
        CheckpointMeasured(
            run=run,
            checkpoint=name,
            split=split,
            loss=float(loss[k]),
            loss_se=float(loss_se[k]),
            metrics={metric: float(value) for metric, value in metrics[k].items()},
            samples=int(samples[k]),
        )
        for k, name in enumerate(names)
    ]
