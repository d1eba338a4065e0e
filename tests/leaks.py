"""Finds what a test leaves behind: threads, child processes and, where Qt is loaded, timers and windows."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 3.0
"""How long something that is just ending may take to end."""


def leaked(before: dict[str, set[object]]) -> list[str]:
    """Name what is there now and was not ``before``, after giving it time to end."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = [f"{kind}: {thing!r}" for kind, look in LOOKS.items() for thing in look() - before[kind]]
        if not found or time.monotonic() > deadline:
            return found
        gc.collect()
        _let_qt_work()
        time.sleep(0.01)


def present() -> dict[str, set[object]]:
    """Everything that a test could leave behind and that is already there."""
    return {kind: look() for kind, look in LOOKS.items()}


def _threads() -> set[object]:
    # A thread that Python did not start (Qt, OpenMP) stays listed as a dummy after its end.
    return {t for t in threading.enumerate() if not isinstance(t, threading._DummyThread)}


def _children() -> set[object]:
    """Process ids of living children; Linux only. A zombie has ended and holds nothing."""
    if not sys.platform.startswith("linux"):
        return set()
    found: set[object] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            numbers = (task / "children").read_text().split()
        except OSError:
            continue  # the thread has ended meanwhile
        found |= {int(number) for number in numbers if not _is_zombie(number)}
    return found


def _is_zombie(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(") ", 1)[1].startswith("Z")
    except OSError:
        return True


def _qt_threads() -> set[object]:
    return _alive_qt("QThread", lambda thread: thread.isRunning())


def _qt_timers() -> set[object]:
    """Running timers. One with a parent ends with it, and the parent is looked for itself."""
    return _alive_qt("QTimer", lambda timer: timer.isActive() and timer.parent() is None)


def _alive_qt(name: str, runs: Callable[[object], bool]) -> set[object]:
    core = sys.modules.get("PySide6.QtCore")
    if core is None or core.QCoreApplication.instance() is None:
        return set()
    from shiboken6 import isValid

    kind = getattr(core, name)
    # type(), not isinstance(): some objects answer __class__ by importing something.
    things = [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]
    return {thing for thing in things if isValid(thing) and runs(thing)}


def _windows() -> set[object]:
    """Top-level widgets without a parent; a popup that belongs to a window dies with it."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or not isinstance(widgets.QApplication.instance(), widgets.QApplication):
        return set()
    return {widget for widget in widgets.QApplication.topLevelWidgets() if widget.parent() is None}


def _let_qt_work() -> None:
    core = sys.modules.get("PySide6.QtCore")
    if core is not None and core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
        core.QCoreApplication.processEvents()


LOOKS: dict[str, Callable[[], set[object]]] = {
    "a thread": _threads,
    "a child process": _children,
    "a running QThread": _qt_threads,
    "a running QTimer": _qt_timers,
    "a window": _windows,
}
