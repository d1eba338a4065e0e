"""What nobody caught is told in the quiet panel and the log, and never ends the program."""

from __future__ import annotations

import faulthandler
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

Tell = Callable[[str, str, str], None]
_SEVERE = (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)


class Faults(QObject):
    """Hooks for exceptions of the GUI thread, of threads and of Qt itself.

    Signals:
        told(str, str, str): level, sentence, detail; arrives in the GUI thread from any thread.
    """

    told = Signal(object, object, object)

    def install(self) -> None:
        """Put the hooks in place; also a stack on stderr if the program crashes in native code."""
        if sys.stderr is not None:
            faulthandler.enable()
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread
        qInstallMessageHandler(self._from_qt)

    def remove(self) -> None:
        """Take the hooks away."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        detail = "".join(traceback.format_exception(kind, error, trace))
        if sys.stderr is not None:
            sys.stderr.write(detail)
        self.told.emit("error", sentence_for(error), detail)

    def _uncaught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._uncaught(args.exc_type, args.exc_value, args.exc_traceback)

    def _from_qt(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(f"Qt: {text}\n")
        if kind in _SEVERE:
            self.told.emit("error", f"The graphics toolkit reports: {text}", "")


def sentence_for(error: BaseException) -> str:
    """One sentence for an exception that nobody expected."""
    said = " ".join(str(error).split())[:200]
    return f"Something went wrong inside Landscope ({type(error).__name__}: {said}); your results stay."
