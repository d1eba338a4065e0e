"""Ctrl+C and its like: first stop at a safe point, then at once; what was found is saved either way."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from landscope.contract.job import CancelToken

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_STOPPING = b"\nStopping; press Ctrl+C again to stop at once.\n"


@contextlib.contextmanager
def interruptible(token: CancelToken) -> Iterator[None]:
    """Ctrl+C, a scheduler's SIGTERM or a lost terminal asks the job to stop at its next safe point.

    The second one raises KeyboardInterrupt wherever the program is. Signals that the caller ignores
    (``nohup``, a background job of a shell script) stay ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(_signal: int, _frame: FrameType | None) -> None:
        if token.cancelled:
            raise KeyboardInterrupt
        token.cancel()
        with contextlib.suppress(OSError):  # not print(): the signal may have come in the middle of one
            os.write(2, _STOPPING)

    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, ask) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
