"""Saturation of every observed layer at every checkpoint of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from landscope.contract.deltas import NotObserved, SaturationMeasured
from landscope.contract.errors import CheckpointError, OptionError
from landscope.contract.events import Notice, Partial, Progress, Update, told
from landscope.contract.intrinsic import check_threshold
from landscope.contract.job import CancelToken, Pace, SaturationJob
from landscope.layers.kinds import Layer, names_of, observed_layers
from landscope.layers.observe import Observer
from landscope.layers.samples import Sampling
from landscope.project.measuring.defaults import classes_of
from landscope.saturation.embedding import EMBEDDED_ROWS, LayerRows
from landscope.saturation.layer_covariances import LayerCovariances
from landscope.saturation.memory import covariance_bytes, features_of, shortage
from landscope.saturation.row_choice import BatchChoice, RowChoice
from landscope.weights.restore import preserved

if TYPE_CHECKING:
    from landscope.project.batching.frozen import FrozenBatch
    from landscope.project.subject import Subject

_PREVIEW_SHARE = 10.0
"""The next preview waits this many times as long as the last one took, so that they cost at most a tenth."""

_PREVIEW_INTERVAL_S = 0.25
_ADVICE = "take a conv_method other than flatten, or free memory"


def analyse(subject: Subject, job: SaturationJob, token: CancelToken) -> Iterator[Update]:
    """Measure saturation at the checkpoints of ``job``: the last first, then the first, then the others.

    While the very first one is being measured, previews of the batches seen so far leave early, with
    ``settings["partial"]`` true; the full result replaces them. The model runs in eval mode as the subject
    holds it, over all batches of the split, and is put back at the end, also on error and cancel.

    Raises:
        OptionError: the threshold is no share of the variance, or there is no such checkpoint or layer.
        DataError: the data have no such split.
        ScriptError: the script fails on a batch.
        JobCancelled: somebody cancelled.
    """
    check_threshold(job.options.sat_threshold)
    names = _visiting_order(subject, job)
    batches = subject.data.batches(job.options.split)
    work = _Work(subject, job, token, batches, len(names))
    if sentence := _shortage(subject, job):
        yield Notice(level="warning", sentence=sentence)
    with preserved(subject.model):
        for position, name in enumerate(names):
            yield from work.checkpoint(name, preview=position == 0)


def _visiting_order(subject: Subject, job: SaturationJob) -> list[str]:
    known = [checkpoint.name for checkpoint in subject.listed.checkpoints]
    missing = [name for name in job.checkpoints if name not in known]
    if missing:
        raise OptionError(f"The run {job.run} has no usable checkpoint called {missing[0]!r}.")
    chosen = [name for name in known if name in job.checkpoints] if job.checkpoints else known
    return [*chosen[-1:], *chosen[:-1]]


def _shortage(subject: Subject, job: SaturationJob) -> str | None:
    method = job.options.conv_method
    layers = {
        layer.name: covariance_bytes(
            features_of(layer, method), embedded=job.options.embedding, maps=layer.family == "map"
        )
        for layer in observed_layers(subject.model, named=names_of(subject.model, job.options.layers))
    }
    home = next((tensor.device for tensor in subject.model.parameters()), torch.device("cpu"))
    return shortage(layers, home, _ADVICE)


class _Work:
    """The state of one job: what is measured, how far it is."""

    def __init__(
        self,
        subject: Subject,
        job: SaturationJob,
        token: CancelToken,
        batches: Sequence[FrozenBatch],
        checkpoints: int,
    ) -> None:
        self._subject, self._job, self._token, self._batches = subject, job, token, batches
        self._sampling = Sampling(job.options.conv_method, job.options.timeseries_method)
        self._named = names_of(subject.model, job.options.layers)
        self._total = checkpoints * len(batches)
        self._done = 0
        self._pace = Pace(self._total, token)
        self._choice = RowChoice(self._samples(), EMBEDDED_ROWS)
        self._chosen: dict[int, BatchChoice] = {}

    def checkpoint(self, name: str, preview: bool) -> Iterator[Update]:
        """Measure one checkpoint; a file that cannot be loaded is a notice, the others go on."""
        self._token.check()
        try:
            self._subject.load(name)
        except CheckpointError as error:
            self._done += len(self._batches)
            yield told(error)
            return
        covariances = LayerCovariances(self._job.options.row_share)
        rows = LayerRows() if self._job.options.embedding else None

        def take(call: str, layer: Layer, samples: Tensor) -> None:
            covariances.take(call, layer, samples)
            if rows is not None:
                rows.take(call, samples, observer.items(samples))

        observer = Observer(
            self._subject.model, take, self._sampling, named=self._named, check=self._token.check
        )
        with observer:
            yield from self._run(observer, covariances, rows, name, preview)
            missing = (*observer.not_observed(), *covariances.dropped())
        yield Partial(delta=self._measured(name, covariances, self._samples(), missing, rows))
        yield self._progress(name)

    def _run(
        self,
        observer: Observer,
        covariances: LayerCovariances,
        rows: LayerRows | None,
        name: str,
        preview: bool,
    ) -> Iterator[Update]:
        """All batches, with progress and previews between them."""
        next_preview = 0.0
        seen = 0
        for batch in self._batches:
            if rows is not None:
                rows.begin(self._choice_in(batch, seen))
            self._forward(observer, batch)
            self._done += 1
            seen += batch.size
            if preview and batch is not self._batches[-1] and time.monotonic() >= next_preview:
                began = time.monotonic()
                yield Partial(delta=self._measured(name, covariances, seen))
                cost = time.monotonic() - began
                next_preview = time.monotonic() + max(_PREVIEW_INTERVAL_S, _PREVIEW_SHARE * cost)
            if self._pace.due():
                yield self._progress(name)

    def _choice_in(self, batch: FrozenBatch, first: int) -> BatchChoice:
        """Which rows of a batch to keep: chosen at the first checkpoint, for all."""
        if batch.index not in self._chosen:
            classes = classes_of(batch.value, batch.size)
            self._chosen[batch.index] = self._choice.batch(first, batch.size, classes)
        return self._chosen[batch.index]

    def _forward(self, observer: Observer, batch: FrozenBatch) -> None:
        self._token.check()
        try:
            with torch.no_grad(), observer.batch(batch.size):
                self._subject.loss(self._subject.model, batch)
        except Exception:
            self._token.check()  # a cancel inside the script's code may have been told as its failure
            raise

    def _measured(
        self,
        name: str,
        covariances: LayerCovariances,
        samples: int,
        missing: tuple[NotObserved, ...] | None = None,
        rows: LayerRows | None = None,
    ) -> SaturationMeasured:
        """The result so far; ``missing`` None marks a preview."""
        options = self._job.options
        return SaturationMeasured(
            run=self._job.run,
            checkpoint=name,
            mode=options.split,
            threshold=options.sat_threshold,
            layers=covariances.statistics(options.sat_threshold, options.idim_rule, rows),
            not_observed=missing or (),
            settings={
                "samples": samples,
                "partial": missing is None,
                "conv_method": options.conv_method,
                "timeseries_method": options.timeseries_method,
                "idim_rule": options.idim_rule,
                "row_share": options.row_share,
            },
        )

    def _samples(self) -> int:
        return sum(batch.size for batch in self._batches)

    def _progress(self, checkpoint: str) -> Progress:
        return Progress(
            done=self._done, total=self._total, eta_s=self._pace.eta_s(self._done), what=checkpoint
        )
