"""Streams that stand in for standard input, output and error while a script runs."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_CAPTURED = 16_384


class Printed(io.TextIOBase):
    """A text stream to write to, with what scripts ask of a real one: bytes, an encoding, a descriptor."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Scripts ask for it."""
        return "utf-8"

    @property
    def buffer(self) -> io.RawIOBase:
        """Takes bytes; scripts wrap it into a stream of another encoding."""
        return _Bytes(self)

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """The process's standard error, for what can only write to a descriptor."""
        return 2

    def reconfigure(self, **_changes: Any) -> None:
        """Scripts choose encodings and buffering; neither matters here."""


class _Bytes(io.RawIOBase):
    """Bytes for a text stream. Closing it, as a dropped wrapper does, closes nothing else."""

    def __init__(self, text: Printed) -> None:
        super().__init__()
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        taken = bytes(data)
        self._text.write(taken.decode("utf-8", errors="replace"))
        return len(taken)

    def fileno(self) -> int:
        return self._text.fileno()


class Echo:
    """Keeps the first 16 KiB of what is printed, such as the usage of argparse, and passes all of it on."""

    def __init__(self) -> None:
        self._kept = ""

    def keep(self, text: str) -> None:
        """Take what was printed."""
        self._kept += text[: _CAPTURED - len(self._kept)]

    def text(self) -> str:
        """What was kept."""
        return self._kept

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Stand in for standard output and error."""
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (_Through(stream, self) for stream in before)
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


class _Through(Printed):
    """Passes on to a stream; loggers that were made while it stood there go on using it."""

    def __init__(self, stream: TextIO | None, echo: Echo) -> None:
        self._stream, self._echo = stream, echo

    def write(self, text: str) -> int:
        self._echo.keep(text)
        return self._stream.write(text) if self._stream else len(text)

    def flush(self) -> None:
        if self._stream:
            self._stream.flush()


def closed_input() -> io.TextIOWrapper:
    """A standard input that is at its end: ``input()`` raises EOFError instead of waiting for ever."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
