"""Loss and metrics of every checkpoint of a run, on every split."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import torch

from landscope.contract.deltas import CheckpointMeasured, RunListed
from landscope.contract.errors import CheckpointError
from landscope.contract.events import Notice, Partial, Progress, Update
from landscope.contract.job import CancelToken, EvaluateJob, Pace
from landscope.project.measure import measure
from landscope.project.subject import Subject


def analyse(subject: Subject, job: EvaluateJob, token: CancelToken) -> Iterator[Update]:
    """Measure the last checkpoint, the first, then the others in order; the model is put back.

    Yields the matched list first, a ``CheckpointMeasured`` per checkpoint and split, and the list again with
    the files' hashes. A checkpoint that cannot be read is a notice; the others go on.
    """
    yield from (notice for notice in subject.notices)
    yield Partial(delta=subject.listed)
    names = _outside_first(subject.names)
    splits = subject.data.splits
    pace = Pace(len(names) * len(splits), token)
    before = {
        n: t.detach().clone() for n, t in subject.model.state_dict().items() if isinstance(t, torch.Tensor)
    }
    hashes: dict[str, str] = {}
    try:
        for number, name in enumerate(names):
            token.check()
            yield from _one(subject, job.run, name, hashes, token)
            done = (number + 1) * len(splits)
            yield Progress(done=done, total=len(names) * len(splits), eta_s=pace.eta_s(done), what=name)
    finally:
        _put_back(subject, before)
    yield Partial(delta=_with_hashes(subject.listed, hashes))


def _outside_first(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names[-1:], *names[:1], *names)))


def _one(
    subject: Subject, run: str, name: str, hashes: dict[str, str], token: CancelToken
) -> Iterator[Update]:
    try:
        subject.load(name)
        hashes[name] = subject.sha256(name)
    except CheckpointError as error:
        yield Notice(level="warning", sentence=error.sentence, detail=error.detail)
        return
    for split in subject.data.splits:
        found = measure(subject, split, token)
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


def _put_back(subject: Subject, before: dict[str, torch.Tensor]) -> None:
    state = subject.model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, tensor in before.items():
            state[name].copy_(tensor)


def _with_hashes(listed: RunListed, hashes: dict[str, str]) -> RunListed:
    infos = tuple(
        msgspec.structs.replace(info, sha256=hashes.get(info.name, info.sha256))
        for info in listed.checkpoints
    )
    return msgspec.structs.replace(listed, checkpoints=infos)
