"""At which steps of a training loop something is measured: functions of the step that say yes or no."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from landscope.contract.errors import OptionError

Schedule = Callable[[int], bool]


def linear(interval: int, offset: int = 0) -> Schedule:
    """Steps ``offset + n · interval``, n ≥ 0.

    Raises:
        OptionError: the interval is not at least 1.
    """
    if interval < 1:
        raise OptionError(f"interval is {interval}; it must be at least 1.")

    def schedule(step: int) -> bool:
        return step >= offset and (step - offset) % interval == 0

    return schedule


def logarithmic(start: float, end: float, steps: int = 300, base: float = 10, init: bool = True) -> Schedule:
    """``steps`` steps, evenly spaced in their logarithm, from ``base**start`` to ``base**end``, rounded down.

    Steps that fall together count once. ``init``: step 0, too.

    Raises:
        OptionError: there is not at least one step, or the base is not above 0.
    """
    if steps < 1 or not base > 0:
        raise OptionError(f"steps is {steps} and base {base:g}; they must be at least 1 and above 0.")
    points = np.logspace(start, end, steps, base=base)
    exact = np.rint(points)  # 10**2 may come as 99.999…
    whole = np.where(np.isclose(points, exact, rtol=1e-12, atol=0.0), exact, np.floor(points))
    wanted = frozenset(int(step) for step in whole) | ({0} if init else frozenset())

    def schedule(step: int) -> bool:
        return step in wanted

    return schedule
