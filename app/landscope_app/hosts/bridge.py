"""A host process as the window sees it: commands in, batches of events out, death as a sentence."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping

from PySide6.QtCore import QObject, QTimer, Signal

from landscope.contract.events import Hello
from landscope.contract.job import AnyCommand
from landscope_app.hosts.process import HostProcess
from landscope_app.hosts.spawn import host_command

INTERVAL_S = 1 / 30


class EngineHost(QObject):
    """One host process. All methods return at once; signals arrive in the GUI thread.

    Signals:
        events(list[Event]): at most 30 batches a second, in order.
        hello(Hello): the host is there and understands us.
        died(str, str): sentence and last words; an empty sentence means that it was asked to go.
    """

    events = Signal(object)
    hello = Signal(object)
    died = Signal(object, object)
    _arrived = Signal()
    _ended = Signal(object, object, object)

    def __init__(
        self,
        role: str = "engine",
        python: str = "",
        parent: QObject | None = None,
        command: list[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(parent)
        self.role = role
        self._command = command or host_command(role, python)
        self._environment = environment
        self._process: HostProcess | None = None
        self._ready: subprocess.Popen[bytes] | None = None
        self._flushed = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._flush)
        self._arrived.connect(self._schedule)
        self._ended.connect(self._bury)

    @property
    def alive(self) -> bool:
        """Whether a process is there or on its way."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """Process id of the host, 0 while there is none."""
        return self._process.pid if self._process is not None else 0

    def adopt(self, ready: subprocess.Popen[bytes]) -> None:
        """Use a process that was started earlier with the same command, the first time one is needed."""
        self._ready = ready

    def start(self) -> None:
        """Start the process, if there is none."""
        if self._process is not None:
            return
        ready, self._ready = self._ready, None
        process = HostProcess(
            self._command,
            self._arrived.emit,
            lambda *last: self._ended.emit(process, *last),
            self._environment,
            ready,
        )
        self._process = process
        process.start()

    def send(self, command: AnyCommand) -> None:
        """Give a command to the host; starts it where it is not running."""
        self.start()
        assert self._process is not None
        self._process.send(command)

    def stop_now(self) -> None:
        """Kill the process; ``died`` follows."""
        if self._process is not None:
            self._process.kill()

    def close(self, seconds: float = 1.0) -> None:
        """End the process when the window closes: it may go by itself for ``seconds``, then it is killed."""
        process, self._process = self._process, None
        self._timer.stop()
        if process is None:
            return
        process.close()
        if not process.wait(seconds):
            process.kill()
            process.wait(2.0)

    def _schedule(self) -> None:
        if not self._timer.isActive():
            wait = INTERVAL_S - (time.monotonic() - self._flushed)
            self._timer.start(max(0, round(wait * 1000)))

    def _flush(self) -> None:
        process = self._process
        if process is None:
            return
        self._flushed = time.monotonic()
        batch = process.take()
        for event in batch:
            if isinstance(event.body, Hello):
                self.hello.emit(event.body)
        if batch:
            self.events.emit(batch)
        if not process.empty:
            self._schedule()

    def _bury(self, process: HostProcess, sentence: str, detail: str) -> None:
        if process is not self._process:
            return
        while not process.empty:
            self._flush()
        self._timer.stop()
        self._process = None
        self.died.emit(sentence, detail)
