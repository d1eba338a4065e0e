"""The file that a verb is going to write: better refused before an hour of work than after it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from landscope.contract.errors import OptionError

_HDF5 = b"\x89HDF\r\n\x1a\n"


def check_output(path: Path) -> None:
    """Refuse places that cannot be written, and files that are no sessions and would be replaced.

    Raises:
        OptionError: with the reason and what to name instead.
    """
    folder = path.absolute().parent
    if path.is_dir():
        raise OptionError(f"{path} is a folder; name a file such as {path / 'session.h5'}.")
    if not folder.is_dir():
        raise OptionError(f"The folder {folder} does not exist; make it first.")
    if path.exists() and not may_be_session(path):
        raise OptionError(f"{path} exists and is no session; name another file.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OptionError(f"Nothing can be written in {folder}: {error.strerror}.") from error


def check_table(path: Path, source: Path) -> None:
    """Refuse to write a table over what it is made of, or over a session.

    Raises:
        OptionError: with what to name instead.
    """
    if path.exists() and (path.samefile(source) or _is_hdf5(path)):
        raise OptionError(f"{path} holds what was measured; name another file for the table.")


def _is_hdf5(path: Path) -> bool:
    return may_be_session(path) and path.stat().st_size > 0


def may_be_session(path: Path) -> bool:
    """Whether a file begins as HDF5 does, or is empty."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_HDF5)) in (_HDF5, b"")
    except OSError:
        return False
