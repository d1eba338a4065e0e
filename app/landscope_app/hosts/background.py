"""Small pieces of file work off the GUI thread, each in a thread of its own, answered in the GUI thread."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from landscope.contract.errors import LandscopeError


class Background(QObject):
    """Runs functions in threads and hands their results back through the event loop.

    ``failed(sentence, detail)`` is used when the caller gave no ``failed`` of its own.
    """

    failed = Signal(object, object)
    _back = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads: set[threading.Thread] = set()
        self._back.connect(lambda answer, value: answer(value))

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[LandscopeError], None] | None = None,
    ) -> None:
        """Call ``work()`` in a thread, then ``done(result)`` or ``failed(error)`` in the GUI thread."""
        thread = threading.Thread(target=self._work, args=(work, done, failed or self._tell), daemon=True)
        self._threads = {t for t in self._threads if t.is_alive()} | {thread}
        thread.start()

    def wait(self, seconds: float = 5.0) -> None:
        """Wait for what still runs (the window closes)."""
        for thread in self._threads:
            thread.join(seconds)

    def _work(
        self, work: Callable[[], Any], done: Callable[[Any], None], failed: Callable[[LandscopeError], None]
    ) -> None:
        try:
            result = work()
        except LandscopeError as error:
            self._back.emit(failed, error)
        except Exception as error:  # told in a sentence, never swallowed
            sentence = f"Something unexpected happened ({type(error).__name__}: {error})."
            self._back.emit(failed, LandscopeError(sentence, traceback.format_exc()))
        else:
            self._back.emit(done, result)

    def _tell(self, error: LandscopeError) -> None:
        self.failed.emit(error.sentence, error.detail)
