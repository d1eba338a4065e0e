"""The open document, without Qt: a session, where it is saved, and who wants to hear of changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from landscope.contract import events as e
from landscope.contract.deltas import AnyDelta
from landscope.session.model import Line, LogLine, Plane, Session

Listener = Callable[[AnyDelta | None], None]
T = TypeVar("T")


class Document:
    """A session and its observers.

    ``listen`` hears of every delta after it was applied (None = everything changed, read all anew);
    ``listen_log`` of every line of the log; ``listen_state`` of a changed title, path or dirty flag.

    Attributes:
        session: the results. path: the session file, None = never saved.
        dirty: something is not in the file.
    """

    def __init__(self, session: Session | None = None, path: Path | None = None) -> None:
        self.session = session if session is not None else Session()
        self.path = path
        self.dirty = False
        self._listeners: list[Listener] = []
        self._log_listeners: list[Callable[[LogLine], None]] = []
        self._state_listeners: list[Callable[[], None]] = []

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
        body = event.body
        if isinstance(body, e.Partial):
            self.session.apply(body.delta)
            self._touch()
            _tell(self._listeners, body.delta)
        elif isinstance(body, e.Notice):
            self.write(body.level, body.sentence, body.detail)
        elif isinstance(body, e.Failed):
            self.write("error", body.sentence, body.detail)
        elif isinstance(body, e.Log):
            self.write("script", body.text.rstrip("\n"), body.stream)
        elif isinstance(body, e.Done) and body.summary:
            self.write("info", body.summary)

    def take_all(self, events: Iterable[e.Event]) -> None:
        """Take in a batch of events, in order."""
        for event in events:
            self.take(event)

    def write(self, level: str, sentence: str, detail: str = "") -> None:
        """Add a line to the log."""
        line = LogLine(time=time.time(), level=level, sentence=sentence, detail=detail)
        self.session.log.append(line)
        for callback in tuple(self._log_listeners):
            callback(line)

    def replace(self, session: Session, path: Path | None = None) -> None:
        """Show another session; observers read everything anew."""
        self.session, self.path, self.dirty = session, path, False
        _tell(self._listeners, None)
        self._tell_state()

    def keep_view(self, view: dict[str, Any]) -> None:
        """Remember the state of the window in the session; it is saved with it, but is no unsaved work."""
        self.session.view = view

    def snapshot(self) -> Session:
        """A copy that does not change while it is written: arrays and tables are copied, deltas shared."""
        return frozen_copy(self.session)

    def saving(self) -> None:
        """What is known now is being written; what arrives from here on makes the document dirty again."""
        self.dirty = False
        self._tell_state()

    def saved(self, path: Path) -> None:
        """The session as it was at ``saving`` lies in ``path``."""
        self.path = path
        self.session.saves += 1
        self._tell_state()

    def not_saved(self) -> None:
        """Writing failed."""
        self._touch()

    def _touch(self) -> None:
        if not self.dirty:
            self.dirty = True
            self._tell_state()

    def _tell_state(self) -> None:
        for callback in tuple(self._state_listeners):
            callback()


def frozen_copy(session: Session) -> Session:
    """The session with its own dictionaries and arrays of values; frozen deltas are shared."""
    return replace(
        session,
        runs={
            k: replace(r, measured={s: dict(m) for s, m in r.measured.items()})
            for k, r in session.runs.items()
        },
        saturation={k: replace(v, measured=dict(v.measured)) for k, v in session.saturation.items()},
        distances={k: replace(v, measured=dict(v.measured)) for k, v in session.distances.items()},
        lines={
            k: replace(v, values=_copies(v.values), state=v.state.copy()) for k, v in session.lines.items()
        },
        planes={
            k: replace(
                v,
                values=_copies(v.values),
                state=v.state.copy(),
                levels=dict(v.levels),
                trajectories=dict(v.trajectories),
            )
            for k, v in session.planes.items()
        },
        provenance=dict(session.provenance),
        settings=dict(session.settings),
        view=dict(session.view),
        log=list(session.log),
    )


def _line(line: Line) -> Line:
    return replace(line, values=_copies(line.values), state=line.state.copy())


def _plane(plane: Plane) -> Plane:
    return replace(
        plane,
        values=_copies(plane.values),
        state=plane.state.copy(),
        levels=dict(plane.levels),
        trajectories=dict(plane.trajectories),
    )


def _tables(measured: dict[str, dict[str, T]]) -> dict[str, dict[str, T]]:
    return {split: dict(found) for split, found in measured.items()}


def _copies(values: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    return {name: array.copy() for name, array in values.items()}


def _join(listeners: list[T], callback: T) -> Callable[[], None]:
    listeners.append(callback)
    return lambda: listeners.remove(callback) if callback in listeners else None


def _tell(listeners: list[Listener], delta: AnyDelta | None) -> None:
    for callback in tuple(listeners):
        callback(delta)
