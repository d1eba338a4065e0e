"""Watching the layers of a model while it runs: our hooks only, removed whatever happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.hooks import RemovableHandle

from landscope.contract.deltas import NotObserved
from landscope.layers.kinds import Layer, observed_layers, unobservable
from landscope.layers.padding import RealSteps
from landscope.layers.row_items import each_item, packed_items, series_items
from landscope.layers.samples import Sampling, layer_samples, sequence_method, sequence_of

Receive = Callable[[str, Layer, Tensor], None]
"""Takes (name of the call, layer, samples (…, D)).

The samples may be a view of the live output: copy or consume them before returning, because an in-place
activation may overwrite it next.
"""


class Observer:
    """Hands every observed layer's samples to ``receive`` while the model runs inside ``batch()``.

    A module called again in the same batch is received under ``name#2``; the calls of a recurrent cell are
    the steps of one sequence. While observing, torch's fused attention path is off, since it skips modules.

    Use as a context manager; hooks are removed at its end, also after errors. Forwards outside ``batch()``
    are not recorded.
    """

    def __init__(
        self,
        model: nn.Module,
        receive: Receive,
        sampling: Sampling = Sampling(),  # noqa: B008  frozen
        *,
        embeddings: bool = False,
        named: Collection[str] = (),
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.layers = observed_layers(model, embeddings=embeddings, named=named)
        self._model = model
        self._receive = receive
        self._sampling = sampling
        self._check = check
        self._real = RealSteps()
        self._handles: list[RemovableHandle] = []
        self._calls: Counter[str] = Counter()
        self._last_step: dict[str, tuple[Layer, Tensor]] = {}
        self._seen: set[str] = set()
        self._failed: dict[str, str] = {}
        self._size: int | None = None
        self._items: Callable[[int], Tensor | None] | None = None
        self._open = False

    def __enter__(self) -> Observer:
        self._fast_path = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        self._handles = self._real.attach(self._model)
        for layer in self.layers:
            self._handles.append(layer.module.register_forward_hook(self._hook(layer)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        torch.backends.mha.set_fastpath_enabled(self._fast_path)

    @contextmanager
    def batch(self, size: int | None = None) -> Iterator[None]:
        """Record the forwards inside. ``size``: samples of the batch, tells (T, B, F) from (B, T, F)."""
        self._calls.clear()
        self._last_step.clear()
        self._real.forget()
        self._size, self._open = size, True
        try:
            yield
            self._items = None
            for name, (layer, step) in self._last_step.items():
                self._receive(name, layer, step)
        finally:
            self._open = False
            self._real.forget()
            self._last_step.clear()
            self._items = None

    def items(self, samples: Tensor) -> Tensor | None:
        """(L,) which item of the batch each of the samples (L, …, D) belongs to; ask while receiving them.

        None = it cannot be told: the size of the batch is not known, or the model has reshaped it.
        """
        if self._size is None:
            return None
        if self._items is not None:
            return self._items(self._size)
        return each_item(self._size) if samples.shape[0] == self._size else None

    def not_observed(self) -> tuple[NotObserved, ...]:
        """What was not recorded so far, with the reason."""
        silent = (layer for layer in self.layers if layer.name not in self._seen)
        return (
            *(NotObserved(layer=layer.name, reason=self._why_silent(layer)) for layer in silent),
            *unobservable(self._model),
        )

    def _why_silent(self, layer: Layer) -> str:
        return self._failed.get(layer.name, "It was not called as a module in the forward pass of this data.")

    def _hook(self, layer: Layer) -> Callable[[nn.Module, Any, Any], None]:
        def record(module: nn.Module, inputs: Any, output: Any) -> None:  # noqa: ARG001
            if self._open:
                self._check()
                self._record(layer, output)

        return record

    def _record(self, layer: Layer, output: object) -> None:
        found = sequence_of(output)
        values = found if found is None or isinstance(found, Tensor) else found.data
        if values is not None and torch._C._functorch.is_functorch_wrapped_tensor(values):
            self._failed[layer.name] = (
                "It is called inside a transform of torch.func, which hides its outputs."
            )
            return
        if values is None or not values.is_floating_point():
            told = type(output).__name__ if values is None else str(values.dtype).removeprefix("torch.")
            self._failed[layer.name] = f"Its output is {told}, which has no real features to measure."
            return
        with torch.no_grad():
            self._hand_on(layer, self._samples(layer, found))

    def _samples(self, layer: Layer, output: Any) -> Tensor:
        method, self._items = sequence_method(layer, self._sampling), None
        if isinstance(output, PackedSequence):
            self._items = lambda size: packed_items(output, size, method)
        if not isinstance(output, Tensor) or output.dim() != 3 or layer.family == "map":
            return layer_samples(layer, output, self._sampling)
        first = self._is_batch_first(layer, output)
        real = self._real.of(output if first else output.transpose(0, 1))
        if real is not None:
            self._items = lambda size: series_items(real, size, method)
        return layer_samples(layer, output, self._sampling, first, real)

    def _is_batch_first(self, layer: Layer, sequence: Tensor) -> bool:
        """A layer that says so itself is believed; else masks, then the batch's size; else (B, T, F)."""
        told = getattr(layer.module, "batch_first", None)
        if isinstance(told, bool):
            return told
        known = self._real.batch_first(sequence)
        if known is not None:
            return known
        return not (self._size is not None and sequence.shape[1] == self._size != sequence.shape[0])

    def _hand_on(self, layer: Layer, samples: Tensor) -> None:
        self._seen.add(layer.name)
        if layer.family == "cell":
            if self._sampling.timeseries_method == "last_timestep":
                self._last_step[layer.name] = (layer, samples.clone())
            else:
                self._receive(layer.name, layer, samples)
            return
        self._calls[layer.name] += 1
        call = self._calls[layer.name]
        self._receive(layer.name if call == 1 else f"{layer.name}#{call}", layer, samples)
