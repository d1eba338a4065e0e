"""Loss and metrics of the model as it stands, over the frozen batches of a split."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from landscope.contract.errors import DataError
from landscope.contract.job import CancelToken
from landscope.project.data import FrozenBatch
from landscope.project.environment import put_randomness, read_randomness, seed_everything
from landscope.project.subject import Subject

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


class _Sums:
    """Running sums in float64 on the device (on the host for MPS, which has no float64)."""

    def __init__(self, device: torch.device) -> None:
        self._host = device.type == "mps"
        self._rows: list[Tensor] = []
        self._metrics: dict[str, list[Tensor]] = {}
        self.sizes: list[int] = []
        self.per_sample = True

    def add(self, loss: Tensor, metrics: dict[str, Tensor], size: int) -> None:
        """Take in a batch of ``size`` samples: its mean loss and, from (B,) losses, the sum of squares."""
        values = self._wide(loss)
        vector = values.ndim == 1 and values.shape[0] == size
        self.per_sample = self.per_sample and (vector or size == 1)
        flat = values.reshape(-1)
        mean = flat.mean()
        self._rows.append(torch.stack([mean, (flat - mean).square().sum()]))
        for name, metric in metrics.items():
            self._metrics.setdefault(name, []).append(self._wide(metric).mean())
        self.sizes.append(size)

    def _wide(self, value: Tensor) -> Tensor:
        value = value.detach()
        return (value.cpu() if self._host else value).to(torch.float64)

    def read(self) -> tuple[list[float], list[float], dict[str, list[float]]]:
        """Mean and spread of each batch and each metric, read back once."""
        names = list(self._metrics)
        rows = torch.stack([*(row for row in self._rows)]).T
        columns = [torch.stack(self._metrics[name]) for name in names]
        width = max([len(self._rows), *(len(c) for c in columns)])
        padded = [torch.nn.functional.pad(column, (0, width - len(column))) for column in (*rows, *columns)]
        table = torch.stack(padded).tolist()
        metrics = {n: table[2 + k][: len(columns[k])] for k, n in enumerate(names)}
        return table[0][: len(self._rows)], table[1][: len(self._rows)], metrics


def measure(
    subject: Subject,
    split: str,
    token: CancelToken,
    *,
    model: nn.Module | None = None,
    batches: Sequence[FrozenBatch] | None = None,
) -> Measurement:
    """Sample-weighted mean loss and metrics, without gradients, in the modes the model is in.

    The standard error follows from (B,) losses by the sample variance s² of n of N samples,
    √(s²/n · (1 − n/N)), where N is the size of the split (no correction if unknown); from scalar losses by
    the means m_b of at least 8 batches, √(Σ w_b² (m_b − m)² · B/(B − 1)) with weights w_b = n_b/n; else NaN.

    Args:
        subject: what to measure. split: of its data. token: checked before every batch.
        model: a replica to measure instead of the live model. batches: a choice of the split's batches.

    Raises:
        JobCancelled: somebody cancelled. ScriptError: model, loss or metrics raised.
    """
    chosen = subject.data.batches(split) if batches is None else batches
    if not chosen:
        raise DataError("There are no batches to measure.")
    sums = _Sums(subject.device)
    with torch.inference_mode(), _common_randomness(subject):
        for batch in chosen:
            token.check()
            loss, metrics = subject.loss_and_metrics(subject.model if model is None else model, batch)
            sums.add(loss, metrics, batch.size)
    return _summary(sums, subject.data.population(split) if batches is None else subject.data.samples(split))


@contextmanager
def _common_randomness(subject: Subject) -> Iterator[None]:
    """The same random numbers at every point, for models that draw some even in eval mode."""
    if not subject.random:
        yield
        return
    before = read_randomness()
    try:
        seed_everything(subject.project.data.seed)
        yield
    finally:
        put_randomness(before)


def _summary(sums: _Sums, population: int | None) -> Measurement:
    means, spreads, metrics = sums.read()
    sizes = sums.sizes
    loss = _weighted(means, sizes)
    if sums.per_sample:
        error = _error_of_samples(means, spreads, sizes, loss, population)
    else:
        error = _error_of_batches(means, sizes, loss)
    shown = {name: _weighted(values, sizes) for name, values in metrics.items() if len(values) == len(sizes)}
    return Measurement(loss, error, shown, sum(sizes))


def _weighted(values: list[float], sizes: list[int]) -> float:
    return math.fsum(v * n for v, n in zip(values, sizes, strict=True)) / sum(sizes)


def _error_of_samples(
    means: list[float], spreads: list[float], sizes: list[int], loss: float, population: int | None
) -> float:
    count = sum(sizes)
    if count < 2 or not math.isfinite(loss):
        return math.nan
    squares = math.fsum(s + n * (m - loss) ** 2 for s, n, m in zip(spreads, sizes, means, strict=True))
    correction = 1.0 if population is None else max(0.0, 1.0 - count / population)
    return math.sqrt(squares / (count - 1) / count * correction)


def _error_of_batches(means: list[float], sizes: list[int], loss: float) -> float:
    number, count = len(means), sum(sizes)
    if number < MIN_BATCHES or not math.isfinite(loss):
        return math.nan
    squares = math.fsum((n / count) ** 2 * (m - loss) ** 2 for n, m in zip(sizes, means, strict=True))
    return math.sqrt(squares * number / (number - 1))
