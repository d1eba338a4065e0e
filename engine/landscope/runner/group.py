"""The host and whatever its scripts start end together: they are one process group.

A group, never a new session: sessions are scheduled as a unit, which would cancel the host's niceness.
Windows has no groups; there the processes that a script started stay.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from os import _exit  # a running script has others of these in its modules
from signal import signal as set_handler

_killpg = getattr(os, "killpg", None)


def begin() -> None:
    """Make this process the head of a group of its own, which every process started from here on joins."""
    if sys.platform != "win32":
        with contextlib.suppress(PermissionError):  # the head of a session is that of a group already
            os.setpgid(0, 0)


def end_children() -> None:
    """Ask the other processes of the group to end. Only in the main thread, right before this one ends."""
    if _killpg and _is_head():
        set_handler(signal.SIGTERM, signal.SIG_IGN)
        _killpg(0, signal.SIGTERM)


def end_at_once() -> None:
    """End the whole group and this process, from any thread."""
    if _killpg and _is_head():
        _killpg(0, signal.SIGKILL)
    _exit(1)


def _is_head() -> bool:
    return sys.platform != "win32" and os.getpgrp() == os.getpid()
