"""One frozen batch of a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class FrozenBatch:
    """One batch of a split, on the device.

    Attributes:
        value: the batch. size: its samples. split, index, total: which batch it is, of how many.
    """

    value: Any
    size: int
    split: str
    index: int
    total: int

    @property
    def title(self) -> str:
        """Such as "batch 2 of 3 (train)"."""
        return f"batch {self.index + 1} of {self.total} ({self.split})"
