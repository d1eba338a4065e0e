"""What happened since the last save, appended to a file as it happens; read back after a crash.

A journal is a folder named by the session's uuid in the application's data folder. It holds numbered
segments; each save begins a new one and removes those it made superfluous. A segment is a row of records:
CRC-32 of the frame (4 bytes, little endian), then the frame. Records wait at most a second for the disk,
written by a thread of the journal's own, so that taking in an event costs no disk access.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import platformdirs

from landscope.contract.deltas import AnyDelta, Delta
from landscope.contract.frames import encode
from landscope.session.atomic import sync_data, write_fully
from landscope.session.lock import HeldLock, try_lock
from landscope.session.model import LogLine

INTERVAL_S = 1.0
CHECKSUM = struct.Struct("<I")
SEGMENT_SUFFIX = ".journal"


class SegmentOpened(Delta, frozen=True, kw_only=True):
    """First record of a segment: all that follows happened after save number ``saves``.

    ``path`` is the session's file, empty before it has one. ``complete``: the segment starts with the whole
    session, so that no file is needed to recover it.
    """

    uuid: str
    title: str
    path: str
    saves: int
    complete: bool


class Described(Delta, frozen=True, kw_only=True):
    """What deltas do not carry, as ``Session.remainder`` gives it; replaces what was known."""

    remainder: dict[str, Any]


class Logged(Delta, frozen=True, kw_only=True):
    """One more line of the log."""

    line: LogLine


Record = AnyDelta | SegmentOpened | Described | Logged


def journals_folder() -> Path:
    """Where journals lie; ``LANDSCOPE_DATA_DIR`` overrides the platform's place for application data."""
    override = os.environ.get("LANDSCOPE_DATA_DIR")
    base = Path(override) if override else platformdirs.user_data_path("landscope", appauthor=False)
    return base / "journals"


class Journal:
    """The journal of one open session. Its methods never raise for a disk: ``trouble`` tells.

    Attributes:
        folder: of its segments.
        trouble: why the last writing failed, empty while all is well.
    """

    def __init__(self, opened: SegmentOpened, folder: Path | None = None) -> None:
        """Begin in ``folder`` (default: the session's own below ``journals_folder()``).

        Raises:
            OSError: the folder cannot be made, or another process holds this session's journal.
        """
        self.folder = folder or journals_folder() / opened.uuid
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = _hold(self.folder / "lock")
        self.trouble = ""
        self._waiting: list[tuple[int, bytes]] = []
        self._guard = threading.Lock()  # of _waiting and _number; held for microseconds
        self._number = max(_numbers(self.folder), default=0)
        self._disk = _Segments(self.folder)
        self._at_disk = threading.Lock()  # of _disk; taken before _guard
        self._ended = threading.Event()
        self.cut(opened)
        self._writer = threading.Thread(target=self._write_now_and_then, name="journal", daemon=True)
        self._writer.start()

    def append(self, record: Record) -> None:
        """Remember a record; it is on the disk a second later."""
        raw = _framed(record)
        with self._guard:
            self._waiting.append((self._number, raw))

    def cut(self, opened: SegmentOpened) -> int:
        """Begin a new segment; returns its number, for ``forget_before``. Touches no disk."""
        raw = _framed(opened)
        with self._guard:
            self._number += 1
            self._waiting.append((self._number, raw))
            return self._number

    def flush(self) -> None:
        """Everything appended so far is on the disk when this returns (or ``trouble`` says why not)."""
        with self._at_disk:
            with self._guard:
                batch, self._waiting = self._waiting, []
            try:
                self._disk.write(batch)
                self.trouble = ""
            except OSError as error:
                self.trouble = f"Changes since the last save are not safe from a crash: {error.strerror}."
                with self._guard:
                    self._waiting[:0] = batch

    def forget_before(self, number: int) -> None:
        """Remove the segments before ``number``: a saved file holds what they held."""
        for old in _numbers(self.folder):
            if old < number:
                _segment(self.folder, old).unlink(missing_ok=True)

    def close(self, *, remove: bool) -> None:
        """End writing; ``remove`` deletes the journal, as after a save with nothing new since."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._writer.join()
        self.flush()
        with self._at_disk:
            self._disk.close()
        if remove:
            self.forget_before(self._number + 1)
        self._lock.release(remove=remove)
        if remove:
            with contextlib.suppress(OSError):
                self.folder.rmdir()

    def _write_now_and_then(self) -> None:
        while not self._ended.wait(INTERVAL_S):
            self.flush()


class _Segments:
    """The files of a journal, written in order; a record is on the disk whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._descriptor = -1
        self._whole = 0  # bytes of whole records in the open segment

    def write(self, batch: list[tuple[int, bytes]]) -> None:
        """Append (segment, record) pairs and wait for the disk.

        Raises:
            OSError: nothing of the batch counts as written; write it again later.
        """
        for number, rows in itertools.groupby(batch, key=lambda pair: pair[0]):
            if number != self._number:
                self._open(number)
            self._append(b"".join(raw for _, raw in rows))

    def close(self) -> None:
        """Close the open segment."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def _append(self, content: bytes) -> None:
        try:
            write_fully(self._descriptor, content)
            sync_data(self._descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._whole)
            raise
        self._whole += len(content)

    def _open(self, number: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(_segment(self._folder, number), flags, 0o600)
        self.close()
        self._descriptor, self._number = descriptor, number
        self._whole = os.fstat(descriptor).st_size


def segments(folder: Path) -> list[Path]:
    """The segments of a journal, oldest first."""
    return [_segment(folder, number) for number in sorted(_numbers(folder))]


def _segment(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}{SEGMENT_SUFFIX}"


def _framed(record: Record) -> bytes:
    frame = encode(record)
    return CHECKSUM.pack(zlib.crc32(frame)) + frame


def _numbers(folder: Path) -> list[int]:
    return [int(p.stem) for p in folder.glob(f"*{SEGMENT_SUFFIX}") if p.stem.isdecimal()]


def _hold(path: Path) -> HeldLock:
    held = try_lock(path)
    if held is None:
        raise BlockingIOError(f"another process holds {path}")
    return held
