"""BatchNorm statistics for weights that were moved: the stored ones, or measured anew at every point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from landscope.contract.errors import DataError
from landscope.contract.job import CancelToken
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.batching.rebatch import CannotRecutError, recut, sample_count
from landscope.weights.flat import as_double

SAMPLES = 1024
"""Samples whose activations give the statistics, at most."""

BATCH = 256
"""Samples per calibration batch, whatever the batch of the loss is."""

SEED = 20180
"""Seed of the order in which samples are put into calibration batches; the same at every point."""

Forward = Callable[[nn.Module, Any], object]


def batchnorm_modules(model: nn.Module) -> list[_BatchNorm]:
    """The modules whose normalisation uses running statistics in eval mode."""
    found = (module for module in model.modules() if isinstance(module, _BatchNorm))
    return [module for module in found if module.running_mean is not None and module.running_var is not None]


def calibration_batches(batches: Sequence[FrozenBatch]) -> tuple[list[FrozenBatch], bool]:
    """Fixed, shuffled batches for the statistics, and whether the data could be cut for it.

    At most SAMPLES samples in batches of BATCH. Data that cannot be cut gives whole batches, in a shuffled
    order, until SAMPLES is reached.
    """
    generator = torch.Generator("cpu").manual_seed(SEED)
    order = torch.randperm(sample_count(batches), generator=generator)
    try:
        return recut(batches, order[:SAMPLES], BATCH), True
    except CannotRecutError:
        whole: list[FrozenBatch] = []
        for index in torch.randperm(len(batches), generator=generator).tolist():
            if sample_count(whole) < SAMPLES:
                whole.append(batches[index])
        return whole, False


class _Pooled:
    """Mean and variance over all calls of one module, pooled in float64."""

    def __init__(self) -> None:
        self.count = 0
        self.sum: Tensor = torch.zeros(())
        self.squares: Tensor = torch.zeros(())

    def add(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Take in (C,) mean and unbiased variance of ``count`` values per channel."""
        m, v = as_double(mean), as_double(variance)
        self.sum = self.sum.to(m.device) + count * m
        self.squares = self.squares.to(m.device) + (count - 1) * v + count * m**2
        self.count += count

    def mean_and_variance(self) -> tuple[Tensor, Tensor]:
        """(C,) pooled mean and unbiased variance, as ``running_var`` keeps it."""
        mean = self.sum / self.count
        variance = (self.squares - self.count * mean**2) / max(1, self.count - 1)
        return mean, variance.clamp_min(0)


class Recalibration:
    """Puts running statistics that fit the present weights into a model's BatchNorm modules.

    Only those modules are in train mode while the calibration batches pass (dropout stays off). Each batch is
    normalised by its own statistics, as in training, and the statistics of all batches are pooled: the mean
    is weighted by the number of values, the variance holds that between the batches too.

    Attributes:
        samples: how many samples are used. cut: whether they are in shuffled batches of BATCH.
    """

    def __init__(
        self, model: nn.Module, batches: Sequence[FrozenBatch], forward: Forward, token: CancelToken
    ) -> None:
        self._model, self._forward, self._token = model, forward, token
        self._modules = batchnorm_modules(model)
        self._stored = [_statistics(module) for module in self._modules]
        self._batches, self.cut = calibration_batches(batches)
        self.samples = sample_count(self._batches)

    def use_stored(self) -> None:
        """Put back the statistics that the model had when this object was made."""
        for module, stored in zip(self._modules, self._stored, strict=True):
            _put(module, *stored)

    def recalibrate(self) -> None:
        """Measure the statistics at the present weights and use them.

        Raises:
            DataError: a calibration batch has a single value per channel, which has no variance.
            JobCancelled: between two batches.
        """
        pooled = [_Pooled() for _ in self._modules]
        with _recording(self._modules, pooled), torch.inference_mode():
            for batch in self._batches:
                self._token.check()
                self._forward(self._model, batch.value)
        for module, found, stored in zip(self._modules, pooled, self._stored, strict=True):
            _put(module, *(found.mean_and_variance() if found.count else stored))


def _statistics(module: _BatchNorm) -> tuple[Tensor, Tensor]:
    assert module.running_mean is not None and module.running_var is not None  # batchnorm_modules chose it
    return module.running_mean.detach().clone(), module.running_var.detach().clone()


@torch.no_grad()
def _put(module: _BatchNorm, mean: Tensor, variance: Tensor) -> None:
    assert module.running_mean is not None and module.running_var is not None
    module.running_mean.copy_(mean)
    module.running_var.copy_(variance)


@contextmanager
def _recording(modules: list[_BatchNorm], pooled: list[_Pooled]) -> Iterator[None]:
    """BatchNorm alone in train mode, each call's statistics added to ``pooled``.

    With a momentum of one the running statistics after a call are those of that call.
    """
    before = [(module.training, module.momentum, module.num_batches_tracked) for module in modules]
    counts = [None if tracked is None else tracked.clone() for _, _, tracked in before]
    handles = []
    try:
        for module, found in zip(modules, pooled, strict=True):
            module.training, module.momentum = True, 1.0
            handles.append(module.register_forward_pre_hook(_prepare_call))
            handles.append(module.register_forward_hook(_recorder(found)))
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module, (training, momentum, tracked), count in zip(modules, before, counts, strict=True):
            module.training, module.momentum = training, momentum
            if tracked is not None and count is not None:
                tracked.copy_(count)


def _values_per_channel(module: _BatchNorm, inputs: tuple[Any, ...]) -> int:
    return int(inputs[0].numel()) // module.num_features if inputs else 0


def _prepare_call(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Clear what the call before left: with a momentum of one, 0 · NaN would carry a NaN over."""
    assert isinstance(module, _BatchNorm)
    assert module.running_mean is not None and module.running_var is not None
    module.running_mean.zero_()
    module.running_var.zero_()
    if _values_per_channel(module, inputs) == 1:
        raise DataError(
            "BatchNorm statistics cannot be measured anew from one value per channel; give the data in "
            "larger batches, or choose the frozen BatchNorm policy."
        )


def _recorder(found: _Pooled) -> Callable[[nn.Module, tuple[Any, ...], Any], None]:
    def record(module: nn.Module, inputs: tuple[Any, ...], _output: Any) -> None:
        assert isinstance(module, _BatchNorm)
        assert module.running_mean is not None and module.running_var is not None
        found.add(module.running_mean, module.running_var, _values_per_channel(module, inputs))

    return record
