"""Saturation measured inside a person's own training loop, with the interface of delve's tracker."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import torch
from torch import nn

from landscope.contract.intrinsic import IdimRule, check_threshold
from landscope.layers.resize import check_strategy
from landscope.layers.samples import ConvMethod, Sampling, TimeseriesMethod
from landscope.saturation.tracking.labels import as_labels
from landscope.saturation.tracking.layers import LayerFilter, roots_of, watched_layers
from landscope.saturation.tracking.memory import memory_of_layers, tell_shortage, waiting_bytes
from landscope.saturation.tracking.options import (
    as_list,
    check_choices,
    check_counts,
    check_share,
    level_of,
    resume,
    usable_device,
    writer_for,
)
from landscope.saturation.tracking.recording import Recorder
from landscope.saturation.tracking.report import FlagLog, LayerReport, report_of, tell_failure
from landscope.saturation.tracking.statistics import checked_stats
from landscope.saturation.tracking.sums import Mode, Recorded, Series, log
from landscope.saturation.tracking.unmeasured import hidden_parts, silent_layers
from landscope.saturation.writers.base import AbstractWriter


class SaturationTracker:
    """Watches the layers of a model while it trains and reports how full they are.

    Call ``add_saturations()`` at the end of every epoch and ``close()`` at the end, or use it in a ``with``
    statement. Once made it raises nothing into the training loop: what goes wrong is logged by the logger
    ``landscope.saturation`` and kept in ``not_measured``. Hooks go on close, after an error in the ``with``
    statement, and when nothing refers to the tracker any more.

    Args:
        savefile: path without ending, for writers given by name.
        save_to: the name of a writer, an ``AbstractWriter``, or a list of both.
        modules: a model, or a list of modules.
        layer_filter: takes a dict of the layers by name and returns those to keep.
        writer_args: further arguments for writers given by name.
        log_interval: record every k-th forward pass, counted per layer and mode and across reports.
        max_samples: batch items per layer, mode and report; the last batch is cut.
        stats: of ``idim lsat cov det trc dtrc embed spectrum logdet participation_ratio effective_rank``.
        layerwise_sat: report every layer.
        reset_covariance: start anew after a report; False goes on summing.
        average_sat: report ``average-train-sat`` and ``average-eval-sat``, means of ``lsat`` over the layers.
        ignore_layer_names: layers to leave alone.
        include_conv: False leaves Conv2d out.
        conv_method: ``channelwise``, ``mean``, ``max``, ``median`` or ``flatten``.
        timeseries_method: ``last_timestep`` or ``timestepwise``.
        sat_threshold: share of the variance that ``idim`` directions explain.
        nosave: write no files: of writers given by name only ``print`` is used, and ``save`` does nothing.
        verbose: True or a level of ``logging``: tell which layers are watched and what is reported.
        device: where sums are kept; where the tensors are if there is no such device.
        initial_epoch: above 0, writers go on at this epoch.
        interpolation_strategy: how maps are resized, such as ``nearest`` or ``bilinear``; None leaves them.
        interpolation_downsampling: height and width after resizing, of maps that are larger.
        layers: more layers to watch: classes, or names as in ``model.named_modules()``.
        idim_rule: ``smallest_k``, or ``delve`` for the number of the original, one less.
        worker: multiply in a thread of its own; the training thread only copies.
        row_share: below 1, about so many of the rows of each forward pass are taken, never fewer than 8 per
            feature, evenly spread (``0.25``: a quarter); such layers are flagged ``sampled``.

    Attributes:
        layers: the watched modules by name. stats: what is reported. writer: where to.
        flags: by mode and layer what keeps the values last reported from being trusted, of
            ``dead too_few_samples nonfinite sampled``.

    Raises:
        OptionError: an argument cannot be used.
    """

    def __init__(
        self,
        savefile: str,
        save_to: str | AbstractWriter | Sequence[str | AbstractWriter],
        modules: nn.Module | Sequence[nn.Module],
        layer_filter: LayerFilter | None = None,
        writer_args: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None = None,
        log_interval: int = 1,
        max_samples: int | None = None,
        stats: str | Sequence[str] = ("lsat",),
        layerwise_sat: bool = True,
        reset_covariance: bool = True,
        average_sat: bool = False,
        ignore_layer_names: str | Collection[str] | None = (),
        include_conv: bool = True,
        conv_method: ConvMethod = "channelwise",
        timeseries_method: TimeseriesMethod = "last_timestep",
        sat_threshold: float = 0.99,
        nosave: bool = False,
        verbose: bool | int = False,
        device: str | torch.device | None = "cuda:0",
        initial_epoch: int = 0,
        interpolation_strategy: str | None = None,
        interpolation_downsampling: int = 32,
        *,
        layers: str | type[nn.Module] | Collection[str | type[nn.Module]] = (),
        idim_rule: IdimRule = "smallest_k",
        worker: bool = False,
        row_share: float = 1.0,
    ) -> None:
        self.stats = checked_stats(stats)
        check_threshold(sat_threshold)
        check_strategy(interpolation_strategy)
        check_choices(conv_method, timeseries_method, idim_rule)
        check_counts(1, log_interval=log_interval, interpolation_downsampling=interpolation_downsampling)
        check_counts(1, **({} if max_samples is None else {"max_samples": max_samples}))
        check_counts(0, initial_epoch=initial_epoch)
        check_share(row_share)
        if not isinstance(modules, nn.Module):
            modules = roots_of(modules)  # an iterator gives them once only
        ignored = as_list("ignore_layer_names", ignore_layer_names)
        more = as_list("layers", layers, (nn.Module,))
        self._watched = watched_layers(
            modules, layer_filter=layer_filter, ignored=ignored, include_conv=include_conv, more=more
        )
        self.layers = {one.layer.name: one.layer.module for one in self._watched}
        self._hidden = hidden_parts(roots_of(modules), set(self.layers.values()), ignored)
        self.flags: dict[str, dict[str, tuple[str, ...]]] = {"train": {}, "eval": {}}
        self._flag_log = FlagLog()
        self._failing: set[str] = set()
        self._threshold, self._rule, self._nosave = sat_threshold, idim_rule, nosave
        self._layerwise, self._reset, self._average = layerwise_sat, reset_covariance, average_sat
        self._level = level_of(verbose)
        self.writer = writer_for(save_to, savefile, writer_args, nosave)
        resume(self.writer, initial_epoch)
        self._recorder = Recorder(
            self._watched,
            Recorded(
                Sampling(conv_method, timeseries_method),
                log_interval,
                max_samples,
                interpolation_strategy,
                interpolation_downsampling,
                "embed" in self.stats,
                usable_device(device),
                worker,
                row_share,
            ),
        )
        self._detach = weakref.finalize(self, self._recorder.close)
        tell_shortage(self.memory_per_layer, self._watched, usable_device(device))
        self._say(
            f"watching {', '.join(self.layers) or 'no layer'}, {self.memory_estimate / 1e6:.3g} MB at most"
        )

    def __enter__(self) -> SaturationTracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """What the tracker lacks, such as an ``add_figure``, is the writer's."""
        if not name.startswith("_") and "writer" in self.__dict__:
            return getattr(self.writer, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __deepcopy__(self, memo: dict[int, Any]) -> SaturationTracker:
        """The tracker itself: a copied model that holds it has the one that watches the original."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """None: what is loaded from a pickle is not watched."""
        return type(None), ()

    @property
    def not_measured(self) -> dict[str, str]:
        """By name, why a part has no values or not all: hidden from hooks, not called, or failed."""
        called = {name for series in self._recorder.sums.series.values() for name in series}
        silent = silent_layers(self._watched, called, self._recorder.passes, self._recorder.without_data)
        return self._hidden | silent | self._recorder.failed

    @property
    def memory_per_layer(self) -> dict[str, int]:
        """Most bytes that the sums of each layer take, both modes together (see ``covariance_bytes``)."""
        return memory_of_layers(self._watched, self._recorder.sums.options, self._recorder.sums.series)

    @property
    def memory_estimate(self) -> int:
        """Most bytes that all sums, and samples waiting for the worker, take; known before the first pass."""
        return sum(self.memory_per_layer.values()) + waiting_bytes(self._recorder.sums.options)

    def set_labels(self, targets: Any) -> None:
        """Say what the items of the batch are that the model is given next, for the rows to be embedded.

        Holds until the next call; None ends it. Rows of a batch of another size have no label.

        Args:
            targets: (B,) or (B, 1) numbers, such as classes.
        """
        try:
            self._recorder.sums.labels = None if targets is None else as_labels(targets)
        except (ValueError, TypeError, RuntimeError) as error:  # told, and not raised into the training loop
            self._recorder.sums.labels = None
            log.warning("set_labels takes one number per item of the batch: %s.", error)

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Hand a value of your own, such as a loss, to the writer."""
        self._to_writer("add_scalar", name, value, **kwargs)

    def add_scalars(self, prefix: str, value_dict: Mapping[str, Any], **kwargs: Any) -> None:
        """Hand several values to the writer, each named ``prefix + "_" + key``."""
        self._to_writer("add_scalars", prefix, value_dict, **kwargs)

    def add_saturations(self, save: bool = True) -> None:
        """Report every mode that had a forward pass since the last report, then save."""
        for mode in ("train", "eval"):
            self._report(mode)
        if save:
            self.save()

    def save(self) -> None:
        """Let the writer store what it has."""
        if not self._nosave:
            self._to_writer("save")

    def drain(self) -> None:
        """Wait until the worker, if there is one, has summed what was recorded."""
        self._recorder.sums.drain()

    def stop(self) -> None:
        """Record nothing until ``resume``."""
        self._recorder.paused = True

    def resume(self) -> None:
        """Record again."""
        self._recorder.paused = False

    def is_recording(self) -> bool:
        """Whether forward passes are recorded now."""
        return not self._recorder.paused

    def close(self) -> None:
        """Take all hooks away and close the writer; a second call does nothing."""
        if self._detach.alive:
            self._detach()
            self._to_writer("close")

    def _report(self, mode: Mode) -> None:
        with self._recorder.computing():
            self.drain()
            recorded = self._recorder.sums.series[mode].items()
            reports = {name: self._of(mode, name, series) for name, series in recorded}
            self._recorder.sums.reset(mode, self._reset)
        found = {name: report for name, report in reports.items() if report is not None}
        if found:
            self.flags[mode] = {name: tuple(report.flags) for name, report in found.items()}
        for name, report in found.items():
            self._flag_log.tell(mode, name, report.flags)
            self._say(f"{mode} {name}: saturation {report.lsat:.3f}")
            if self._layerwise:
                self._write(mode, name, report)
        if self._average and found:
            known = [report.lsat for report in found.values() if not np.isnan(report.lsat)]
            self.add_scalar(f"average-{mode}-sat", float(np.mean(known)) if known else float("nan"))

    def _of(self, mode: Mode, name: str, series: Series) -> LayerReport | None:
        try:
            return report_of(mode, name, series, self.stats, self._threshold, self._rule)
        except Exception:  # a report must not end the training that it reports on
            log.exception("The statistics of %s cannot be computed.", name)
            return None

    def _write(self, mode: Mode, name: str, report: LayerReport) -> None:
        size = {"dimension": report.dimension} if "spectrum" in self.stats else {}
        self._to_writer("add_flags", mode, name, tuple(report.flags))
        self._to_writer("add_scalars", "", report.values, sample_value_dict=report.samples, **size)

    def _to_writer(self, method: str, *args: Any, **kwargs: Any) -> None:
        try:
            getattr(self.writer, method)(*args, **kwargs)
            self._failing.discard(method)
        except Exception as error:  # a full disk must not end the training
            if method not in self._failing:  # else every layer of every epoch would tell it
                tell_failure(type(self.writer).__name__, method, error)
            self._failing.add(method)

    def _say(self, sentence: str) -> None:
        if self._level is not None:
            log.log(self._level, sentence)
