"""One host process and its three pipes. Knows no Qt; every blocking call has a thread of its own."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import IO, BinaryIO, cast

from landscope.contract.errors import LandscopeError
from landscope.contract.events import Event
from landscope.contract.frames import decoder, encode, read_frame
from landscope.contract.job import AnyCommand
from landscope_app.hosts.spawn import end, spawn

_WAITING_EVENTS = 4096
_STDERR_LINES = 200


class HostProcess:
    """Starts a host, writes commands to it and reads events from it, until it dies or is stopped.

    ``arrived`` is called from a thread, without arguments, whenever ``take`` has something new; ``ended``
    once, from a thread, with a sentence (empty when it was asked to go) and what it last wrote to stderr.
    ``ready`` is a process that ``spawn`` started earlier with the same command.
    At most ``_WAITING_EVENTS`` events wait here; beyond that the pipe fills and the host waits.
    """

    def __init__(
        self,
        command: list[str],
        arrived: Callable[[], None],
        ended: Callable[[str, str], None],
        environment: Mapping[str, str] | None = None,
        ready: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self._ready = ready
        self._command = command
        self._arrived = arrived
        self._ended = ended
        self._environment = environment
        self._events: queue.Queue[Event] = queue.Queue(_WAITING_EVENTS)
        self._commands: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._process: subprocess.Popen[bytes] | None = None
        self._started = threading.Event()
        self._closing = False
        self._lock = threading.Lock()
        self._broken: str = ""
        self._threads = [threading.Thread(target=self._live, name="host-life", daemon=True)]

    def start(self) -> None:
        """Start the process; returns at once."""
        self._threads[0].start()

    def send(self, command: AnyCommand) -> None:
        """Write a command as soon as the pipe takes it; returns at once."""
        self._commands.put(encode(command))

    def take(self, most: int = 512) -> list[Event]:
        """The events that have arrived, oldest first, at most ``most``."""
        found: list[Event] = []
        with contextlib.suppress(queue.Empty):
            while len(found) < most:
                found.append(self._events.get_nowait())
        return found

    @property
    def empty(self) -> bool:
        """Whether nothing waits to be taken."""
        return self._events.empty()

    @property
    def pid(self) -> int:
        """Process id, 0 before the process is there."""
        return self._process.pid if self._process is not None else 0

    def close(self) -> None:
        """Ask it to go: close its input; it is killed if it stays longer than ``wait`` allows."""
        self._closing = True
        self._commands.put(None)

    def kill(self) -> None:
        """End the process now."""
        with self._lock:
            self._closing = self._closing or self._process is None
            if self._process is not None:
                end(self._process)

    def wait(self, seconds: float) -> bool:
        """Wait until process and threads are gone; whether they are."""
        for thread in self._threads:
            if thread.ident is not None and thread is not threading.current_thread():
                thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)

    def _live(self) -> None:
        """Start the process, watch it die, tell. Death is the process's exit, not the end of a pipe."""
        if not self._spawn():
            return
        process = self._process
        assert process is not None
        helpers = [
            threading.Thread(target=work, args=(process,), name=name, daemon=True)
            for work, name in (
                (self._read, "host-read"),
                (self._write, "host-write"),
                (self._drain, "host-err"),
            )
        ]
        self._threads += helpers
        for thread in helpers:
            thread.start()
        code = process.wait()
        self._commands.put(None)
        helpers[0].join(2.0)
        for thread in helpers:
            thread.join(0.5)
        self._ended(self._obituary(code), "\n".join(self._said))

    def _spawn(self) -> bool:
        with self._lock:
            if self._closing:
                self._ended("", "")
                return False
            try:
                self._process = self._ready or spawn(self._command, self._environment)
            except OSError as error:
                self._ended(f"The engine could not be started with {self._command[0]} ({error.strerror})", "")
                return False
        return True

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        events = decoder(Event)
        try:
            while (body := read_frame(cast(BinaryIO, process.stdout))) is not None:
                self._put(events.decode(body))
                self._arrived()
        except (LandscopeError, ValueError, OSError) as error:
            if not self._closing and process.poll() is None:
                self._broken = f"The engine said something that cannot be understood ({error})"
                process.kill()
        _close(process.stdout)

    def _put(self, event: Event) -> None:
        while not self._closing:
            with contextlib.suppress(queue.Full):
                self._events.put(event, timeout=0.2)
                return

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            while (frame := self._commands.get()) is not None:
                process.stdin.write(frame)
                process.stdin.flush()
        _close(process.stdin)

    def _drain(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while line := process.stderr.readline(8192):
                self._said.append(line.decode("utf-8", "replace").rstrip())
        _close(process.stderr)

    def _obituary(self, code: int) -> str:
        if self._broken:
            return self._broken
        if self._closing:
            return ""
        # the sentence is finished by whoever knows what happens next
        how = f"was killed by signal {-code}" if code < 0 else f"ended by itself with exit code {code}"
        return f"The engine process {how}"


def _close(pipe: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        pipe.close()
