"""What the script prints becomes log events, at a bounded rate: endless printing fills nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from landscope.project.running.printing import Printed

LINES_PER_SECOND = 50
LONGEST_LINE = 2000


class LogStream(Printed):
    """A text stream that hands complete lines to ``say``.

    At most LINES_PER_SECOND lines leave; the rest is counted and said in one line. A carriage return
    starts the line again, so that progress bars arrive as their last state.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._lock = threading.Lock()
        self._line = ""
        self._second = 0
        self._said = 0
        self._dropped = 0

    def write(self, text: str) -> int:
        """Take text; complete lines leave at once."""
        with self._lock:
            *lines, rest = (self._line + text).split("\n")
            for line in lines:
                self._leave(line)
            self._line = rest.rsplit("\r", 1)[-1][-LONGEST_LINE:]
        return len(text)

    def flush(self) -> None:
        """Nothing to do: lines leave when they end."""

    def _leave(self, line: str) -> None:
        line = line.rstrip("\r").rsplit("\r", 1)[-1][:LONGEST_LINE]
        if not line.strip():
            return
        second = int(self._clock())
        if second != self._second:
            dropped, self._second, self._said, self._dropped = self._dropped, second, 0, 0
            if dropped:
                self._say(f"… {dropped} more lines")
        if self._said < LINES_PER_SECOND:
            self._said += 1
            self._say(line)
        else:
            self._dropped += 1
