"""Warnings of libraries that a script uses: they belong in the session's log, not among the results."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from landscope.session.recorder import Recorder


@contextmanager
def warnings_logged(recorder: Recorder, *, shown: bool) -> Iterator[None]:
    """Inside, Python's warnings go to the session's log, and to standard error only if ``shown``."""

    def log(
        message: Any,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = warnings.formatwarning(message, category, filename, lineno, line)
        recorder.log("stderr", text.rstrip())
        if shown:
            print(text, end="", file=file or sys.stderr)

    before, warnings.showwarning = warnings.showwarning, log
    try:
        yield
    finally:
        warnings.showwarning = before
