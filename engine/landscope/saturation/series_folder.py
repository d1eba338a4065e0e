"""Folders with one file per epoch: spectra, and arrays as our npy writer and delve's leave them."""

from __future__ import annotations

from pathlib import Path

BEFORE_SERIES = "_"
"""What delve's npy writer puts before the names of a tracker's series."""


def files_of(folder: Path, prefix: str | None = None, ending: str = ".npy") -> list[tuple[int, Path]]:
    """The files called ``prefix + epoch + ending``, by epoch; none where ``folder`` is something else.

    ``prefix``: None = that of a series of arrays, ``SERIES_epoch`` in the folder SERIES.
    """
    if not folder.is_dir():
        return []
    prefix = f"{folder.name}_epoch" if prefix is None else prefix
    found = []
    for path in folder.iterdir():
        number = path.name.removeprefix(prefix).removesuffix(ending)
        named = path.name == f"{prefix}{number}{ending}" and number.isascii() and number.isdecimal()
        if named and path.is_file():
            found.append((int(number), path))
    return sorted(found)


def set_aside(folder: Path, first: int, prefix: str | None = None, ending: str = ".npy") -> None:
    """Move the files from the epoch ``first`` on to ``folder + ".bak"``, replacing what is there.

    Raises:
        OSError: they cannot be moved.
    """
    earlier = [path for epoch, path in files_of(folder, prefix, ending) if epoch >= first]
    if not earlier:
        return
    kept = folder.with_name(folder.name + ".bak")
    kept.mkdir(exist_ok=True)
    for _, path in files_of(kept, prefix or f"{folder.name}_epoch", ending):
        path.unlink()
    for path in earlier:
        path.replace(kept / path.name)
