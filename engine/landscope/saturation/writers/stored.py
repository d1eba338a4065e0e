"""A file of statistics that is replaced as a whole; somebody's earlier one is kept as ``.bak``."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

from landscope.contract.errors import StatisticsFileError
from landscope.session.atomic import sync


class StoredFile:
    """One file; the first write keeps what was there before as ``.bak``, later ones replace our own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ours = False

    def write(self, content: bytes) -> None:
        """Replace the file in one step; folders that are missing are made.

        Raises:
            StatisticsFileError: with the reason; the old file is as it was.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self._ours and self.path.exists():
                replace(self.path.with_name(self.path.name + ".bak"), self.path.read_bytes())
            replace(self.path, content)
        except OSError as error:
            raise unwritable(self.path, error) from error
        self._ours = True


def replace(path: Path, content: bytes) -> None:
    """Write to a draft beside ``path``, then put it in its place.

    Raises:
        OSError: the file is as it was.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            sync(file.fileno())
        draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> StatisticsFileError:
    """The sentence of a file that cannot be written."""
    return StatisticsFileError(
        f"The statistics could not be written to {path}: {error.strerror or error}. Choose another place."
    )
