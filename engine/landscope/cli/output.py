"""The file that a verb is going to write: better refused before an hour of work than after it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from landscope.contract.errors import OptionError

_HDF5 = b"\x89HDF\r\n\x1a\n"
_ARRAYS = (b"PK\x03\x04", b"\x93NUMPY")  # of numpy, and checkpoints of torch


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
    """Refuse to write a table over what it is made of, or over sessions, arrays and checkpoints.

    Raises:
        OptionError: with what to name instead.
    """
    if path.exists() and (path.samefile(source) or _begins(path, (_HDF5, *_ARRAYS))):
        raise OptionError(f"{path} holds other results, which the table would replace; name another file.")


def may_be_session(path: Path) -> bool:
    """Whether a file begins as HDF5 does, or is empty."""
    return path.is_file() and (path.stat().st_size == 0 or _begins(path, (_HDF5,)))


def _begins(path: Path, signatures: tuple[bytes, ...]) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_HDF5)).startswith(signatures)
    except OSError:
        return False
