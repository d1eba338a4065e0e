"""A hook that a copy or a pickle of the model leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

_is_exporting: Callable[[], bool] = getattr(torch.compiler, "is_exporting", bool)  # torch has it from 2.7 on


class Hook:
    """Calls ``act`` with whatever torch hands to a hook, outside compiled graphs, and changes nothing.

    A deep copy or a pickle of a module takes its hooks along; of this one it gets a bound method of the
    standard library that does nothing, so copies are not tracked and load without this package.
    """

    def __init__(self, act: Callable[..., None]) -> None:
        self._act = act
        self._act_outside = torch.compiler.disable(act)  # type: ignore[no-untyped-call]

    def __call__(self, *args: Any) -> None:
        """Act on what torch hands over."""
        if _is_exporting():  # which refuses what it cannot trace, and computes nothing
            return
        if torch.compiler.is_compiling():
            self._act_outside(*args)
        else:
            self._act(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (nullcontext(), "__exit__")
