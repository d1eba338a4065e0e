"""The spectra that a table cannot hold, in a file beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from landscope.saturation.spectra import ENDING, Spectrum, as_npz, read_spectra_file, spectrum_of
from landscope.saturation.writers.stored import StoredFile


class SpectraBeside:
    """Writes ``savepath + ".spectra.npz"`` once there are spectra."""

    def __init__(self, savepath: str) -> None:
        self._file = StoredFile(Path(savepath + ENDING))
        self._spectra: dict[tuple[str, int], Spectrum] = {}

    def resume(self, initial_epoch: int) -> None:
        """Keep the spectra before ``initial_epoch`` of the file that is there.

        Raises:
            StatisticsFileError: the file is no such file.
        """
        if initial_epoch and self._file.path.exists():
            for one in read_spectra_file(self._file.path):
                if one.epoch < initial_epoch:
                    self._spectra[f"{one.mode}/{one.layer}", one.epoch] = one

    def add(self, name: str, epoch: int, values: NDArray[Any], dimension: int | None) -> None:
        """Take the eigenvalues of the series ``name``."""
        one = spectrum_of(name, epoch, values, dimension)
        self._spectra[f"{one.mode}/{one.layer}", epoch] = one

    def save(self) -> None:
        """Write the file in one step.

        Raises:
            StatisticsFileError: the file cannot be written; the old one is as it was.
        """
        if self._spectra:
            self._file.write(as_npz(list(self._spectra.values())))
