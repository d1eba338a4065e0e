"""What a tracker sums up: the covariance of every call of every layer, train and eval apart."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from landscope.layers.kinds import Layer
from landscope.layers.resize import resized
from landscope.layers.samples import Sampling, layer_samples, sequence_method
from landscope.saturation.covariance import Covariance
from landscope.saturation.embedding import embedded_rows
from landscope.saturation.precision import finite_rows, working
from landscope.saturation.shifted_blocks import Block
from landscope.saturation.stored_rows import StoredRows
from landscope.saturation.tracking.labels import labels_of_rows, with_labels
from landscope.saturation.tracking.worker import Worker

Mode = Literal["train", "eval"]

log = logging.getLogger("landscope.saturation")


@dataclass(frozen=True)
class Recorded:
    """Which samples are taken: the options of the tracker that concern the forward pass."""

    sampling: Sampling = Sampling()  # noqa: RUF009  frozen
    log_interval: int = 1
    max_samples: int | None = None
    interpolation_strategy: str | None = None
    interpolation_downsampling: int = 32
    embed: bool = False
    device: torch.device | None = None
    worker: bool = False
    row_share: float = 1.0


@dataclass
class Series:
    """One call of one layer in one mode.

    Attributes:
        room: items that may be taken of the forward pass that came last, None = all.
        fresh: something came since the last report.
    """

    forwards: int = 0
    items: int = 0
    room: int | None = 0
    fresh: bool = False
    covariance: Covariance | None = None
    rows: StoredRows | None = None


class LayerSums:
    """The series of all layers by mode and name, and the worker that sums them if there is one.

    Attributes:
        labels: (B,) of the batch that the model is given next, for rows to be embedded.
    """

    def __init__(self, options: Recorded, fail: Callable[[str, str], None]) -> None:
        """``fail`` takes the name of a layer that cannot be measured, and the reason."""
        self.series: dict[Mode, dict[str, Series]] = {"train": {}, "eval": {}}
        self.labels: Tensor | None = None
        self.options = options
        self._fail = fail
        self._worker = Worker() if options.worker else None

    def take(
        self, name: str, mode: Mode, layer: Layer, batch: Tensor, real: Tensor | None, again: bool = False
    ) -> None:
        """Take in the output of one call, items first.

        ``real``: (B, T) the steps that are no padding. ``again``: it goes on with the pass that came last.
        """
        series = self.series[mode].setdefault(name, Series())
        if not again:
            self._begin(series, len(batch))
        known = self.labels if self.labels is not None and len(self.labels) == len(batch) else None
        if series.room is not None:
            batch, real = batch[: series.room], None if real is None else real[: series.room]
            known = None if known is None else known[: series.room]
        if not batch.shape[0]:
            return
        samples = layer_samples(layer, self._resized(layer, batch), self.options.sampling, True, real)
        labels = None
        if known is not None and self.options.embed:
            labels = labels_of_rows(
                known, samples, batch, real, sequence_method(layer, self.options.sampling)
            )
        self._add(name, series, samples, labels)

    def reset(self, mode: Mode, covariances: bool) -> None:
        """Begin the next report: count items anew and, with ``covariances``, forget what was summed."""
        for series in self.series[mode].values():
            series.items, series.fresh = 0, False
            if covariances:
                series.covariance = series.rows = None

    def drain(self) -> None:
        """Wait until everything that was recorded is summed."""
        if self._worker is not None:
            self._worker.drain()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()

    def _begin(self, series: Series, items: int) -> None:
        """Count a forward pass with so many items, and find how many of them are wanted."""
        series.forwards += 1
        series.room = None
        if series.forwards % self.options.log_interval:
            series.room = 0
        elif self.options.max_samples is not None:
            series.room = min(items, max(0, self.options.max_samples - series.items))
        series.items += items if series.room is None else series.room

    def _add(self, name: str, series: Series, samples: Tensor, labels: Tensor | None) -> None:
        if not samples.shape[-1]:
            return self._fail(name, "Its output has no features.")
        if not samples.numel():
            return None
        home = self.options.device
        samples = samples if home is None else samples.to(home)
        if series.covariance is None:
            series.covariance = Covariance(samples.shape[-1], row_share=self.options.row_share)
            limit = embedded_rows(samples.shape[-1])
            series.rows = StoredRows(limit) if self.options.embed else None
        if series.covariance.dimension != samples.shape[-1]:
            return self._fail(
                name,
                f"Its number of features changes ({series.covariance.dimension} and {samples.shape[-1]}); "
                "only batches of the first size are measured.",
            )
        series.fresh = True
        for block in series.covariance.blocks(samples):
            if self._worker is None:
                series.covariance.absorb(block)
            else:
                self._worker.put(partial(self._absorb, name, series.covariance, block))
        if series.rows is not None:
            rows = working(samples).reshape(-1, samples.shape[-1])
            series.rows.add(finite_rows(with_labels(rows, labels)))
        return None

    def _absorb(self, name: str, covariance: Covariance, block: Block) -> None:
        try:
            covariance.absorb(block)
        except Exception as error:  # as in _guarded, whose lock is for the hooks only
            self._fail(name, cannot(error))

    def _resized(self, layer: Layer, batch: Tensor) -> Tensor:
        strategy = self.options.interpolation_strategy
        if strategy is None or batch.dim() < 3 or (layer.family != "map" and batch.dim() < 4):
            return batch
        return resized(batch, strategy, self.options.interpolation_downsampling)


def cannot(error: Exception) -> str:
    """The reason that an error is."""
    told = str(error).strip() or type(error).__name__  # torch may add pages about its insides
    return f"It cannot be measured: {told.splitlines()[0][:200].rstrip('.')}."
