"""The end of the command line: what a script left running, or does at exit, does not hold it up."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time

_PATIENCE_S = 2.0


def leave_in_time(code: int) -> None:
    """If the process has not ended in two seconds, say what is still there and end it with ``code``."""
    threading.Thread(target=_leave_late, args=(code,), daemon=True).start()


def _leave_late(code: int) -> None:
    time.sleep(_PATIENCE_S)
    children = multiprocessing.active_children()
    threads = [one for one in threading.enumerate() if not (one.daemon or one is threading.main_thread())]
    left = [f"thread {one.name}" for one in threads] + [f"process {one.pid}" for one in children]
    names = ", ".join(left[:3]) or "a function at exit"
    more = f" and {len(left) - 3} more" if len(left) > 3 else ""
    print(f"The script left something running ({names}{more}): it is ended.", file=sys.stderr, flush=True)
    for child in children:
        child.kill()
    os._exit(code)
