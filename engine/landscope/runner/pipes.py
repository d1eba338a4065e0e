"""The host's two ends of the pipe to the window, out of reach of the script and its children."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from landscope.contract import frames
from landscope.contract.events import Event, Log

_BACKLOG = 512


def take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Duplicate fds 0 and 1 (not inheritable), then point fd 0 at the null device and fd 1 at stderr.

    Afterwards nothing the script or its children read or print can touch the frames.
    """
    source, target = os.dup(0), os.dup(1)
    os.set_inheritable(source, False)
    os.set_inheritable(target, False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  lives as long as we do
    return os.fdopen(source, "rb", buffering=0), os.fdopen(target, "wb", buffering=0)


class EventWriter:
    """Writes events from one thread, from a bounded queue.

    A full queue holds the worker back (the window is slow); log lines are dropped instead.
    """

    def __init__(self, stream: BinaryIO, gone: Callable[[], None]) -> None:
        self._stream = stream
        self._gone = gone
        self._queue: queue.Queue[bytes | None] = queue.Queue(_BACKLOG)
        self._thread = threading.Thread(target=self._write_all, name="event writer", daemon=True)
        self._thread.start()

    def send(self, event: Event) -> None:
        """Queue an event; waits while the queue is full, unless it is only a log line."""
        frame = frames.encode(event)
        if isinstance(event.body, Log):
            with contextlib.suppress(queue.Full):
                self._queue.put_nowait(frame)
        else:
            self._queue.put(frame)

    def close(self, timeout_s: float = 2.0) -> None:
        """Let everything queued leave, for at most ``timeout_s`` seconds."""
        with contextlib.suppress(queue.Full):
            self._queue.put(None, timeout=timeout_s)
            self._thread.join(timeout_s)

    def _write_all(self) -> None:
        while (frame := self._queue.get()) is not None:
            try:
                _write_fully(self._stream, frame)
            except OSError:  # the window is gone
                self._gone()
                return


def _write_fully(stream: BinaryIO, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[stream.write(view) :]
