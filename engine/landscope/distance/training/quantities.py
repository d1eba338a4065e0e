"""How far the weights are from their start, how large updates and gradients are, while training goes on."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from landscope.contract.errors import OptionError
from landscope.distance.training.norms import difference_norms, norms
from landscope.distance.training.quantity import Quantity
from landscope.schedules import Schedule

Result = tuple[int, list[float | None]]
"""A step and one value per parameter; None = undefined."""


class Distance(Quantity):
    """‖θ_t − θ_0‖ of every parameter, t the step given to ``track``.

    θ_0 is kept from step ``INIT_GLOBAL_STEP`` on, whether that is scheduled or not, and never dropped; a loop
    that begins later (resumed without ``load_state_dict``) is measured from its first step, see
    ``reference_step``. After the last ``optimizer.step()`` one more ``track`` sees the last update.

    Attributes:
        reference_step: the step that θ_0 is of; None = none was seen yet.
    """

    CACHE_KEY: ClassVar[str] = "params"
    INIT_GLOBAL_STEP: ClassVar[int] = 0

    def __init__(self, track_schedule: Schedule, verbose: bool = False) -> None:
        super().__init__(track_schedule, verbose)
        self.reference_step: int | None = None
        self._cache: dict[str, list[Tensor]] = {}

    def is_start(self, global_step: int) -> bool:
        """Whether θ_0 is kept at this step."""
        return global_step == self.INIT_GLOBAL_STEP or self.reference_step is None

    def is_end(self, global_step: int) -> bool:
        """Whether the distance is measured at this step."""
        return self._track_schedule(global_step)

    def should_compute(self, global_step: int) -> bool:
        """At the start, and where the schedule says so."""
        return self.is_start(global_step) or self.is_end(global_step)

    def state_dict(self) -> dict[str, Any]:
        """θ_0 and the results, for a checkpoint."""
        kept = {"reference_step": self.reference_step, "names": self.names, "output": dict(self.output)}
        return kept | {self.CACHE_KEY: self._cache.get(self.CACHE_KEY, [])}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what ``state_dict`` gave, so that a resumed run keeps its start.

        Raises:
            OptionError: it is no such state.
        """
        try:
            self.reference_step, self.names = state["reference_step"], tuple(state["names"])
            self.output, self._cache = dict(state["output"]), {self.CACHE_KEY: list(state[self.CACHE_KEY])}
        except (KeyError, TypeError) as error:
            raise OptionError(
                "The state given to Distance.load_state_dict is not one of a Distance."
            ) from error

    def _measure(self, step: int, tensors: list[Tensor]) -> list[Result]:
        if self.is_start(step):
            self._cache[self.CACHE_KEY] = _copies(tensors)
            self.reference_step = step
        if not self.is_end(step):
            return []
        return [(step, [*difference_norms(tensors, self._cache[self.CACHE_KEY])])]


class UpdateSize(Quantity):
    """‖θ_{t+1} − θ_t‖ of every parameter, stored under t and known at step t + 1.

    After the last ``optimizer.step()`` one more ``track`` sees the last update.
    """

    CACHE_KEY: ClassVar[str] = "params"
    SAVE_SHIFT: ClassVar[int] = 1

    def __init__(self, track_schedule: Schedule, verbose: bool = False) -> None:
        super().__init__(track_schedule, verbose)
        self._cache: dict[int, list[Tensor]] = {}

    def is_start(self, global_step: int) -> bool:
        """Whether θ is kept at this step."""
        return self._track_schedule(global_step)

    def is_end(self, global_step: int) -> bool:
        """Whether the update of the step before is measured."""
        return self._track_schedule(global_step - self.SAVE_SHIFT)

    def should_compute(self, global_step: int) -> bool:
        """Where the schedule says so, and one step later."""
        return self.is_start(global_step) or self.is_end(global_step)

    def _measure(self, step: int, tensors: list[Tensor]) -> list[Result]:
        before = self._cache.get(step - self.SAVE_SHIFT) if self.is_end(step) else None
        found: list[Result] = []
        if before is not None:
            found = [(step - self.SAVE_SHIFT, [*difference_norms(tensors, before)])]
        self._cache = {step: _copies(tensors, self._cache)} if self.is_start(step) else {}
        return found


class GradNorm(Quantity):
    """‖∂L/∂θ‖ of every parameter at θ_t, as it lies in ``.grad``; NaN for a parameter without a gradient.

    Gradients scaled by a ``GradScaler`` must be unscaled first; clipping changes what is seen afterwards.
    """

    def should_compute(self, global_step: int) -> bool:
        """Where the schedule says so."""
        return self._track_schedule(global_step)

    def _measure(self, step: int, tensors: list[Tensor]) -> list[Result]:
        gradients = [tensor.grad for tensor in tensors]
        known = iter(norms([_dense(gradient) for gradient in gradients if gradient is not None]))
        return [(step, [None if gradient is None else next(known) for gradient in gradients])]


def _copies(tensors: list[Tensor], spare: dict[int, list[Tensor]] | None = None) -> list[Tensor]:
    """Copies of the values, into the memory of copies that are not needed any more where it fits."""
    kept = next(iter(spare.values()), []) if spare else []
    with torch.no_grad():
        if [one.shape for one in kept] == [tensor.shape for tensor in tensors]:
            for one, tensor in zip(kept, tensors, strict=True):
                one.copy_(tensor)
            return kept
        return [tensor.detach().clone(memory_format=torch.contiguous_format) for tensor in tensors]


def _dense(gradient: Tensor) -> Tensor:
    return gradient.coalesce().values() if gradient.is_sparse else gradient
