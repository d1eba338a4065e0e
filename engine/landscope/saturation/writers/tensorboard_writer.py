"""Numbers for TensorBoard."""

from __future__ import annotations

from typing import Any

from landscope.contract.errors import OptionError
from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.values import Epochs, plain


class TensorBoardWriter(AbstractWriter):
    """Writes event files into the folder ``savepath``; the step is the epoch. Arrays are left out.

    What an earlier run wrote there stays on disk, and TensorBoard no longer shows its epochs from the first
    new one on.

    Raises:
        OptionError: tensorboard is not installed.
    """

    def __init__(self, savepath: str, **_: Any) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise OptionError(
                'save_to="tensorboard" needs tensorboard, which is not installed; '
                'run: pip install "landscope[tensorboard]"'
            ) from error
        self.savepath = savepath
        self._open: Any = SummaryWriter
        self._events: Any = None
        self._first = 0
        self._epochs = Epochs()

    def resume_from_saved_state(self, initial_epoch: int) -> None:
        """Go on at ``initial_epoch``; epochs before it stay."""
        self._first = initial_epoch
        self._epochs = Epochs(initial_epoch)

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Write one number; texts and arrays are left out."""
        found = plain(value)
        epoch = self._epochs.place(name, kwargs.get("epoch"))
        if isinstance(found, int | float):
            if self._events is None:
                self._events = self._open(log_dir=self.savepath, purge_step=self._first)
            self._events.add_scalar(name, found, global_step=epoch)

    def save(self) -> None:
        """Push everything to the file."""
        if self._events is not None:
            self._events.flush()

    def close(self) -> None:
        """Close the file and end its thread."""
        if self._events is not None:
            self._events.close()
            self._events = None
