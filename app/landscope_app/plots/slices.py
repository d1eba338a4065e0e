"""Work that comes in steps, done a few milliseconds at a time, so that the window stays smooth."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

from PySide6.QtCore import QTimer

SLICE_S = 0.006
"""How long it works in one go; the first map of 100 checkpoints and 300 layers takes some 40 of these."""
Made = TypeVar("Made")


class Slices(Generic[Made]):
    """Goes through a generator between the events of the window; ``done`` gets what it returns.

    Other steps replace those that are not finished. ``timer`` belongs to the caller: an interval of 0, once.
    """

    def __init__(self, timer: QTimer, done: Callable[[Made], None]) -> None:
        self._timer, self._done = timer, done
        self._steps: Generator[None, None, Made] | None = None
        timer.timeout.connect(self._go_on)

    @property
    def running(self) -> bool:
        """Whether something is not finished yet."""
        return self._steps is not None

    def start(self, steps: Generator[None, None, Made], *, later: bool = False) -> None:
        """Go through these steps, the first of them now unless ``later``."""
        self._steps = steps
        if later:
            self._timer.start()
        else:
            self._go_on()

    def stop(self) -> None:
        """Leave what is not finished."""
        self._timer.stop()
        self._steps = None

    def finish(self) -> None:
        """Do all that is left now, however long it takes (for pictures and tests)."""
        while self._steps is not None:
            self._go_on()

    def _go_on(self) -> None:
        until = time.perf_counter() + SLICE_S
        while self._steps is not None:
            try:
                next(self._steps)
            except StopIteration as end:
                self.stop()
                self._done(end.value)
                return
            if time.perf_counter() >= until:
                self._timer.start()
                return


def at_once(steps: Generator[None, None, Made]) -> Made:
    """What the steps return, all done now."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made: Made = end.value
            return made
