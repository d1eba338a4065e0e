"""What all quantities of a training loop share: a schedule, results by step, names of the parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor

from landscope.contract.errors import OptionError
from landscope.distance.training.parameters import Parameters, named
from landscope.schedules import Schedule


class Quantity(ABC):
    """Values of every parameter at the steps that a schedule chooses; the interface of cockpit's quantities.

    Call ``track(step, params)`` after ``backward()`` and before ``optimizer.step()``, with θ_step in place.
    Called again with the same step (accumulated gradients), the last call counts. It never raises because of
    values: NaN and inf are results.

    Args:
        track_schedule: takes the step, says whether the quantity is wanted there (``landscope.schedules``).
        verbose: print what is stored.

    Attributes:
        output: by step, one float per parameter, in their order. names: of the parameters.
        flags: by name, any of ``frozen``, ``undefined`` and ``nonfinite``: what was met so far.
    """

    def __init__(self, track_schedule: Schedule, verbose: bool = False) -> None:
        if not callable(track_schedule):
            raise OptionError("track_schedule must be a function of the step, such as schedules.linear(10).")
        self._track_schedule, self._verbose = track_schedule, verbose
        self.output: dict[int, list[float]] = {}
        self.names: tuple[str, ...] = ()
        self.flags: dict[str, set[str]] = {}
        self._undefined: dict[int, frozenset[int]] = {}

    def track(self, global_step: int, params: Parameters, batch_loss: Any = None) -> None:  # noqa: ARG002
        """Measure if it is the time.

        Args:
            global_step: optimiser steps made so far. params: a model, its parameters or named parameters.
            batch_loss: not used; quantities of cockpit are given it.

        Raises:
            OptionError: the parameters are others than before.
        """
        if not self.should_compute(global_step):
            return
        pairs = named(params)
        self._meet(pairs)
        for step, values in self._measure(global_step, [tensor for _, tensor in pairs]):
            self._store(step, values)

    def get_output(self) -> dict[int, list[float]]:
        """By step, one float per parameter, in their order."""
        return self.output

    def total(self, step: int) -> float:
        """The root of the sum of squares over all parameters at a step; undefined ones are left out."""
        left_out = self._undefined.get(step, frozenset())
        known = (value for place, value in enumerate(self.output[step]) if place not in left_out)
        return math.sqrt(math.fsum(value * value for value in known))

    def extensions(self, global_step: int) -> list[Any]:  # noqa: ARG002
        """No extension of BackPACK is needed."""
        return []

    def extension_hooks(self, global_step: int) -> list[Any]:  # noqa: ARG002
        """No hook of BackPACK is needed."""
        return []

    def create_graph(self, global_step: int) -> bool:  # noqa: ARG002
        """The graph of the backward pass is not needed."""
        return False

    @abstractmethod
    def should_compute(self, global_step: int) -> bool:
        """Whether ``track`` has something to do at this step."""

    @abstractmethod
    def _measure(self, step: int, tensors: list[Tensor]) -> list[tuple[int, list[float | None]]]:
        """Results, each with the step that it belongs to; None where a value is undefined."""

    def _meet(self, pairs: list[tuple[str, Tensor]]) -> None:
        names = tuple(name for name, _ in pairs)
        if self.names and names != self.names:
            change = _difference(self.names, names)
            raise OptionError(f"{type(self).__name__} is given other parameters than before: {change}.")
        self.names = names
        for name, tensor in pairs:
            if not tensor.requires_grad:
                self.flags.setdefault(name, set()).add("frozen")

    def _store(self, step: int, values: list[float | None]) -> None:
        self.output[step] = [math.nan if value is None else value for value in values]
        self._undefined[step] = frozenset(place for place, value in enumerate(values) if value is None)
        for name, value in zip(self.names, values, strict=True):
            if value is None or not math.isfinite(value):
                self.flags.setdefault(name, set()).add("undefined" if value is None else "nonfinite")
        if self._verbose:
            print(f"{type(self).__name__} at step {step}: {self.total(step):.6g} in total")


def _difference(before: tuple[str, ...], now: tuple[str, ...]) -> str:
    gone = [name for name in before if name not in now]
    new = [name for name in now if name not in before]
    return f"{gone[0]} is gone" if gone else f"{new[0]} is new" if new else "their order changed"
