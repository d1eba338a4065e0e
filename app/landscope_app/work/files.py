"""Session files: saved from a worker thread, read by the reader process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from landscope.contract import events as e
from landscope.contract.job import ReadSessionJob
from landscope.contract.options import ProjectSpec
from landscope.session.model import Session
from landscope_app.hosts.job_table import JobRow
from landscope_app.work.analyses import Analyses
from landscope_app.work.context import Context
from landscope_app.work.opening import still_trusted

ENDING = ".h5"


class SessionFiles(QObject):
    """Opens and saves the document.

    Signals:
        opened(dict): a session was read; the state of the window that was saved with it.
        saved(str): the session lies in this file.
        view_wanted(): put the state of the window into the session now (before it is saved).
    """

    opened = Signal(object)
    saved = Signal(object)
    view_wanted = Signal()

    def __init__(self, context: Context, analyses: Analyses, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._analyses = analyses
        self._reading: dict[str, tuple[Path, Session]] = {}
        context.engines.events.connect(self._take)
        context.engines.ended.connect(self._ended)

    def open(self, path: str) -> None:
        """Read a session in the reader process; the window follows when all of it is there."""
        file = Path(path).absolute()
        job_id = self._context.engines.submit("open-session", ReadSessionJob(path=str(file)))
        self._analyses.keep_private(job_id)
        self._reading[job_id] = (file, Session())

    def save(self, path: Path | None = None) -> None:
        """Write the session to ``path``, or where it already lies; returns at once."""
        target = path or self._context.document.path
        if target is None:
            raise ValueError("a session that was never saved needs a path")
        target = target if target.suffix else target.with_suffix(ENDING)
        self.view_wanted.emit()
        write = self._context.document.file_writer(target)
        self._context.background.run(write, self._was_saved, self._was_not_saved)

    def show_recovered(self, session: Session) -> None:
        """Show a session that a crash left unsaved."""
        self._show(session, None)
        self._context.document.write("info", "Recovered; save it to keep it.")
        self.opened.emit(session.view)

    def _was_saved(self, target: Path) -> None:
        context = self._context
        context.document.saved()
        context.settings.remember(str(target), "session", time.time())
        context.save_settings()
        context.document.write("info", f"Saved to {target}.")
        self.saved.emit(str(target))

    def _was_not_saved(self, error: Any) -> None:
        self._context.document.not_saved()
        self._context.tell("error", error.sentence, error.detail)

    def _take(self, batch: list[e.Event]) -> None:
        for event in batch:
            if event.job in self._reading and isinstance(event.body, e.Partial):
                self._reading[event.job][1].apply(event.body.delta)

    def _ended(self, row: JobRow) -> None:
        if row.id not in self._reading:
            return
        file, session = self._reading.pop(row.id)
        if row.state != "done":
            return
        try:
            session.adopt(row.answer)
        except msgspec.ValidationError as error:
            self._context.tell("error", f"{file.name} is no usable session ({error}).")
            return
        self._show(session, file)
        self._context.settings.remember(str(file), "session", time.time())
        self._context.save_settings()
        self.opened.emit(session.view)

    def _show(self, session: Session, file: Path | None) -> None:
        """Whether its project's code may run is asked of this person's list, never of the file."""
        project = session.project
        session.project = None if project is None else replace(project, trusted=False)
        self._context.engines.restart()
        self._analyses.forget()
        self._context.document.replace(session, file, unsaved=file is None)
        if project is not None:
            shown = session.project
            self._context.background.run(lambda: still_trusted(project), lambda yes: self._found(shown, yes))

    def _found(self, shown: ProjectSpec | None, trusted: bool) -> None:
        project = self._context.document.session.project
        if trusted and project is not None and project == shown:
            self._context.document.set_project(replace(project, trusted=True))
            if project.engine.python:
                self._context.engines.restart(project.engine.python)
