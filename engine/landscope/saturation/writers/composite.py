"""Several writers behind one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from landscope.saturation.writers.base import AbstractWriter


class CompositWriter(AbstractWriter):
    """Hands everything to each of its writers, in their order."""

    def __init__(self, writers: Sequence[AbstractWriter]) -> None:
        self.writers = list(writers)

    def resume_from_saved_state(self, initial_epoch: int) -> None:
        """Let each go on at ``initial_epoch``."""
        for writer in self.writers:
            writer.resume_from_saved_state(initial_epoch)

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Hand one value to each."""
        for writer in self.writers:
            writer.add_scalar(name, value, **kwargs)

    def add_scalars(self, prefix: str, value_dict: Mapping[str, Any], sep: str = "_", **kwargs: Any) -> None:
        """Hand several values to each."""
        for writer in self.writers:
            writer.add_scalars(prefix, value_dict, sep=sep, **kwargs)

    def save(self) -> None:
        """Let each store what it has."""
        for writer in self.writers:
            writer.save()

    def close(self) -> None:
        """Close each."""
        for writer in self.writers:
            writer.close()
