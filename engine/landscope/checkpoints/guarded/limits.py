"""What the guarded child may use; everything else (imports, writing, processes, network) ends it."""

from __future__ import annotations

import encodings.cp437
import encodings.utf_8_sig
import encodings.utf_16
import encodings.utf_16_be
import encodings.utf_16_le
import encodings.utf_32
import encodings.utf_32_be
import encodings.utf_32_le  # noqa: F401  what decoding may need is there before the lock
import os
import sys
from dataclasses import dataclass
from typing import Any

BROKEN_LOCK = 86
"""Exit code of a child that did something a reader never does."""
_BYTES_PER_S = 50 << 20


@dataclass(frozen=True)
class Limits:
    """What describing one file may cost.

    Attributes:
        memory: bytes of address space of the child. seconds: time per file, besides a share for its size.
        idle: seconds after which a child without work ends itself.
    """

    memory: int = 1 << 30
    seconds: float = 20.0
    idle: float = 10.0

    def seconds_for(self, size: int) -> float:
        """Time for a file of that many bytes."""
        return self.seconds + size / _BYTES_PER_S


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_READING = ("os.listdir", "os.scandir")
_FORBIDDEN = (
    "compile",
    "ctypes.",
    "exec",
    "ftplib.",
    "http.",
    "import",
    "marshal.",
    "mmap.",
    "msvcrt.",
    "os.",
    "pty.",
    "shutil.",
    "socket.",
    "sqlite3.",
    "subprocess.",
    "sys.addaudithook",
    "sys.setprofile",
    "sys.settrace",
    "syslog.",
    "tempfile.",
    "urllib.",
    "webbrowser.",
    "winreg.",
    "_winapi.",
)


def lock(limits: Limits) -> None:
    """From here on this process only computes and reads files; anything else ends it at once."""
    if sys.platform != "win32":
        _limit_resources(limits.memory)
    sys.addaudithook(_end_if_forbidden)


def _limit_resources(memory: int) -> None:
    import resource

    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0}
    if sys.platform == "linux":  # macOS does not keep to it
        limits[resource.RLIMIT_AS] = memory
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))


def _end_if_forbidden(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        _, mode, flags = arguments
        if not (isinstance(flags, int) and flags & _WRITING) and not (mode and set(mode) & set("wax+")):
            return
    elif not event.startswith(_FORBIDDEN) or event in _READING:
        return
    os._exit(BROKEN_LOCK)
