"""Saving a session: one image, made in memory, put in place at once."""

from __future__ import annotations

from pathlib import Path

from landscope.session.atomic import replace_file
from landscope.session.image import image
from landscope.session.model import Session


def save(session: Session, path: Path) -> Path:
    """Write a session as one HDF5 file, counting the save; the file before is kept as ``.bak``.

    Returns the path written to (symbolic links followed).

    Raises:
        SessionError: the place cannot be written; a file that was there is unchanged.
    """
    session.saves += 1
    try:
        return replace_file(path, image(session))
    except BaseException:
        session.saves -= 1
        raise
