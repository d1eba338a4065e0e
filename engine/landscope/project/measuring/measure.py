"""Loss and metrics of the model as it stands, over the frozen batches of a split."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from landscope.contract.errors import DataError
from landscope.contract.job import CancelToken
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.running.generators import seeded
from landscope.project.subject import Subject
from landscope.weights.restore import kept_attributes

REPEATS = 5
"""Draws of a random model's loss at one checkpoint."""
MIN_BATCHES = 8
"""Fewer batches than this give no standard error from scalar losses."""


@dataclass(frozen=True)
class Measurement:
    """Loss and metrics of one point.

    Attributes:
        loss: sample-weighted mean over the batches. loss_se: its standard error, NaN = not known.
        metrics: sample-weighted means. samples: how many were measured.
    """

    loss: float
    loss_se: float
    metrics: dict[str, float]
    samples: int


def measure_repeatedly(subject: Subject, split: str, token: CancelToken) -> Measurement:
    """As ``measure``; for a random model the standard error includes the spread over several draws.

    Raises:
        JobCancelled, ScriptError: as ``measure``.
    """
    first = measure(subject, split, token)
    if not subject.random:
        return first
    losses = [first.loss, *(measure(subject, split, token, draw=k).loss for k in range(1, REPEATS))]
    spread = statistics.stdev(losses) if all(map(math.isfinite, losses)) else math.nan
    return replace(first, loss_se=spread if math.isnan(first.loss_se) else math.hypot(first.loss_se, spread))


class _Column:
    """One quantity over all batches: one value per sample if every batch gave that, else one per batch."""

    def __init__(self) -> None:
        self._values: list[Tensor] = []
        self._per_sample = True

    def add(self, value: Tensor, size: int) -> None:
        """Take in a batch of ``size`` samples: (size,) values or their mean."""
        value = value.detach()
        if size == 1:
            value = value.reshape(1)
        self._per_sample = self._per_sample and value.ndim == 1 and len(value) == size
        self._values.append(value)

    def __len__(self) -> int:
        return len(self._values)

    def statistics(self, sizes: list[int], population: int | None) -> Tensor:
        """(2,) float64: the sample-weighted mean and its standard error, on the device (the host for MPS)."""
        if self._per_sample:
            return _of_samples(_wide(torch.cat(self._values)), population)
        return _of_batches(_wide(torch.stack([value.mean() for value in self._values])), sizes)


def _wide(values: Tensor) -> Tensor:
    """float64; MPS has none, so there on the host."""
    return (values.cpu() if values.device.type == "mps" else values).to(torch.float64)


def _of_samples(values: Tensor, population: int | None) -> Tensor:
    count = len(values)
    correction = 1.0 if population is None else max(0.0, 1.0 - count / population)
    error = (
        values.var(correction=1).mul(correction / count).sqrt() if count > 1 else values.new_tensor(math.nan)
    )
    return torch.stack([values.mean(), error])


def _of_batches(means: Tensor, sizes: list[int]) -> Tensor:
    number = len(means)
    weights = torch.tensor(sizes, dtype=torch.float64, device=means.device) / sum(sizes)
    mean = (means * weights).sum()
    spread = (weights.square() * (means - mean).square()).sum()
    error = (spread * number / (number - 1)).sqrt() if number >= MIN_BATCHES else means.new_tensor(math.nan)
    return torch.stack([mean, error])


def measure(
    subject: Subject,
    split: str,
    token: CancelToken,
    *,
    model: nn.Module | None = None,
    batches: Sequence[FrozenBatch] | None = None,
    draw: int = 0,
) -> Measurement:
    """Sample-weighted mean loss and metrics, without gradients, in the modes the model is in.

    The standard error follows from (B,) losses by the sample variance s² of n of N samples,
    √(s²/n · (1 − n/N)), where N is the size of the split (no correction if unknown); from scalar losses by
    the means m_b of at least 8 batches, √(Σ w_b² (m_b − m)² · B/(B − 1)) with weights w_b = n_b/n; else NaN.

    Args:
        subject: what to measure. split: of its data. token: checked before every batch.
        model: a replica to measure instead of the live model. batches: a choice of the split's batches.
        draw: which random numbers a model gets that is random even in eval mode.

    Raises:
        JobCancelled: somebody cancelled. ScriptError: model, loss or metrics raised.
    """
    chosen = subject.data.batches(split) if batches is None else batches
    if not chosen:
        raise DataError("There are no batches to measure.")
    column, columns = _Column(), defaultdict[str, _Column](_Column)
    model = subject.model if model is None else model
    with torch.inference_mode(), as_at_first(subject, model, draw):
        for batch in chosen:
            token.check()
            loss, metrics = subject.loss_and_metrics(model, batch)
            column.add(loss, batch.size)
            for name, metric in metrics.items():
                columns[name].add(metric, batch.size)
        sizes = [batch.size for batch in chosen]
        return _summary(column, columns, sizes, subject.data.population(split))


@contextmanager
def as_at_first(subject: Subject, model: nn.Module, draw: int) -> Iterator[None]:
    """Every point begins with the same random numbers and hidden states, where the model has such."""
    if not subject.random:
        yield
        return
    generators = subject.script.generators(model)
    with kept_attributes(model), seeded(generators, subject.project.data.seed + draw):
        yield


def _summary(
    loss: _Column, metrics: dict[str, _Column], sizes: list[int], population: int | None
) -> Measurement:
    """All numbers, read back from the device at once; metrics that some batches lack are left out."""
    complete = {name: column for name, column in metrics.items() if len(column) == len(sizes)}
    rows = [column.statistics(sizes, population) for column in (loss, *complete.values())]
    (mean, error), *others = torch.stack([row.to(rows[0].device) for row in rows]).tolist()
    return Measurement(mean, error, {n: m for n, (m, _) in zip(complete, others, strict=True)}, sum(sizes))
