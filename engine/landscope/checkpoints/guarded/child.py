"""The guarded child: describes checkpoint files for its parent.

Started as ``python -P -m landscope.checkpoints.guarded.child``.
A frame on stdin is a list of files, each is answered by one frame on stdout, in order. Memory and time are
limited, and after the start nothing is imported, written or started any more (see ``limits``). It ends with
its parent, whose end of stdin closes, and by itself when it was idle for a while.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from landscope.checkpoints.guarded.describe import TOO_LARGE, describe, describe_optimizers
from landscope.checkpoints.guarded.facts import FileFacts
from landscope.checkpoints.guarded.limits import Limits, lock
from landscope.contract import frames

_LARGEST_ANSWER = 512 << 20
_ANYBODY = 32 << 20
_PER_BYTE = 8
"""Bytes that the answer about any file may have, and more for each of its own: a pickle can repeat itself."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    """A file to describe: its path and size, and up to how many bytes of tensors are read to be checked.

    An empty path asks for a ``Report`` instead. ``optimizers``: their state is described, not weights.
    """

    path: bytes
    size: int = 0
    check: int = 0
    optimizers: bool = False


_requests = msgspec.msgpack.Decoder(list[Request])  # making one runs code, which the lock forbids


class Report(msgspec.Struct, frozen=True, array_like=True):
    """What the child has used so far.

    Attributes:
        peak: most memory ever resident, bytes; 0 = unknown. modules: imported since the lock.
    """

    peak: int
    modules: tuple[str, ...]


def serve(source: BinaryIO, target: BinaryIO, limits: Limits) -> None:
    """Answer until the parent is gone."""
    before = frozenset(sys.modules)
    while (body := _next(source, limits.idle)) is not None:
        for request in _requests.decode(body):
            _end_after(limits.seconds_for(request.size))
            answer = _answer(request) if request.path else frames.encode(_report(before))
            _end_after(0)
            target.write(answer)


def _next(source: BinaryIO, idle: float) -> bytes | None:
    """The next frame; without one for a while this process ends."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    _end_after(idle)
    body = frames.read_frame(source)
    _end_after(0)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return body


def _answer(request: Request) -> bytes:
    try:
        path = Path(os.fsdecode(request.path))
        facts = describe_optimizers(path) if request.optimizers else describe(path, check=request.check)
        answer = frames.encode(facts)
        if len(answer) <= min(_LARGEST_ANSWER, _ANYBODY + _PER_BYTE * sum(part.size for part in facts.parts)):
            return answer
        reason = TOO_LARGE
    except MemoryError:
        reason = TOO_LARGE
    except Exception as error:  # a file may provoke anything; the parent learns which
        reason = f"cannot be described ({type(error).__name__})"
    return frames.encode(FileFacts(state="skipped", reason=reason))


def _end_after(seconds: float) -> None:
    """End this process then, whatever it is doing; 0 = never. Without alarms (Windows) the parent watches."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _report(before: frozenset[str]) -> Report:
    return Report(_peak(), tuple(sorted(set(sys.modules) - before)))


def _peak() -> int:
    """Only Linux tells; getrusage() would tell the parent's memory at the fork."""
    try:
        told = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return int(told.partition("VmHWM:")[2].split()[0]) << 10


def main(argv: list[str] | None = None) -> int:
    """Serve a parent over stdin and stdout."""
    parser = argparse.ArgumentParser(prog="landscope.checkpoints.guarded.child")
    parser.add_argument("--memory", type=int, default=Limits.memory)
    parser.add_argument("--seconds", type=float, default=Limits.seconds)
    parser.add_argument("--idle", type=float, default=Limits.idle)
    options = parser.parse_args(argv)
    limits = Limits(options.memory, options.seconds, options.idle)
    source, target = sys.stdin.buffer, os.fdopen(1, "wb", buffering=0, closefd=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends its children
    gc.set_threshold(100_000)  # headers are trees, which go without it
    lock(limits)
    serve(source, target, limits)
    return 0


if __name__ == "__main__":
    sys.exit(main())
