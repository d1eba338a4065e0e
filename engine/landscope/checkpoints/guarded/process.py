"""The parent's end of one guarded child: starting it, asking it, telling why it ended."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import BinaryIO, cast

import msgspec

from landscope.checkpoints.guarded.child import Report, Request
from landscope.checkpoints.guarded.limits import BROKEN_LOCK, Limits
from landscope.contract import frames
from landscope.contract.errors import CheckpointError, ProtocolError

_PIPE_BUFFER = 1 << 17
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows only
_GRACE_S = 2.0
"""How long after its time a child that should have ended itself is ended."""


class ChildProcess:
    """One child. Its answers are read in one thread; any thread may end it.

    Attributes:
        limits: what it was started with.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._deadline = float("inf")
        self._late = False
        try:
            self._process = subprocess.Popen(
                _command(limits),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=_PIPE_BUFFER,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                creationflags=_NO_WINDOW,
            )
        except OSError as error:
            raise CheckpointError(
                f"Checkpoints cannot be read: the process that reads them cannot be started "
                f"({error.strerror or error})."
            ) from error

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def ask(self, requests: Sequence[Request]) -> bool:
        """Hand it files; false if it is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frames.encode(list(requests)))
            self._process.stdin.flush()
        except OSError:
            return False
        return True

    def answer(self, size: int) -> bytes | None:
        """The body of the next answer, about a file of that size; None if it ended instead."""
        assert self._process.stdout is not None
        self._deadline = time.monotonic() + self.limits.seconds_for(size) + _GRACE_S
        try:
            return frames.read_frame(cast("BinaryIO", self._process.stdout))
        except (ProtocolError, OSError):
            return None
        finally:
            self._deadline = float("inf")

    def end_if_late(self) -> None:
        """End it if the file at hand takes too long."""
        if time.monotonic() > self._deadline:
            self._late = True
            self._process.kill()

    def why_it_ended(self, size: int) -> str:
        """One clause about the file that it was reading; empty if it ended for want of work."""
        code = self._code()
        if code == 0:
            return ""
        if code == BROKEN_LOCK:
            return "reading it tried to run code; refused"
        if self._late or (sys.platform != "win32" and code == -signal.SIGALRM):
            return f"reading it took longer than {self.limits.seconds_for(size):.0f} s"
        return "its reader crashed: the file is damaged, or made to do that"

    def _code(self) -> int:
        try:
            return self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:  # it closed its pipe, or wrote something else than answers
            self._process.kill()
            return self._process.wait()

    def report(self) -> Report:
        """What it has used so far.

        Raises:
            CheckpointError: it has ended.
        """
        body = self.answer(0) if self.ask([Request(b"")]) else None
        if body is None:
            raise CheckpointError("The process that reads checkpoints has ended.")
        return msgspec.msgpack.decode(body, type=Report)

    def stop(self) -> None:
        """Make it end; whoever waits for its answer gets none."""
        self._process.kill()

    def end(self) -> None:
        """Make it end and take away what is left of it."""
        self._process.kill()
        with contextlib.suppress(OSError), self._process:  # what it was not given any more stays in the pipe
            pass


def _command(limits: Limits) -> list[str]:
    how = ["-P", "-m", "landscope.checkpoints.guarded.child"]
    if getattr(sys, "frozen", False):
        how = ["--role=checkpoints"]
    numbers = [f"--memory={limits.memory}", f"--seconds={limits.seconds}", f"--idle={limits.idle}"]
    return [sys.executable, *how, *numbers]


_idle: list[ChildProcess] = []  # the children without work
_lock = threading.Lock()


def take(limits: Limits) -> ChildProcess:
    """A child that waits for work, else a new one.

    Raises:
        CheckpointError: it cannot be started.
    """
    with _lock:
        waiting, _idle[:] = list(_idle), []
        found = None
        for child in waiting:
            if not child.alive:
                child.end()
            elif found is None and child.limits == limits:
                found = child
            else:
                _idle.append(child)
    return found or ChildProcess(limits)


def give(child: ChildProcess) -> None:
    """Keep a child without work, which ends by itself if none comes; take away one that has ended."""
    if not child.alive:
        child.end()
        return
    with _lock:
        _idle.append(child)


def end_idle() -> None:
    """End all children without work."""
    with _lock:
        for child in _idle:
            child.end()
        _idle.clear()


atexit.register(end_idle)
