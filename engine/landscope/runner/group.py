"""The host and whatever its scripts start end together: they are one process group.

A group, never a new session: sessions are scheduled as a unit, which would cancel the host's niceness.
Windows has no groups; there the processes that a script started stay.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from signal import signal as set_handler  # a running script has another signal.signal


def begin() -> None:
    """Make this process the head of a group of its own, which every process started from here on joins."""
    if sys.platform != "win32":
        with contextlib.suppress(PermissionError):  # the head of a session is that of a group already
            os.setpgid(0, 0)


def end_children() -> None:
    """Ask the other processes of the group to end. Only in the main thread, right before this one ends."""
    if sys.platform != "win32" and _is_head():
        set_handler(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)


def end_at_once() -> None:
    """End the whole group and this process, from any thread."""
    if sys.platform != "win32" and _is_head():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _is_head() -> bool:
    return sys.platform != "win32" and os.getpgrp() == os.getpid()
