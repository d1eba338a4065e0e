"""The engine host: a process that runs jobs for a window, ``python -P -m landscope.runner.host``.

Frames come in on stdin and go out on stdout (see contract/frames.py). The main thread reads commands, one
worker thread runs jobs, one thread writes. The end of stdin means that the window is gone: the host leaves
too, whatever the script is doing. Roles: ``engine`` runs scripts; ``reader`` never does, has bounded memory
and time, and reads foreign sessions and checkpoints.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import platform
import sys
import threading
import traceback
import warnings
from collections import deque
from os import _exit  # a running script has another one
from typing import BinaryIO

import landscope
from landscope.contract import frames
from landscope.contract.events import (
    PROTOCOL,
    AnyBody,
    Cancelled,
    Event,
    Failed,
    Hello,
    Log,
    Paused,
    Resumed,
)
from landscope.contract.job import (
    AnyCommand,
    AnyJob,
    CancelJob,
    CancelToken,
    CandidatesJob,
    ListJob,
    PauseJob,
    ReadSessionJob,
    ResumeJob,
    RunJob,
)
from landscope.runner import group
from landscope.runner.bench import DEFAULT_THREADS, Bench
from landscope.runner.pipes import EventWriter, take_pipes
from landscope.runner.run import run_job
from landscope.runner.streams import LogStream

_READER_JOBS = (ReadSessionJob, ListJob, CandidatesJob)
_READER_MEMORY = 8 << 30
_LEAVING_S = 2.0


class Queue:
    """Jobs waiting and the one running; told from the command thread, asked from the worker."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._waiting: deque[tuple[str, AnyJob]] = deque()
        self._tokens: dict[str, CancelToken] = {}
        self._closed = False
        self.running = ""

    def add(self, name: str, job: AnyJob) -> None:
        """Queue a job."""
        with self._change:
            self._waiting.append((name, job))
            self._tokens[name] = CancelToken()
            self._change.notify()

    def next(self) -> tuple[str, AnyJob, CancelToken] | None:
        """Wait for the next job; None once closed."""
        with self._change:
            self._change.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            self.running, job = self._waiting.popleft()
            return self.running, job, self._tokens[self.running]

    def finished(self, name: str) -> None:
        """The worker is done with a job."""
        with self._change:
            self._tokens.pop(name, None)
            self.running = ""

    def token(self, name: str) -> CancelToken | None:
        """The token of a waiting or running job."""
        with self._change:
            return self._tokens.get(name)

    def drop(self, name: str) -> bool:
        """Take a job out of the queue; False if it is not waiting."""
        with self._change:
            waiting = [item for item in self._waiting if item[0] == name]
            for item in waiting:
                self._waiting.remove(item)
                self._tokens.pop(name, None)
            return bool(waiting)

    def close(self) -> None:
        """Cancel everything and let the worker end."""
        with self._change:
            self._closed = True
            for token in self._tokens.values():
                token.cancel()
            self._change.notify_all()


class Host:
    """Obeys commands and sends events."""

    def __init__(self, source: BinaryIO, target: BinaryIO, role: str, threads: int) -> None:
        self._source = source
        self._role = role
        self._threads = threads
        self._queue = Queue()
        self._writer = EventWriter(target, gone=group.end_at_once)
        self._worker = threading.Thread(target=self._work, name="worker", daemon=True)

    def run(self) -> None:
        """Say hello, then obey until the end of stdin or Shutdown."""
        sys.stdout = LogStream(lambda text: self._say(Log(stream="stdout", text=text)))
        sys.stderr = LogStream(lambda text: self._say(Log(stream="stderr", text=text)))
        self._say(_hello(self._role))
        self._worker.start()
        commands = frames.decoder(AnyCommand)
        while (body := frames.read_frame(self._source)) is not None:
            command = commands.decode(body)
            if isinstance(command, RunJob | CancelJob | PauseJob | ResumeJob):
                self._obey(command)
            else:
                break
        self._leave()

    def _say(self, body: AnyBody, job: str | None = None) -> None:
        self._writer.send(Event(self._queue.running if job is None else job, body))

    def _obey(self, command: RunJob | CancelJob | PauseJob | ResumeJob) -> None:
        if isinstance(command, RunJob):
            self._queue.add(command.id, command.job)
        elif isinstance(command, CancelJob) and self._queue.drop(command.id):
            self._say(Cancelled(), command.id)
        elif (token := self._queue.token(command.id)) is not None:
            self._tell(token, command)

    def _tell(self, token: CancelToken, command: CancelJob | PauseJob | ResumeJob) -> None:
        if isinstance(command, CancelJob):
            token.cancel()
        elif isinstance(command, PauseJob):
            token.pause()
            self._say(Paused(), command.id)
        else:
            token.resume()
            self._say(Resumed(), command.id)

    def _work(self) -> None:
        bench = Bench(self._threads)
        while (item := self._queue.next()) is not None:
            name, job, token = item
            if self._role == "reader" and not isinstance(job, _READER_JOBS):
                self._say(Failed(sentence="The reader process never runs scripts; ask an engine host."), name)
            else:
                self._do(name, job, bench, token)
            self._queue.finished(name)

    def _do(self, name: str, job: AnyJob, bench: Bench, token: CancelToken) -> None:
        try:
            for event in run_job(name, job, bench, token):
                self._writer.send(event)
        except Exception as error:  # a result that no frame can hold: the window must not wait for ever
            sentence = f"The result of {name} could not be sent ({type(error).__name__}: {error})."
            self._say(Failed(sentence=sentence, detail=traceback.format_exc()), name)

    def _leave(self) -> None:
        """Go, within two seconds, whatever the script is doing."""
        self._queue.close()
        self._worker.join(_LEAVING_S)
        self._writer.close()
        group.end_children()
        _exit(0)


def _hello(role: str) -> Hello:
    torch_version = ""
    devices: tuple[str, ...] = ("cpu",)
    if role == "engine":
        try:
            import torch

            from landscope.project.device import available_devices

            torch_version, devices = str(torch.__version__), available_devices()
        except ImportError:
            pass
    return Hello(
        protocol=PROTOCOL,
        version=landscope.__version__,
        python=platform.python_version(),
        torch=torch_version,
        devices=devices,
        role=role,
        pid=os.getpid(),
    )


def _be_modest(nice: int, role: str) -> None:
    """Leave the cores to the window; bound the reader's memory."""
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    if role == "reader" and sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = _READER_MEMORY if hard == resource.RLIM_INFINITY else min(_READER_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def main(argv: list[str] | None = None) -> int:
    """Run a host until its window is gone."""
    parser = argparse.ArgumentParser(prog="landscope.runner.host")
    parser.add_argument("--role", choices=("engine", "reader"), default="engine")
    parser.add_argument("--nice", type=int, default=0, help="added to the process's niceness")
    parser.add_argument("--threads", type=int, default=DEFAULT_THREADS, help="intra-op threads")
    options = parser.parse_args(argv)
    group.begin()
    _be_modest(options.nice, options.role)
    source, target = take_pipes()
    warnings.simplefilter("default")
    faulthandler.enable(2)  # a crash in native code leaves its traceback where the window looks
    try:
        Host(source, target, options.role, options.threads).run()
    finally:
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    return 0


if __name__ == "__main__":
    sys.exit(main())
