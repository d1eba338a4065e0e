"""Starting a host process. Imports nothing heavy: the first host is started before Qt is imported."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

_NICE = 10


def host_command(role: str, python: str = "") -> list[str]:
    """How a host is started: in the project's interpreter, else in this program's own."""
    if not python and getattr(sys, "frozen", False):
        return [sys.executable, f"--role={role}"]
    return [python or sys.executable, "-P", "-m", "landscope.runner.host", f"--role={role}"]


def spawn(command: Sequence[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a process with three pipes, at a priority that leaves the window its core.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if environment is None else {**os.environ, **environment},
        **_quiet_on_windows(),
    )
    _be_nice(process.pid)
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a host and, where there are process groups, whatever its script started (see runner/group.py)."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # too young to head a group
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()


def _quiet_on_windows() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
    return {}


def _be_nice(pid: int) -> None:
    """Let drawing keep its core. Set before the child makes threads, which inherit it."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, _NICE)
