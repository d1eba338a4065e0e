"""The spectra that a table cannot hold, in a folder beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from landscope.saturation.series_folder import set_aside
from landscope.saturation.spectra import ENDING, EPOCH, Spectrum, as_npz, read_spectra_file, spectrum_of
from landscope.saturation.writers.stored import replace, unwritable

_Spectra = dict[tuple[str, str], Spectrum]


class SpectraBeside:
    """Writes ``savepath + ".spectra/epochN.npz"``, one file per epoch, which is written once.

    Files of an earlier run from the first epoch on move to ``savepath + ".spectra.bak"``.
    """

    def __init__(self, savepath: str) -> None:
        self._folder = Path(savepath + ENDING)
        self._first = 0
        self._stored: set[int] = set()
        self._pending: dict[int, _Spectra] = {}

    def resume(self, initial_epoch: int) -> None:
        """Keep the files of the epochs before ``initial_epoch``."""
        self._first = initial_epoch

    def add(self, name: str, epoch: int, values: NDArray[Any], dimension: int | None) -> None:
        """Take the eigenvalues of the series ``name``."""
        one = spectrum_of(name, epoch, values, dimension)
        self._pending.setdefault(epoch, {})[one.mode, one.layer] = one

    def save(self) -> None:
        """Write the file of every epoch that got spectra, each in one step.

        Raises:
            StatisticsFileError: a file cannot be written; the old one is as it was.
        """
        for epoch in sorted(self._pending):
            path = self._folder / f"{EPOCH}{epoch}.npz"
            try:
                self._prepare()
                replace(path, as_npz(list((self._earlier(epoch, path) | self._pending[epoch]).values())))
            except OSError as error:
                raise unwritable(path, error) from error
            self._stored.add(epoch)
            del self._pending[epoch]

    def _prepare(self) -> None:
        if not self._stored:
            set_aside(self._folder, self._first, EPOCH, ".npz")
            self._folder.mkdir(parents=True, exist_ok=True)

    def _earlier(self, epoch: int, path: Path) -> _Spectra:
        """What this writer has already stored of the epoch."""
        known = read_spectra_file(path) if epoch in self._stored else []
        return {(one.mode, one.layer): one for one in known}
