"""A file that one process holds as long as it lives: the system lets go of it even after a kill."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class HeldLock:
    """A lock that is ours until ``release`` or the end of the process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def release(self, *, remove: bool = False) -> None:
        """Let go; ``remove`` deletes the file too. Does nothing the second time."""
        if self._descriptor < 0:
            return
        if remove and sys.platform != "win32":
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1
        if remove and sys.platform == "win32":
            self.path.unlink(missing_ok=True)


def try_lock(path: Path) -> HeldLock | None:
    """Hold the lock file at ``path``; None when another holder lives.

    Raises:
        OSError: the file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor)
    except OSError:
        os.close(descriptor)
        return None
    return HeldLock(path, descriptor)


def _lock(descriptor: int) -> None:
    """Lock without waiting; raises OSError (BlockingIOError, PermissionError) when it is held."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
