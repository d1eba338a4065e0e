"""What a tracker does during the user's forward passes: take the samples of each layer, and never fail."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.utils.rnn import PackedSequence
from torch.utils.hooks import RemovableHandle

from landscope.layers.kinds import Layer
from landscope.layers.samples import sequence_of
from landscope.saturation.tracking.fast_path import FAST_PATH
from landscope.saturation.tracking.hooks import Hook
from landscope.saturation.tracking.layers import Watched
from landscope.saturation.tracking.order import BatchOrder
from landscope.saturation.tracking.sums import LayerSums, Mode, Recorded, cannot, log

_FUSED = (nn.TransformerEncoder, nn.TransformerEncoderLayer)
"""Modules whose fused path skips the layers inside, also when they are called by themselves."""

CALLS_APART = 16
"""Calls of a layer in one forward pass that are told apart: each has sums of its own, and loops are long."""


@dataclass
class _Pass(threading.local):
    """Where the current forward pass of this thread is: which root modules it is in, and what it called."""

    active: list[int] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    last_step: dict[str, tuple[Layer, Mode, Tensor]] = field(default_factory=dict)


class Recorder:
    """Hooks on the watched layers, and the covariances they fill, train and eval apart.

    The mode is the one of the module that was given to the tracker, not the flag of a frozen part. A layer
    called again in one forward pass is recorded as ``name#2``, from the 16th call on as ``name#16``. Whatever
    goes wrong with a layer is kept in ``failed`` as a reason and logged once; the forward pass goes on.

    Attributes:
        paused: record nothing. passes: how many forward passes have ended, by the id of their module.
        sums: what was recorded. without_data: layers whose outputs had a shape only.
    """

    def __init__(self, watched: Sequence[Watched], options: Recorded) -> None:
        self.paused = False
        self.passes: Counter[int] = Counter()
        self.failed: dict[str, str] = {}
        self.without_data: set[str] = set()
        self.sums = LayerSums(options, self._fail)
        self._lock = threading.Lock()
        self._pass = _Pass()
        self._order = BatchOrder()
        self._handles: list[RemovableHandle] = []
        roots = {id(one.root): one.root for one in watched}
        fused = {
            id(part): part for root in roots.values() for part in root.modules() if isinstance(part, _FUSED)
        }
        for part in (fused | roots).values():
            self._handles += [
                part.register_forward_pre_hook(Hook(self._begin)),
                *(self._order.attach(part, self._unfailing) if id(part) in roots else ()),
                part.register_forward_hook(Hook(self._end), always_call=True),
            ]
        for one in watched:
            self._handles.append(one.layer.module.register_forward_hook(self._hook(one)))

    def close(self) -> None:
        """Take all hooks away and end the worker."""
        for handle in self._handles:
            handle.remove()
        self._leave()
        self.sums.close()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """For all work on the sums: one thread at a time, whatever mode of torch the caller is in."""
        with self._lock, _inference_ended(), torch.no_grad():
            yield

    def _begin(self, root: nn.Module, *_: object) -> None:
        now = self._pass
        if id(root) in now.active:  # an interrupt ended its last pass without a word
            self._leave()
        if not now.active:
            now.calls.clear()
            FAST_PATH.switch_off(self._holder())  # it skips the layers inside
        now.active.append(id(root))

    def _end(self, root: nn.Module, *_: object) -> None:
        now = self._pass
        if now.active[-1:] == [id(root)]:
            self.passes[id(root)] += not self.paused
            if len(now.active) == 1:
                for name, (layer, mode, step) in now.last_step.items():
                    self._guarded(name, self._take, name, mode, layer, step)
                self._leave()
            else:
                now.active.pop()

    def _leave(self) -> None:
        now = self._pass
        FAST_PATH.put_back(self._holder())
        now.active.clear()
        now.last_step.clear()
        self._order.forget()

    def _holder(self) -> tuple[int, int]:
        return id(self), threading.get_ident()

    def _hook(self, one: Watched) -> Hook:
        def record(module: nn.Module, args: Any, output: Any) -> None:  # noqa: ARG001
            if not self.paused and not torch._C._is_tracing() and not _recomputes():
                self._guarded(one.layer.name, self._record, one, output)

        return Hook(record)

    def _unfailing(self, watch: Callable[..., None]) -> Hook:
        def learn(module: nn.Module, *told: object) -> None:
            watch(module, *told)
            if not self._pass.active:
                self._order.keep_latest()

        return Hook(lambda module, *told: self._guarded(type(module).__name__, learn, module, *told))

    def _guarded(self, name: str, act: Any, *args: Any) -> None:
        """A training loop must survive whatever a layer puts out: the failure is kept and logged instead."""
        try:
            with self.computing():
                act(*args)
        except Exception as error:
            self._fail(name, cannot(error))

    def _fail(self, name: str, reason: str) -> None:
        if name not in self.failed:
            self.failed[name] = reason
            log.warning("%s: %s", name, reason)

    def _record(self, one: Watched, output: object) -> None:
        found = sequence_of(output)
        values = found.data if isinstance(found, PackedSequence) else found
        if values is not None and (values.is_meta or isinstance(values, FakeTensor)):
            return self.without_data.add(one.layer.name)
        if values is not None and torch._C._functorch.is_functorch_wrapped_tensor(values):
            return self._fail(one.layer.name, "A transform of torch.func hides its outputs.")
        if values is not None and (values.is_nested or values.layout != torch.strided):
            kind = "nested" if values.is_nested else "sparse"
            return self._fail(one.layer.name, f"Its output is a {kind} tensor, which has no rows to measure.")
        if found is None or values is None or not values.is_floating_point():
            told = type(output).__name__ if values is None else str(values.dtype).removeprefix("torch.")
            return self._fail(one.layer.name, f"Its output is {told}, which has no real features to measure.")
        mode: Mode = "train" if one.root.training else "eval"
        if (
            one.layer.family == "cell"
            and self._pass.active
            and self.sums.options.sampling.timeseries_method == "last_timestep"
        ):
            self._pass.last_step[one.layer.name] = (one.layer, mode, values.detach().clone())
            return None
        name, again = self._call(one.layer)
        return self._take(name, mode, one.layer, found, again)

    def _take(
        self, name: str, mode: Mode, layer: Layer, output: Tensor | PackedSequence, again: bool = False
    ) -> None:
        self.sums.take(name, mode, layer, *self._order.ordered(layer, output), again)

    def _call(self, layer: Layer) -> tuple[str, bool]:
        """The name of this call, and whether an earlier one of this pass had it.

        Only a forward pass of a root module tells calls apart, and the calls of a cell are steps of one.
        """
        if not self._pass.active:
            return layer.name, False
        self._pass.calls[layer.name] += 1
        number, apart = self._pass.calls[layer.name], 1 if layer.family == "cell" else CALLS_APART
        place = min(number, apart)
        return layer.name if place == 1 else f"{layer.name}#{place}", number > apart


def _inference_ended() -> AbstractContextManager[object]:
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()


def _recomputes() -> bool:
    """Whether this runs inside a backward pass: activation checkpointing repeats what was recorded."""
    return bool(torch._C._current_graph_task_id() != -1)
