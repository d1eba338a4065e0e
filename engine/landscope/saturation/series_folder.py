"""Folders of arrays, as our npy writer and delve's leave them: SERIES/SERIES_epochN.npy."""

from __future__ import annotations

from pathlib import Path


def files_of(series: Path) -> list[tuple[int, Path]]:
    """The files of one series by epoch; none where ``series`` is something else."""
    if not series.is_dir():
        return []
    found = []
    for path in series.iterdir():
        number = path.name.removeprefix(f"{series.name}_epoch").removesuffix(".npy")
        named = path.name == f"{series.name}_epoch{number}.npy" and number.isascii() and number.isdecimal()
        if named and path.is_file():
            found.append((int(number), path))
    return sorted(found)
