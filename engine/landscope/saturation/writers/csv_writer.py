"""Statistics as a table: one row per epoch, one column per series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from landscope.saturation.spectra import SPECTRUM
from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.spectra_table import SpectraBeside
from landscope.saturation.writers.stored import StoredFile
from landscope.saturation.writers.table import Table, read_csv
from landscope.saturation.writers.values import Epochs, plain


class CSVWriter(AbstractWriter):
    """Writes ``savepath + ".csv"``, columns parted by semicolons; the first holds the epoch.

    A series that has no value in an epoch leaves its cell empty. A file that was there before is kept as
    ``.bak``. Spectra go to the folder ``savepath + ".spectra"`` beside it; other arrays have no place in a
    table and are left out.
    """

    def __init__(self, savepath: str, **_: Any) -> None:
        self.savepath = str(savepath)
        self._file = StoredFile(Path(f"{savepath}.csv"))
        self._spectra = SpectraBeside(self.savepath)
        self._table = Table()
        self._epochs = Epochs()
        self._unsaved = False

    def resume_from_saved_state(self, initial_epoch: int) -> None:
        """Keep the rows before ``initial_epoch`` of the file that is there.

        Raises:
            StatisticsFileError: the file is no such table.
        """
        self._epochs = Epochs(initial_epoch)
        self._spectra.resume(initial_epoch)
        if initial_epoch and self._file.path.exists():
            rows = read_csv(self._file.path)
            self._table = Table({epoch: row for epoch, row in rows.items() if epoch < initial_epoch})

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Take one number or spectrum; other arrays are left out."""
        found = plain(value)
        epoch = self._epochs.place(name, kwargs.get("epoch"))
        self._unsaved = True
        if isinstance(found, int | float | str):
            self._table.put(epoch, name, found)
        elif SPECTRUM in name:
            self._spectra.add(name, epoch, found, kwargs.get("dimension"))

    def save(self) -> None:
        """Write the table, and the spectra if there are some, each in one step.

        Raises:
            StatisticsFileError: a file cannot be written; the old one is as it was.
        """
        self._spectra.save()
        self._file.write(self._table.text().encode())
        self._unsaved = False

    def close(self) -> None:
        """Store what came after the last ``save``.

        Raises:
            StatisticsFileError: a file cannot be written; the old one is as it was.
        """
        if self._unsaved:
            self.save()
