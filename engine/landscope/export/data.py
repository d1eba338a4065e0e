"""A session's data as files for other programs: one CSV per table, one NPZ per result."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from landscope.contract.errors import SessionError
from landscope.export.arrays import Bundle, bundles
from landscope.export.tables import Cell, Table, tables
from landscope.session.model import Session


def export_csv(session: Session, folder: Path) -> list[Path]:
    """Write every table as CSV (UTF-8, comma, header with units); returns the files written.

    Numbers are written so that reading them gives the very same float64; NaN is ``nan``, infinity ``inf``,
    what was not measured an empty cell.

    Raises:
        SessionError: the folder cannot be written.
    """
    names = _Names(folder, ".csv")
    return [_write(names.path(table.name), partial(_csv, table)) for table in tables(session)]


def export_npz(session: Session, folder: Path) -> list[Path]:
    """Write every result as a compressed NPZ of numbers and texts (no pickle); returns the files written.

    Raises:
        SessionError: the folder cannot be written.
    """
    names = _Names(folder, ".npz")
    return [_write(names.path(one.name), partial(_npz, one)) for one in bundles(session)]


def write_table(table: Table, path: Path) -> Path:
    """Write one table as CSV, as ``export_csv`` does; returns the path.

    Raises:
        SessionError: the file cannot be written.
    """
    return _write(path, partial(_csv, table))


class _Names:
    """File names made of anything: harmless everywhere, each used once."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder = folder
        self._suffix = suffix
        self._used: set[str] = set()

    def path(self, parts: tuple[str, ...]) -> Path:
        stem = "_".join(_harmless(part) for part in parts)
        name, number = stem, 2
        while name.casefold() in self._used:
            name, number = f"{stem}-{number}", number + 1
        self._used.add(name.casefold())
        return self._folder / f"{name}{self._suffix}"


def _harmless(part: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", part).strip("-.")[:60] or "unnamed"


def _write(path: Path, write: Callable[[Path], None]) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    except OSError as error:
        raise SessionError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def _npz(bundle: Bundle, path: Path) -> None:
    arrays: dict[str, Any] = dict(bundle.arrays)
    np.savez_compressed(path, **arrays)


def _csv(table: Table, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.header)
        writer.writerows([_cell(cell) for cell in row] for row in table.rows)


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell)
