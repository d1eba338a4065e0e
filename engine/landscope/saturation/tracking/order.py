"""Which dimension of an output holds the batch, and which steps of its sequences are real."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence
from torch.utils.hooks import RemovableHandle

from landscope.layers.kinds import Layer
from landscope.layers.padding import RealSteps

_LATEST = 16
"""Masks that are remembered where parts are called by themselves: a step may read several sequences."""


class BatchOrder(threading.local, RealSteps):
    """What the forward pass of this thread has told of its sequences: padding, and time before batch."""

    def __init__(self) -> None:
        RealSteps.__init__(self)
        self._time_first: set[tuple[int, int]] = set()

    def attach(
        self, model: nn.Module, wrap: Callable[[Callable[..., None]], Callable[..., None]] = lambda hook: hook
    ) -> list[RemovableHandle]:
        """Watch all modules that know of padding or the order of dimensions; the caller removes the handles.

        ``wrap`` makes what is registered of each hook.
        """
        handles = super().attach(model, wrap)
        for module in model.modules():
            if isinstance(module, nn.RNNBase | nn.MultiheadAttention) and not module.batch_first:
                handles.append(module.register_forward_pre_hook(wrap(self._meet), with_kwargs=True))
        return handles

    def forget(self) -> None:
        """Start a new forward pass."""
        super().forget()
        self._time_first.clear()

    def keep_latest(self) -> None:
        """Outside a forward pass of the whole model, where nothing tells when a batch ends."""
        del self._seen[:-_LATEST]

    def ordered(self, layer: Layer, output: Tensor | PackedSequence) -> tuple[Tensor, Tensor | None]:
        """The detached output with batch items first, and for sequences the (B, T) real steps if known."""
        if isinstance(output, PackedSequence):
            padded, lengths = pad_packed_sequence(output, batch_first=True)
            steps = torch.arange(padded.shape[1], device=lengths.device) < lengths[:, None]
            return padded.detach(), steps.to(padded.device)
        values = output.detach()
        if layer.family == "map":
            return (values.unsqueeze(0) if values.dim() == layer.spatial + 1 else values), None
        if values.dim() == 3:
            batch = values if self._is_batch_first(layer, values) else values.transpose(0, 1)
            return batch, self.of(batch)
        if values.dim() < 2 or (values.dim() == 2 and isinstance(layer.module, nn.RNNBase)):
            return values.unsqueeze(0), None
        return values, None

    def _is_batch_first(self, layer: Layer, sequence: Tensor) -> bool:
        """What the layer says of itself, else masks, else layers with time first met before in this pass."""
        told = getattr(layer.module, "batch_first", None)
        if isinstance(told, bool):
            return told
        known = self.batch_first(sequence)
        return known if known is not None else (sequence.shape[0], sequence.shape[1]) not in self._time_first

    def _meet(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:  # noqa: ARG002
        given = args[0] if args else kwargs.get("input", kwargs.get("query"))
        if isinstance(given, Tensor) and given.dim() == 3:
            self._time_first.add((given.shape[0], given.shape[1]))
