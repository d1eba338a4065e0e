"""Finding and reading the journals that a crash left behind."""

from __future__ import annotations

import contextlib
import io
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from landscope.contract.errors import LandscopeError, SessionError
from landscope.contract.frames import decoder, read_frame
from landscope.session.atomic import backup_path
from landscope.session.journal import (
    CHECKSUM,
    Described,
    Logged,
    Record,
    SegmentOpened,
    journals_folder,
    segments,
)
from landscope.session.lock import try_lock
from landscope.session.model import Session
from landscope.session.read import read

_DECODER = decoder(Record)


@dataclass(frozen=True)
class Abandoned:
    """A journal whose process is gone.

    Attributes:
        folder: of the journal. path: the session's file, empty if it never had one.
        modified: seconds since the epoch of the last record on the disk. bytes: on the disk.
    """

    folder: Path
    title: str
    path: str
    modified: float
    bytes: int


def abandoned(folder: Path | None = None) -> list[Abandoned]:
    """The journals that can be recovered, newest first. Those held by a living process are left out."""
    base = folder or journals_folder()
    found = [_look(one) for one in base.iterdir() if one.is_dir()] if base.is_dir() else []
    return sorted((one for one in found if one is not None), key=lambda one: -one.modified)


def recover(folder: Path) -> Session:
    """The session as it was when its process ended, up to a second or two.

    The session's file (or its ``.bak``) is read where the journal builds on it, then every record since is
    applied. The journal stays; ``discard`` it once the session is saved.

    Raises:
        SessionError: neither the journal nor the file it builds on can be read.
    """
    rows = [list(records(one)) for one in segments(folder)]
    openings = [row[0] for row in rows if row and isinstance(row[0], SegmentOpened)]
    if not openings:
        raise SessionError(f"The journal {folder} holds nothing that can be recovered.")
    session = _base(openings)
    for row in rows:
        if row and isinstance(row[0], SegmentOpened) and row[0].saves >= session.saves:
            for record in row[1:]:
                _apply(session, record)
    return session


def discard(folder: Path) -> None:
    """Delete a journal for good."""
    shutil.rmtree(folder, ignore_errors=True)


def records(segment: Path) -> Iterator[Record]:
    """The records of a segment up to the first that is cut off or damaged."""
    stream = io.BytesIO(segment.read_bytes())
    while True:
        head = stream.read(CHECKSUM.size)
        if len(head) < CHECKSUM.size:
            return
        start = stream.tell()
        try:
            body = read_frame(stream)
            frame = stream.getbuffer()[start : stream.tell()]
            if body is None or CHECKSUM.unpack(head)[0] != zlib.crc32(frame):
                return
            yield _DECODER.decode(body)
        except (LandscopeError, msgspec.MsgspecError):
            return


def _look(folder: Path) -> Abandoned | None:
    held = try_lock(folder / "lock")
    if held is None:
        return None
    held.release()
    files = segments(folder)
    opened = next((first for one in files for first in records(one)), None)
    if not isinstance(opened, SegmentOpened):
        return None
    sizes = [one.stat() for one in files]
    modified = max(size.st_mtime for size in sizes)
    return Abandoned(folder, opened.title, opened.path, modified, sum(size.st_size for size in sizes))


def _base(openings: list[SegmentOpened]) -> Session:
    """The newest file of this very session, or an empty session where the journal is complete."""
    uuid = openings[0].uuid
    found = [session for session in map(_read_quietly, _candidates(openings)) if session is not None]
    own = [session for session in found if session.uuid == uuid]
    if own:
        return max(own, key=lambda session: session.saves)
    complete = next((one for one in openings if one.complete), None)
    if complete is not None:
        return Session(uuid=uuid, title=complete.title, saves=complete.saves)
    raise SessionError(
        f"The journal of “{openings[0].title}” builds on {openings[-1].path}, which cannot be read: put that "
        "file back to recover the changes made since it was saved."
    )


def _candidates(openings: list[SegmentOpened]) -> Iterator[Path]:
    for name in dict.fromkeys(one.path for one in reversed(openings) if one.path):
        yield Path(name)
        yield backup_path(Path(name))


def _read_quietly(path: Path) -> Session | None:
    with contextlib.suppress(SessionError):
        return read(path)
    return None


def _apply(session: Session, record: Record) -> None:
    if isinstance(record, Described):
        saves = session.saves
        session.adopt(record.remainder)
        session.saves = saves
    elif isinstance(record, Logged):
        session.log.append(record.line)
    elif not isinstance(record, SegmentOpened):
        session.apply(record)
