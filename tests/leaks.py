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
    while found := _new(before):
        gc.collect()
        _let_qt_work()
        time.sleep(0.01)
        if time.monotonic() > deadline:
            return _new(before)
    return found


def present(qt: bool = True) -> dict[str, set[object]]:
    """Everything that a test could leave behind and that is already there; ``qt``: what is Qt's too."""
    return {kind: look() for kind, look in {**LOOKS, **(QT_LOOKS if qt else {})}.items()}


def _new(before: dict[str, set[object]]) -> list[str]:
    looks = {**LOOKS, **QT_LOOKS}
    return [f"{kind}: {thing!r}" for kind, known in before.items() for thing in looks[kind]() - known]


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
    return found - _readers()


def _readers() -> set[object]:
    """Readers of checkpoints that are kept for the next listing; one that is still at work has leaked."""
    process = sys.modules.get("landscope.checkpoints.guarded.process")
    return {child._process.pid for child in process._idle} if process is not None else set()


def _is_zombie(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(") ", 1)[1].startswith("Z")
    except OSError:
        return True


def _running_in_qt() -> set[object]:
    """Running QThreads and QTimers. A timer with a parent ends with it, and windows are looked for too."""
    core = sys.modules.get("PySide6.QtCore")
    if core is None or core.QCoreApplication.instance() is None:
        return set()
    from shiboken6 import isValid

    kinds = (core.QThread, core.QTimer)
    # type(), not isinstance(): some objects answer __class__ by importing something.
    things = [thing for thing in gc.get_objects() if issubclass(type(thing), kinds) and isValid(thing)]
    return {
        thing
        for thing in things
        if (thing.isRunning() if isinstance(thing, core.QThread) else thing.isActive() and not thing.parent())
    }


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


LOOKS: dict[str, Callable[[], set[object]]] = {"a thread": _threads, "a child process": _children}
QT_LOOKS: dict[str, Callable[[], set[object]]] = {"running in Qt": _running_in_qt, "a window": _windows}
