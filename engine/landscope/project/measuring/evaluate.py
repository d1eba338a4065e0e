"""Loss and metrics of every checkpoint of a run, on every split."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from landscope.contract.deltas import CheckpointMeasured
from landscope.contract.errors import CheckpointError
from landscope.contract.events import Notice, Partial, Progress, Update, told
from landscope.contract.job import CancelToken, EvaluateJob, Pace
from landscope.project.measuring.measure import measure_repeatedly
from landscope.project.subject import Subject
from landscope.weights.restore import preserved


def analyse(subject: Subject, job: EvaluateJob, token: CancelToken) -> Iterator[Update]:
    """Measure the last checkpoint, the first, then the others in order; the model is put back.

    Yields a ``CheckpointMeasured`` per checkpoint and split, and at the end the list with the files' hashes.
    A checkpoint that cannot be read is a notice; the others go on.
    """
    names = _outside_first(subject.names)
    total = len(names) * len(subject.data.splits)
    pace = Pace(total, token)
    with preserved(subject.model):
        for number, name in enumerate(names, start=1):
            token.check()
            yield from _one(subject, job.run, name, token)
            done = number * len(subject.data.splits)
            yield Progress(done=done, total=total, eta_s=pace.eta_s(done), what=name)
    yield Partial(delta=subject.listed)


def _outside_first(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names[-1:], *names[:1], *names)))


def _one(subject: Subject, run: str, name: str, token: CancelToken) -> Iterator[Update]:
    try:
        subject.load(name)
        subject.sha256(name)
    except CheckpointError as error:
        yield told(error)
        return
    for split in subject.data.splits:
        found = measure_repeatedly(subject, split, token)
        yield Partial(
            delta=CheckpointMeasured(
                run=run,
                checkpoint=name,
                split=split,
                loss=found.loss,
                loss_se=found.loss_se,
                metrics=found.metrics,
                samples=found.samples,
            )
        )
        if not math.isfinite(found.loss):
            yield _diverged(subject, name)


def _diverged(subject: Subject, name: str) -> Notice:
    """Which weights are to blame for a loss that is not a number."""
    bad = [n for n, p in subject.model.named_parameters() if not bool(torch.isfinite(p).all())]
    why = f"NaN or inf in {', '.join(bad[:3])}" if bad else "the weights are finite, the loss is not"
    return Notice(level="warning", sentence=f"{name}: {why}.")
