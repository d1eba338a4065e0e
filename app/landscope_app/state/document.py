"""The open document, without Qt: a session, where it is saved, and who wants to hear of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from landscope.contract import events as e
from landscope.contract.deltas import AnyDelta
from landscope.contract.options import ProjectSpec
from landscope.session.model import LogLine, Session

if TYPE_CHECKING:
    from landscope.session.recorder import Recorder

Listener = Callable[[AnyDelta | None], None]
T = TypeVar("T")


class Document:
    """A session and its observers.

    ``listen`` hears of every delta after it was applied (None = everything changed, read all anew);
    ``listen_log`` of every line of the log; ``listen_state`` of a changed title, path or dirty flag.
    All but ``write_file`` belongs to the GUI thread.
    """

    def __init__(
        self, session: Session | None = None, path: Path | None = None, journal: bool = False
    ) -> None:
        """``journal``: keep what is not saved safe from a crash."""
        self._journal = journal
        self._session = session if session is not None else Session()
        self._path = path
        self._made: Recorder | None = None
        self._was_dirty = False
        self._listeners: list[Listener] = []
        self._log_listeners: list[Callable[[LogLine], None]] = []
        self._state_listeners: list[Callable[[], None]] = []

    @property
    def session(self) -> Session:
        """The results."""
        return self._session

    @property
    def path(self) -> Path | None:
        """The session's file, None = never saved."""
        return self._made.path if self._made is not None else self._path

    @property
    def dirty(self) -> bool:
        """Whether there are results that are not in the file."""
        return self._was_dirty

    @property
    def title(self) -> str:
        """What the window's title bar shows."""
        return self.path.name if self.path is not None else self.session.title

    def listen(self, callback: Listener) -> Callable[[], None]:
        """Call ``callback(delta)`` after each change; returns a function that ends it."""
        return _join(self._listeners, callback)

    def listen_log(self, callback: Callable[[LogLine], None]) -> Callable[[], None]:
        """Call ``callback(line)`` for each new line of the log; returns a function that ends it."""
        return _join(self._log_listeners, callback)

    def listen_state(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback()`` when title, path or dirty flag changed; returns a function that ends it."""
        return _join(self._state_listeners, callback)

    def take(self, event: e.Event) -> None:
        """Take in one event of an engine: results into the session, sentences into the log."""
        before = len(self.session.log)
        self._recorder.take(event)
        if isinstance(event.body, e.Partial):
            self._touch()
            for callback in tuple(self._listeners):
                callback(event.body.delta)
        elif len(self.session.log) > before:
            self._tell_log()

    def take_all(self, events: Iterable[e.Event]) -> None:
        """Take in a batch of events, in order."""
        for event in events:
            self.take(event)

    def write(self, level: str, sentence: str, detail: str = "") -> None:
        """Add a line to the log."""
        self._recorder.log(level, sentence, detail)
        self._tell_log()

    def replace(self, session: Session, path: Path | None = None, *, unsaved: bool = False) -> None:
        """Show another session; observers read everything anew. ``unsaved``: it is in no file (recovered)."""
        self.close()
        self._session, self._path, self._was_dirty = session, path, unsaved
        for callback in tuple(self._listeners):
            callback(None)
        self._tell_state()

    def set_project(self, project: ProjectSpec) -> None:
        """The project's options changed."""
        self._recorder.describe(project=project)
        self._tell_state()

    def keep_view(self, view: dict[str, Any]) -> None:
        """Remember the state of the window in the session; it is saved with it, but is no unsaved work."""
        self._recorder.describe(view=view)

    def snapshot(self) -> Session:
        """A copy that does not change any more, for another thread to export."""
        return self._recorder.snapshot()

    def file_writer(self, path: Path | None = None) -> Callable[[], Path]:
        """A function for a worker thread that saves the session, to ``path`` or where it lies.

        It raises SessionError. What arrives from here on makes the document dirty again.
        """
        recorder = self._recorder
        self._was_dirty = False
        self._tell_state()
        return lambda: recorder.save(path)

    def saved(self) -> None:
        """Writing went well."""
        self._tell_state()

    def not_saved(self) -> None:
        """Writing failed."""
        self._touch()

    def close(self, *, discard: bool = False) -> None:
        """End the journal; it stays for recovery if results were not saved, unless ``discard``."""
        made, self._made = self._made, None
        if made is not None:
            made.close(discard=discard or not self._was_dirty)

    @property
    def _recorder(self) -> Recorder:
        """Made when first needed: HDF5 need not be there before the window is."""
        if self._made is None:
            from landscope.session.recorder import Recorder

            self._made = Recorder(self._session, self._path, journal=self._journal)
        return self._made

    def _touch(self) -> None:
        if not self._was_dirty:
            self._was_dirty = True
            self._tell_state()

    def _tell_state(self) -> None:
        for callback in tuple(self._state_listeners):
            callback()

    def _tell_log(self) -> None:
        for callback in tuple(self._log_listeners):
            callback(self.session.log[-1])


def _join(listeners: list[T], callback: T) -> Callable[[], None]:
    listeners.append(callback)
    return lambda: listeners.remove(callback) if callback in listeners else None
