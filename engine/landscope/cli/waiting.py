"""Saying that a script still runs: while it is imported or builds its model, nothing else says a word."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from landscope.contract.events import SCRIPT_RUNS, AnyBody, Progress

EVERY_S = 10.0


class Waiting:
    """Between the event that says that a script runs and the next one: a sentence every ten seconds.

    Args:
        say: takes the sentence, in a thread of its own.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._over: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def hear(self, body: AnyBody) -> None:
        """Begin or end to wait."""
        self.end()
        if isinstance(body, Progress) and body.what == SCRIPT_RUNS:
            self._over = threading.Event()
            self._thread = threading.Thread(
                target=self._wait, args=(self._over, time.monotonic()), daemon=True
            )
            self._thread.start()

    def end(self) -> None:
        """Say no more."""
        if self._over is not None and self._thread is not None:
            self._over.set()
            self._thread.join()
            self._over = self._thread = None

    def _wait(self, over: threading.Event, began: float) -> None:
        while not over.wait(EVERY_S):
            self._say(f"  the {SCRIPT_RUNS} ({time.monotonic() - began:.0f} s); Ctrl+C twice stops it")
