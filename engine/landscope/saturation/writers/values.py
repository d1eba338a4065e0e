"""Values as they are stored, and the epochs they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.saturation.series_names import eval_partner


def plain(value: Any) -> int | float | str | NDArray[Any]:
    """A number, a text, or an array on the host; tensors of any device and precision are copied."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        return array if array.dtype.kind in "biufc" else str(value)
    number: int | float = array.item()
    return number


class Epochs:
    """Which epoch a value belongs to: a series that comes again opens the next one.

    So a series may be missing in some epochs, and values may come before or after ``save``. A tracker reports
    training before evaluation: statistics of training after those of evaluation open the next epoch too.
    """

    def __init__(self, first: int = 0) -> None:
        self.current = first
        self._seen: set[str] = set()

    def place(self, name: str, epoch: int | None = None) -> int:
        """The epoch of the value that now comes for ``name``; ``epoch`` says it where the caller knows."""
        if epoch is None:
            epoch = self.current + (name in self._seen or eval_partner(name) in self._seen)
        if epoch != self.current:
            self.current = epoch
            self._seen.clear()
        self._seen.add(name)
        return epoch
