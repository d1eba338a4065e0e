"""Replacing a file so that at every moment, on every crash, a whole one is there: the old or the new."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from landscope.contract.errors import SessionError

_RETRY_S = 2.0
_STALE_S = 3600.0
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "the file would be larger than allowed here",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.EROFS: "the disk is read-only",
    errno.ENOENT: "the folder does not exist",
    errno.ENOTDIR: "the folder does not exist",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EIO: "the disk reports an error",
}


def replace_file(path: Path, content: bytes) -> Path:
    """Write ``content`` in place of ``path``; the file before stays beside it as ``.bak``.

    Temporary file in the same folder → fsync → link the old one to ``.bak`` → replace → fsync of the
    folder. A symbolic link is followed, the mode of the old file kept. Returns the path written to.

    Raises:
        SessionError: with the reason; the old file is as it was.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
        _write_durably(draft, content, _mode(target))
        _keep_backup(target)
        _patiently(lambda: draft.replace(target))
        _sync_folder(target.parent)
        _sweep(target)
    except OSError as error:
        raise SessionError(_sentence(target, error), repr(error)) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return target


def backup_path(path: Path) -> Path:
    """Where the file before the last replacement is kept."""
    return path.with_name(path.name + ".bak")


def sync(descriptor: int) -> None:
    """Push a file to the disk itself, also on macOS, where fsync stops at the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_data(descriptor: int) -> None:
    """As ``sync``, without the times of the file where the system can leave them out."""
    if sys.platform == "linux":
        os.fdatasync(descriptor)
    else:
        sync(descriptor)


def write_fully(descriptor: int, content: bytes) -> None:
    """Write all of it, however often the system writes only a part."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write_durably(path: Path, content: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode)
    try:
        write_fully(descriptor, content)
        if sys.platform != "win32":
            os.fchmod(descriptor, mode)
        sync(descriptor)
    finally:
        os.close(descriptor)


def _mode(target: Path) -> int:
    """The old file's permissions, else what a new file would get."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _keep_backup(target: Path) -> None:
    """``.bak`` becomes the file that is about to be replaced: by link, so that it never is missing."""
    if not target.exists():
        return
    spare = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.bak.tmp")
    try:
        try:
            os.link(target, spare)
        except OSError:  # a file system without hard links
            shutil.copy2(target, spare)
        _patiently(lambda: spare.replace(backup_path(target)))
    finally:
        spare.unlink(missing_ok=True)


def _sweep(target: Path) -> None:
    """Remove what saves that were killed have left; a draft of the last hour may be somebody's work."""
    start = f".{target.name}."
    with contextlib.suppress(OSError):
        for path in target.parent.iterdir():
            drafted = path.name.startswith(start) and path.name.endswith(".tmp")
            if drafted and time.time() - path.stat().st_mtime > _STALE_S:
                path.unlink(missing_ok=True)


def _patiently(action: Callable[[], object]) -> None:
    """On Windows a virus scanner or an indexer may hold the file for a moment: try for two seconds."""
    deadline = time.monotonic() + (_RETRY_S if sys.platform == "win32" else 0.0)
    while True:
        try:
            action()
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.05)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sentence(target: Path, error: OSError) -> str:
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    return f"The session could not be saved as {target}: {reason}. Choose another place."
