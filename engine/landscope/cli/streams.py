"""Standard streams that the caller has closed lead nowhere, so that nothing else takes their places."""

from __future__ import annotations

import os
import sys


def replace_closed_streams() -> None:
    """Open what is closed; else the next file that is opened would be written to as standard error."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115  stays open
            if stream.fileno() != number and not _is_open(number):
                os.dup2(stream.fileno(), number)
            setattr(sys, name, stream)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
