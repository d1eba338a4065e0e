"""The one keeper of a session: takes in events, keeps the journal, saves without stopping anybody.

Events are taken in one thread (the window's or the command line's); ``save`` may run in another. The
session is locked only while an event is applied or a snapshot is taken, never while anything is written.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from landscope.contract.deltas import AnyDelta
from landscope.contract.errors import SessionError
from landscope.contract.events import Cancelled, Done, Event, Failed, Log, Notice, Partial
from landscope.contract.frames import escaped
from landscope.contract.options import ProjectSpec, Setting
from landscope.session.atomic import replace_file
from landscope.session.deltas import as_deltas
from landscope.session.image import image
from landscope.session.journal import Described, Journal, Logged, SegmentOpened
from landscope.session.model import LogLine, Session
from landscope.session.snapshot import snapshot

_MAX_LOG = 10_000
_MAX_SENTENCE = 2_000


class Recorder:
    """Owns a session, its file and its journal.

    Attributes:
        session: read it in the thread that takes events; elsewhere use ``snapshot()``.
        path: the session's file, None before it has one.
    """

    def __init__(self, session: Session, path: Path | None = None, *, journal: bool = True) -> None:
        """Keep ``session``; ``path`` is where it was read from or is to be saved.

        Without a journal (``journal=False``, or its folder cannot be written) a crash loses what was found
        since the last save; ``trouble`` then says so.
        """
        self.session = session
        self.path = path
        self._guard = threading.RLock()
        self._saving = threading.Lock()
        self._changes = 0
        self._saved_changes = 0
        self._identity = _identity(path)
        self._trouble = ""
        self._journal = self._begin_journal() if journal else None

    @property
    def changed(self) -> bool:
        """Whether something happened since the last save."""
        return self._changes != self._saved_changes

    @property
    def trouble(self) -> str:
        """Why the journal does not work, in one sentence; empty while it does."""
        return self._trouble or (self._journal.trouble if self._journal else "")

    def take(self, event: Event) -> None:
        """Take in what an engine said: results into the session, sentences into the log."""
        body = event.body
        if isinstance(body, Partial):
            self.apply(body.delta)
        elif isinstance(body, Notice):
            self.log(body.level, body.sentence, body.detail)
        elif isinstance(body, Failed):
            self.log("error", body.sentence, body.detail)
        elif isinstance(body, Log):
            self.log(body.stream, body.text.rstrip("\n"))
        elif isinstance(body, Cancelled):
            self.log("info", f"{event.job or 'The job'} was cancelled.")
        elif isinstance(body, Done) and body.summary:
            self.log("info", body.summary)

    def apply(self, delta: AnyDelta) -> None:
        """Take in one piece of result."""
        with self._guard:
            self.session.apply(delta)
            self._record(delta)

    def log(self, level: str, sentence: str, detail: str = "") -> None:
        """One more line of the log; the oldest leave when there are too many."""
        if len(sentence) > _MAX_SENTENCE:
            detail, sentence = f"{sentence}\n{detail}", sentence[: _MAX_SENTENCE - 1] + "…"
        line = LogLine(time=time.time(), level=level, sentence=escaped(sentence), detail=escaped(detail))
        with self._guard:
            self.session.log.append(line)
            del self.session.log[:-_MAX_LOG]
            self._record(Logged(line=line))

    def describe(
        self,
        *,
        title: str | None = None,
        project: ProjectSpec | None = None,
        settings: dict[str, Setting] | None = None,
        view: dict[str, Any] | None = None,
    ) -> None:
        """Change what is no result; what is None stays."""
        new = {"title": title, "project": project, "settings": settings, "view": view}
        with self._guard:
            for name, value in new.items():
                if value is not None:
                    setattr(self.session, name, value)
            self._record(Described(remainder=_short_remainder(self.session)))

    def snapshot(self) -> Session:
        """The session as it is now, unchanged by what comes later. Safe in any thread."""
        with self._guard:
            return snapshot(self.session)

    def save(self, path: Path | None = None, *, overwrite: bool = False) -> Path:
        """Write the session to its file, or to ``path``, which is its file from then on.

        Meant for a worker thread; whoever takes events waits only for the snapshot. The file before is kept
        as ``.bak``.

        Raises:
            SessionError: it has no file yet; the place cannot be written; the file was changed by somebody
                else since it was read or saved (``overwrite=True`` replaces it all the same).
        """
        with self._saving:
            target = path or self.path
            if target is None:
                raise SessionError("The session has no file yet: choose one with “Save as”.")
            if not overwrite and target == self.path:
                self._check_unchanged(target)
            with self._guard:
                self.session.saves += 1  # also when writing fails: journal segments are told apart by it
                changes, now = self._changes, snapshot(self.session)
                segment = self._journal.cut(self._opened(target)) if self._journal else 0
            replace_file(target, image(now))
            self._identity = _identity(target)
            self.path, self._saved_changes = target, changes
            if self._journal:
                self._journal.flush()
                self._journal.forget_before(segment)
            return target

    def close(self, *, discard: bool = False) -> None:
        """End the journal. It stays for recovery if something was not saved, unless ``discard``."""
        if self._journal:
            self._journal.close(remove=discard or not self.changed)
            self._journal = None

    def _record(self, record: Any) -> None:
        self._changes += 1
        if self._journal:
            self._journal.append(record)

    def _begin_journal(self) -> Journal | None:
        """A journal that starts with the whole session where no file holds it yet."""
        complete = self._identity is None or self.session.saves == 0
        try:
            journal = Journal(self._opened(self.path, complete=complete))
        except OSError as error:
            self._trouble = f"Changes since the last save are not safe from a crash: {error}."
            return None
        if complete:
            journal.append(Described(remainder=self.session.remainder()))
            for delta in as_deltas(self.session):
                journal.append(delta)
        return journal

    def _opened(self, path: Path | None, *, complete: bool = False) -> SegmentOpened:
        return SegmentOpened(
            uuid=self.session.uuid,
            title=self.session.title,
            path=str(path.absolute()) if path else "",
            saves=self.session.saves,
            complete=complete,
        )

    def _check_unchanged(self, target: Path) -> None:
        now = _identity(target)
        if self._identity is not None and now is not None and now != self._identity:
            raise SessionError(
                f"{target} was changed by another program since it was opened: save under another name, or "
                "replace it."
            )


def _identity(path: Path | None) -> tuple[int, ...] | None:
    """What tells a file from another put in its place; None where there is none."""
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _short_remainder(session: Session) -> dict[str, Any]:
    """All but the log, which has records of its own."""
    return {name: value for name, value in session.remainder().items() if name != "log"}
