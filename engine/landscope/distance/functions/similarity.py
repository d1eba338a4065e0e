"""How alike the functions of a run's checkpoints are, to each other or to those of another run."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.contract.deltas import Floats, NotObserved, SimilarityMeasured
from landscope.contract.errors import CheckpointError, DataError
from landscope.contract.events import Notice, Partial, Progress, Update, told
from landscope.contract.job import CancelToken, Pace, SimilarityJob
from landscope.distance.analysis import spread
from landscope.distance.functions.cka import Vector, cka_matrix
from landscope.distance.functions.features import MINIBATCH, LayerVectors
from landscope.distance.functions.predictions import Scores, prediction_matrices
from landscope.layers.kinds import Layer
from landscope.layers.observe import Observer
from landscope.layers.samples import Sampling
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.measuring.measure import as_at_first
from landscope.project.subject import Subject
from landscope.weights.restore import preserved

MOST = 64
"""Checkpoints of a run that are compared."""
_BUDGET = 512 << 20
"""Bytes of vectors of the layers that may be kept; more layers leave room for fewer checkpoints."""
_PREVIEW_EVERY = 10
"""A result so far leaves when this many times what it costs has passed since the last one, and a second."""
_SAMPLING = Sampling("flatten", "timestepwise")


def analyse(subject: Subject, other: Subject, job: SimilarityJob, token: CancelToken) -> Iterator[Update]:
    """Predictions and layers of every checkpoint on the same samples, then all pairs.

    Args:
        subject: whose checkpoints are the rows. other: whose are the columns; the same one within a run.

    What is known so far leaves early. The models are put back at the end, also on error and cancel. A
    checkpoint that cannot be read is a notice and is left out.

    Raises:
        DataError: no such split, or the two runs do not see the same samples.
        CheckpointError: no checkpoint could be read. ScriptError: the script fails on a batch.
        JobCancelled: somebody cancelled.
    """
    batches = _batches(subject, other, job.options.split)
    sides = [subject] if other is subject else [subject, other]
    work = _Work(job, token, batches, sum(min(MOST, len(one.names)) for one in sides))
    for one in sides:
        with preserved(one.model):
            yield from work.side(one, one.names, len(sides))
    work.check_found()
    yield from work.result()


def _batches(subject: Subject, other: Subject, split: str) -> Sequence[FrozenBatch]:
    batches = subject.data.batches(split)
    if [one.size for one in other.data.batches(split)] != [one.size for one in batches]:
        raise DataError(f"The runs {subject.run} and {other.run} do not see the same samples of {split}.")
    return batches


@dataclass(frozen=True)
class _Seen:
    """What a checkpoint made of the samples: scores (n, C) if there are any, and a vector per layer."""

    scores: Tensor | None
    vectors: dict[str, Vector]

    @property
    def bytes(self) -> int:
        return sum(vector.nbytes for vector in self.vectors.values())


class _Work:
    """The state of one job: what was seen, how far it is."""

    def __init__(
        self, job: SimilarityJob, token: CancelToken, batches: Sequence[FrozenBatch], checkpoints: int
    ) -> None:
        self._job, self._token, self._batches = job, token, batches
        self._done, self._total = 0, checkpoints * len(batches)
        self._pace = Pace(self._total, token)
        self._sides: list[dict[str, _Seen]] = []
        self._missing: tuple[NotObserved, ...] = ()
        self._compared = 0
        self._next_preview = time.monotonic() + 1.0

    def side(self, subject: Subject, names: tuple[str, ...], sides: int) -> Iterator[Update]:
        """See the samples with the checkpoints of one run, as many as there is room for."""
        seen: dict[str, _Seen] = {}
        self._sides.append(seen)
        waiting = list(names)
        while waiting:
            name = waiting.pop(0)
            self._token.check()
            try:
                subject.load(name)
            except CheckpointError as error:
                yield told(error)
                continue
            seen[name] = yield from self._see(subject, name)
            if len(seen) == 1:
                room = max(2, _BUDGET // max(1, sides * seen[name].bytes))
                waiting = [one for one in spread((name, *waiting), min(MOST, room)) if one != name]
                if len(waiting) + 1 < len(names):
                    yield _thinned(subject.run, len(waiting) + 1, len(names))
            if len(self._sides) == sides and time.monotonic() >= self._next_preview:
                yield from self.result()

    def result(self) -> Iterator[Update]:
        """What is known so far."""
        began = time.monotonic()
        yield Partial(delta=self._measured())
        cost = time.monotonic() - began
        self._next_preview = time.monotonic() + max(1.0, _PREVIEW_EVERY * cost)

    def check_found(self) -> None:
        """Raises CheckpointError if a run has no checkpoint that could be read."""
        if not all(self._sides):
            raise CheckpointError(f"No checkpoint of {self._job.run} could be read, so nothing is compared.")

    def _see(self, subject: Subject, name: str) -> Generator[Update, None, _Seen]:
        """All batches through the model as it stands."""
        layers, scores = LayerVectors(self._job.options.estimator), Scores(len(self._batches))

        def take(call: str, _layer: Layer, samples: Tensor) -> None:
            layers.take(call, samples, observer.items(samples))

        observer = Observer(subject.model, take, _SAMPLING, check=self._token.check)
        with observer, as_at_first(subject, subject.model, 0):
            for batch in self._batches:
                self._token.check()
                layers.begin(batch.size)
                with (
                    torch.no_grad(),
                    scores.listening(subject.model, batch.value),
                    observer.batch(batch.size),
                ):
                    subject.loss(subject.model, batch)
                layers.end()
                self._done += 1
                if self._pace.due():
                    yield self._progress(name)
            self._missing = (*observer.not_observed(), *layers.dropped())
        self._compared = layers.samples
        return _Seen(scores.taken(), layers.vectors())

    def _measured(self) -> SimilarityMeasured:
        rows, columns = self._sides[0], self._sides[-1]
        names = tuple(dict.fromkeys(layer for one in rows.values() for layer in one.vectors))
        matrices = [self._layer(name) for name in names]
        shape = (len(rows), len(columns))
        return SimilarityMeasured(
            run=self._job.run,
            other=self._job.other or self._job.run,
            checkpoints=tuple(rows),
            others=tuple(columns),
            split=self._job.options.split,
            samples=sum(batch.size for batch in self._batches),
            predictions=self._predictions(),
            layers=names,
            cka=np.stack(matrices) if matrices else np.empty((0, *shape)),
            not_observed=self._missing,
            settings={
                "estimator": self._job.options.estimator,
                "minibatch": MINIBATCH,
                "cka_samples": self._compared,
                "positions": self._positions(),
            },
        )

    def _layer(self, name: str) -> NDArray[np.float64]:
        """(M, K) CKA of one layer; NaN for checkpoints where it was not seen."""
        return cka_matrix(*([one.vectors.get(name) for one in side.values()] for side in self._sides))

    def _predictions(self) -> dict[str, Floats]:
        sides = [[one.scores for one in side.values()] for side in self._sides]
        known = [[scores for scores in side if scores is not None] for side in sides]
        shapes = {scores.shape for side in known for scores in side}
        if list(map(len, known)) != list(map(len, sides)) or len(shapes) != 1:
            return {}
        return dict(prediction_matrices(*known, check=self._token.check))

    def _positions(self) -> int:
        first = next((one.scores for one in self._sides[0].values()), None)
        return 0 if first is None else len(first)

    def _progress(self, name: str) -> Progress:
        return Progress(done=self._done, total=self._total, eta_s=self._pace.eta_s(self._done), what=name)


def _thinned(run: str, number: int, known: int) -> Notice:
    sentence = f"{number} of the {known} checkpoints of {run} are compared, evenly spaced."
    return Notice(level="info", sentence=sentence)
