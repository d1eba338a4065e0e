"""Statistics as arrays: one folder per series, one .npy file per epoch."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from landscope.saturation.series_folder import BEFORE_SERIES, set_aside
from landscope.saturation.series_names import free_name
from landscope.saturation.spectra import SPECTRUM
from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.stored import replace, unwritable
from landscope.saturation.writers.values import Epochs, plain


class NPYWriter(AbstractWriter):
    """Writes ``savepath/SERIES/SERIES_epochN.npy`` as values come: numbers, spectra, matrices.

    Files of an earlier run from the first epoch on move to ``savepath/SERIES.bak``. Slashes in a name become
    underscores; a second series of that name goes to ``SERIES-2``. With ``zip``, ``close`` also packs the
    folder as ``savepath.zip``.
    """

    def __init__(self, savepath: str, zip: bool = False, **_: Any) -> None:
        self.savepath = str(savepath)
        self._zip = zip
        self._first = 0
        self._epochs = Epochs()
        self._begun = False
        self._folders: dict[str, str] = {}

    def resume_from_saved_state(self, initial_epoch: int) -> None:
        """Keep the files of the epochs before ``initial_epoch``."""
        self._first = initial_epoch
        self._epochs = Epochs(initial_epoch)

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Write one value; a spectrum shorter than ``dimension`` is filled up with zeros.

        Raises:
            StatisticsFileError: the file cannot be written.
        """
        array = np.asarray(plain(value))
        if SPECTRUM in name and array.ndim == 1:
            array = np.pad(array, (0, max(0, kwargs.get("dimension", 0) - len(array))))
        epoch = self._epochs.place(name, kwargs.get("epoch"))
        folder = Path(self.savepath, self._folder_of(name))
        content = io.BytesIO()
        np.save(content, array, allow_pickle=False)
        try:
            self._prepare(folder)
            replace(folder / f"{folder.name}_epoch{epoch}.npy", content.getvalue())
        except OSError as error:
            raise unwritable(folder, error) from error

    def save(self) -> None:
        """Every value is stored as it comes."""

    def close(self) -> None:
        """Pack the folder where that is asked for.

        Raises:
            StatisticsFileError: the archive cannot be written.
        """
        if self._zip and Path(self.savepath).is_dir():
            try:
                shutil.make_archive(self.savepath, "zip", root_dir=self.savepath)
            except OSError as error:
                raise unwritable(Path(f"{self.savepath}.zip"), error) from error

    def _folder_of(self, series: str) -> str:
        if series not in self._folders:
            ours = _folder_name(series)
            resumed = self._first and Path(self.savepath, BEFORE_SERIES + ours).is_dir()
            name = BEFORE_SERIES + ours if resumed else ours
            self._folders[series] = free_name(name, self._folders.values())
        return self._folders[series]

    def _prepare(self, folder: Path) -> None:
        """Make the folder; before the first value set aside what an earlier run left of these epochs."""
        if not self._begun and folder.parent.is_dir():
            for series in folder.parent.iterdir():
                set_aside(series, self._first)
        self._begun = True
        folder.mkdir(parents=True, exist_ok=True)


def _folder_name(name: str) -> str:
    safe = re.sub(r'[/\\:*?"<>|\x00-\x1f]', "_", name)
    return safe if safe.strip(". ") else f"_{safe}_"
