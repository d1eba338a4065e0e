"""The batch size at which a sample costs least, measured; the loss must not depend on it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from landscope.contract.job import CancelToken
from landscope.project.batching.batches import bytes_in
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.batching.rebatch import CannotRecutError, recut, sample_count

if TYPE_CHECKING:
    from landscope.project.subject import Subject

SIZES = (32, 64, 128, 256, 512, 1024)
"""Batch sizes that are tried beside the given one."""

LONGEST_S = 0.04
"""A batch should not take longer: cancel is heard between batches."""

BUDGET_S = 1.0
"""No further size is tried after this time."""

ROUNDS = 2
GAIN = 0.95
"""Another size must cost at most this share of the given one."""

TOLERATED = 1.1
"""A batch short enough to be cancelled soon may cost this much more per sample than the best."""

LARGEST_COPY = 256 * 1024 * 1024
"""Data beyond this many bytes is not cut anew, since that copies it."""


@dataclass(frozen=True)
class BatchPlan:
    """The batches of every point.

    Attributes:
        batches: of all samples, in the data's order; None = those of the data.
        size: samples per batch (the largest). reason: in words, for the settings.
    """

    batches: Sequence[FrozenBatch] | None
    size: int
    reason: str


def plan_batches(subject: Subject, split: str, token: CancelToken) -> BatchPlan:
    """Time a few batch sizes on the model as it stands and choose the one with the cheapest sample.

    The data's own batches stay where the size was chosen by a person, the model draws random numbers, the
    loss is not one value per sample (its standard error needs the given batches), the data cannot be cut, is
    large, or the loss of a sample depends on its batch.

    Raises:
        JobCancelled: between two batches.
    """
    given = subject.data.batches(split)
    largest = max(batch.size for batch in given)
    kept = BatchPlan(None, largest, "as the data gives them")
    if subject.project.data.batch_size or subject.random:
        return kept
    if sum(bytes_in(batch.value) for batch in given) > LARGEST_COPY:
        return kept
    try:
        size = _cheapest(_Trial(subject, given, token), largest)
        if size == largest:
            return kept
        order = torch.arange(sample_count(given))
        return BatchPlan(recut(given, order, size), size, "fastest of those tried")
    except CannotRecutError:
        return kept


class _Trial:
    """Forward passes over the first samples, cut to a size."""

    def __init__(self, subject: Subject, given: Sequence[FrozenBatch], token: CancelToken) -> None:
        self._subject, self._given, self._token = subject, given, token
        self.samples = sample_count(given)
        self._made: dict[int, FrozenBatch] = {}
        on_host = subject.device.type == "cpu"
        # A busy machine would make short batches look cheap: on the host only this thread's work counts.
        self._clock = time.thread_time if on_host else time.perf_counter
        self._reference = self.losses(given[0])

    def losses(self, batch: FrozenBatch) -> Tensor:
        """(B,) losses on the host.

        Raises:
            CannotRecutError: the loss is one number for the batch.
        """
        self._token.check()
        with torch.inference_mode():
            found = self._subject.loss(self._subject.model, batch.value)
        if found.ndim != 1 or len(found) != batch.size:
            raise CannotRecutError
        return found.float().cpu()

    def seconds(self, size: int) -> float:
        """Duration of one batch of ``size``; infinite if its samples have other losses than in the data's.

        Raises:
            CannotRecutError: the data does not slice.
        """
        if size not in self._made:
            (self._made[size],) = recut(self._given, torch.arange(size), size)
        began = self._clock()
        losses = self.losses(self._made[size])
        seconds = self._clock() - began
        common = min(len(losses), len(self._reference))
        pair = losses[:common], self._reference[:common]
        return seconds if torch.allclose(*pair, rtol=1e-4, atol=1e-6, equal_nan=True) else math.inf


def _cheapest(trial: _Trial, given: int) -> int:
    """The size with the least time per sample; ``given`` unless another gains clearly."""
    sizes = sorted({size for size in (*SIZES, given) if size <= trial.samples})
    best: dict[int, float] = {}
    began = time.perf_counter()
    for _ in range(ROUNDS):
        for size in sizes:
            best[size] = min(best.get(size, math.inf), trial.seconds(size))
            if time.perf_counter() - began > BUDGET_S:
                break
            if size >= given and best[size] > LONGEST_S:
                break  # larger ones take longer still
    return _chosen(best, given)


def _chosen(best: dict[int, float], given: int) -> int:
    """From seconds per batch of each size: a cheap one that is short, else the smallest of the cheap."""
    rates = {size: seconds / size for size, seconds in best.items() if math.isfinite(seconds)}
    if not rates:
        return given
    cheap = [size for size in rates if rates[size] <= TOLERATED * min(rates.values())]
    short = [size for size in cheap if best[size] <= LONGEST_S]
    found = min(short, key=rates.__getitem__) if short else min(cheap)
    if given in short and rates[found] > GAIN * rates[given]:
        return given
    return found
