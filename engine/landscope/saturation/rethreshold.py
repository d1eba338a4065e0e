"""Saturation at another threshold, from what a training left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from landscope.contract.errors import StatisticsFileError
from landscope.contract.intrinsic import IdimRule, intrinsic_dimension
from landscope.saturation.npy_file import read_npy
from landscope.saturation.series_folder import BEFORE_SERIES, files_of
from landscope.saturation.session_spectra import SESSION, spectra_of_session
from landscope.saturation.spectra import ENDING, EPOCH, SPECTRUM, Spectrum, read_spectra_file, spectrum_of

COVARIANCE = "-covariance-matrix_"


@dataclass(frozen=True)
class LayerAtThreshold:
    """One layer in one mode at one epoch; ``idim`` and ``lsat`` = idim / dimension, NaN if not measured.

    ``run`` and ``checkpoint`` are empty but for sessions, where ``epoch`` counts the checkpoints.
    """

    run: str
    checkpoint: str
    epoch: int
    mode: str
    layer: str
    dimension: int
    idim: float
    lsat: float


def rethreshold(
    spectra: Iterable[Spectrum], threshold: float, rule: IdimRule = "smallest_k"
) -> list[LayerAtThreshold]:
    """Intrinsic dimension and saturation of every spectrum at ``threshold``, by epoch.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    return [
        _at(spectrum, threshold, rule) for spectrum in sorted(spectra, key=lambda one: (one.run, one.epoch))
    ]


def _at(spectrum: Spectrum, threshold: float, rule: IdimRule) -> LayerAtThreshold:
    counted = intrinsic_dimension(spectrum.values, threshold, rule)
    known = spectrum.dimension > 0 and len(spectrum.values) > 0 and bool(np.isfinite(spectrum.values).all())
    idim = counted if known else float("nan")
    return LayerAtThreshold(
        run=spectrum.run,
        checkpoint=spectrum.checkpoint,
        epoch=spectrum.epoch,
        mode=spectrum.mode,
        layer=spectrum.layer,
        dimension=spectrum.dimension,
        idim=idim,
        lsat=idim / spectrum.dimension if known else float("nan"),
    )


def read_spectra(path: Path) -> list[Spectrum]:
    """The spectra that belong to what a writer left at ``path``.

    ``path`` is a table, the folder of spectra beside it or a file of that, a folder of the npy writer, or a
    session; in folders that delve wrote, the spectra are those of the covariances.

    Raises:
        StatisticsFileError: there are no spectra, or a file cannot be read.
        SessionError: the session cannot be read.
    """
    if not path.exists():
        raise StatisticsFileError(f"There is nothing at {path}; give the table, the spectra or the folder.")
    if path.suffix == SESSION:
        found = spectra_of_session(path)
    elif path.is_dir():
        found = _of_spectra(path) or list(_of_arrays(path))
    elif path.suffix == ".csv":
        found = _beside(path)
    else:
        found = read_spectra_file(path)
    if not found:
        raise StatisticsFileError(
            f"{path} holds neither spectra nor covariances; ask the tracker for stats=['lsat', 'spectrum']."
        )
    return found


def _beside(table: Path) -> list[Spectrum]:
    path = table.with_name(table.stem + ENDING)
    found = _of_spectra(path)
    if not found:
        raise StatisticsFileError(
            f"Beside {table} there are no spectra ({path.name}), and its values hold for one threshold only; "
            "ask the tracker for stats=['lsat', 'spectrum']."
        )
    return found


def _of_spectra(folder: Path) -> list[Spectrum]:
    return [one for _, path in files_of(folder, EPOCH, ".npz") for one in read_spectra_file(path)]


def _of_arrays(folder: Path) -> Iterator[Spectrum]:
    """Spectra as they were stored, and those of covariances for epochs that have none."""
    found: dict[tuple[str, int], tuple[Path, bool]] = {}
    for series in sorted(folder.iterdir()):
        name = series.name.removeprefix(BEFORE_SERIES)
        stored = SPECTRUM in name
        if stored or COVARIANCE in name:
            for epoch, path in files_of(series):
                key = (name.replace(COVARIANCE, SPECTRUM, 1), epoch)
                if stored or key not in found:
                    found[key] = (path, not stored)
    for (name, epoch), (path, square) in found.items():
        yield spectrum_of(name, epoch, _values(path, square))


def _values(path: Path, square: bool) -> NDArray[np.float64]:
    array = read_npy(path)
    if array.dtype.kind not in "biuf" or array.ndim != 1 + square or len(set(array.shape)) > 1:
        kind = "covariance" if square else "spectrum"
        raise StatisticsFileError(f"{path} holds no {kind}; its shape is {array.shape}.")
    values = array.astype(np.float64)
    return _eigenvalues(values) if square else values


def _eigenvalues(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest first, clipped at 0; NaN where the covariance is not finite."""
    if not np.isfinite(covariance).all():
        return np.full(len(covariance), np.nan)
    return np.asarray(np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0), np.float64)
