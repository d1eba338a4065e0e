"""The spectra of a training, kept so that saturation can be told at any threshold afterwards."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import StatisticsFileError
from landscope.saturation.npy_file import read_npz

ENDING = ".spectra"
"""Of the folder of spectra beside a table."""

EPOCH = "epoch"
"""Before the number in the name of a file of spectra."""

SPECTRUM = "-spectrum_"
"""Between mode and layer in the name of a series of eigenvalues: ``train-spectrum_fc1``."""

_KINDS = {
    "modes": "U",
    "layers": "U",
    "series": "iu",
    "epochs": "iu",
    "dimensions": "iu",
    "lengths": "iu",
    "values": "f",
}


@dataclass(frozen=True)
class Spectrum:
    """One layer in one mode at one epoch.

    Attributes:
        mode: such as "train". layer: its name. dimension: D, its features.
        values: (k,) eigenvalues of the covariance, largest first, k ≤ D.
        run, checkpoint: where it is from a session, else empty.
    """

    mode: str
    layer: str
    epoch: int
    dimension: int
    values: NDArray[np.float64]
    run: str = ""
    checkpoint: str = ""


def spectrum_of(name: str, epoch: int, values: NDArray[Any], dimension: int | None = None) -> Spectrum:
    """The spectrum of the series ``name``; without ``dimension`` all D eigenvalues are there."""
    mode, _, layer = name.partition(SPECTRUM)
    found = np.asarray(values, np.float64).reshape(-1)
    return Spectrum(mode, layer, epoch, max(len(found), dimension or 0), found)


def as_npz(spectra: list[Spectrum]) -> bytes:
    """The spectra as an uncompressed NPZ file: one column per attribute, the values in one row."""
    names = list(dict.fromkeys((one.mode, one.layer) for one in spectra))
    places = {name: place for place, name in enumerate(names)}
    content = io.BytesIO()
    np.savez(
        content,
        modes=np.array([mode for mode, _ in names], np.str_),
        layers=np.array([layer for _, layer in names], np.str_),
        series=np.array([places[one.mode, one.layer] for one in spectra], np.int64),
        epochs=np.array([one.epoch for one in spectra], np.int64),
        dimensions=np.array([one.dimension for one in spectra], np.int64),
        lengths=np.array([len(one.values) for one in spectra], np.int64),
        values=np.concatenate([np.empty(0), *(one.values for one in spectra)]),
    )
    return content.getvalue()


def read_spectra_file(path: Path) -> list[Spectrum]:
    """The spectra of an NPZ file written by ``as_npz``.

    Raises:
        StatisticsFileError: the file cannot be read, is damaged, or is another kind of file.
    """
    arrays = read_npz(path)
    if not _consistent(arrays):
        raise StatisticsFileError(f"{path} is no file of spectra, or is damaged.")
    return list(_spectra(arrays))


def _consistent(arrays: dict[str, NDArray[Any]]) -> bool:
    if not _KINDS.keys() <= arrays.keys() or any(a.ndim != 1 for a in arrays.values()):
        return False
    if any(arrays[name].dtype.kind not in kinds for name, kinds in _KINDS.items()):
        return False
    rows = [arrays[name] for name in ("series", "epochs", "dimensions", "lengths")]
    if len({len(column) for column in rows}) > 1:
        return False
    series, _, dimensions, lengths = rows
    values = arrays["values"]
    known = min(len(arrays["modes"]), len(arrays["layers"]))
    return bool(
        ((series >= 0) & (series < known)).all()
        and ((lengths >= 0) & (lengths <= np.minimum(dimensions, len(values)))).all()
        and sum(lengths.tolist()) == len(values)
    )


def _spectra(arrays: dict[str, NDArray[Any]]) -> Iterator[Spectrum]:
    bounds = np.concatenate([[0], np.cumsum(arrays["lengths"], dtype=np.int64)])
    for place, (begin, end) in enumerate(pairwise(bounds)):
        series = arrays["series"][place]
        yield Spectrum(
            mode=str(arrays["modes"][series]),
            layer=str(arrays["layers"][series]),
            epoch=int(arrays["epochs"][place]),
            dimension=int(arrays["dimensions"][place]),
            values=arrays["values"][begin:end].astype(np.float64),
        )
