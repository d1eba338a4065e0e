"""What is known of files that were described before and have not changed, so that no job reads them twice."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from pathlib import Path

from landscope.checkpoints.guarded.describe import SETTLED_S
from landscope.checkpoints.guarded.facts import FileFacts, Part

_BUDGET = 64 << 20


class Known:
    """Answers of the child by path, the oldest forgotten first; used from several threads."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._room = budget
        self._answers: OrderedDict[bytes, tuple[tuple[Part, ...], bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, part: Part) -> bytes | None:
        """The answer about a file that is now as ``part`` says, None if there is none that still holds."""
        with self._lock:
            parts, body = self._answers.get(part.path, ((), b""))
        if part not in parts or not all(one is part or _unchanged(one, part) for one in parts):
            return None
        return body

    def keep(self, path: bytes, facts: FileFacts, body: bytes) -> None:
        """Remember an answer, unless one of its files may still change unnoticed."""
        latest = max((part.mtime_ns for part in facts.parts), default=0)
        if not facts.parts or time.time() - latest / 1e9 < SETTLED_S or len(body) > self._room // 8:
            return
        with self._lock:
            self._forget(path)
            self._answers[path] = (facts.parts, body)
            self._room -= len(body)
            while self._room < 0:
                self._forget(next(iter(self._answers)))

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            for path in list(self._answers):
                self._forget(path)

    def _forget(self, path: bytes) -> None:
        _, body = self._answers.pop(path, ((), b""))
        self._room += len(body)


def _unchanged(part: Part, looked_at: Part) -> bool:
    """Whether a file is as it was; the one just looked at is not looked at again."""
    if part.path == looked_at.path:
        return part == looked_at
    try:
        return Part.of(Path(part.file)) == part
    except OSError:
        return False
