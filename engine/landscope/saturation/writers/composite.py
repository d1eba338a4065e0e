"""Several writers behind one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from landscope.saturation.writers.base import AbstractWriter


class CompositWriter(AbstractWriter):
    """Hands everything to each of its writers, in their order; one that fails keeps nothing from the others.

    What the first failing one raised is raised once all had their turn, with notes of the other failures.
    """

    def __init__(self, writers: Sequence[AbstractWriter]) -> None:
        self.writers = list(writers)

    def resume_from_saved_state(self, initial_epoch: int) -> None:
        """Let each go on at ``initial_epoch``."""
        self._each(lambda writer: writer.resume_from_saved_state(initial_epoch))

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:
        """Hand one value to each."""
        self._each(lambda writer: writer.add_scalar(name, value, **kwargs))

    def add_scalars(self, prefix: str, value_dict: Mapping[str, Any], *more: Any, **kwargs: Any) -> None:
        """Hand several values to each."""
        self._each(lambda writer: writer.add_scalars(prefix, value_dict, *more, **kwargs))

    def add_flags(self, mode: str, layer: str, flags: Sequence[str]) -> None:
        """Hand the flags of a layer to each."""
        self._each(lambda writer: writer.add_flags(mode, layer, flags))

    def save(self) -> None:
        """Let each store what it has."""
        self._each(lambda writer: writer.save())

    def close(self) -> None:
        """Close each."""
        self._each(lambda writer: writer.close())

    def _each(self, action: Callable[[AbstractWriter], None]) -> None:
        failures: list[Exception] = []
        for writer in self.writers:
            try:
                action(writer)
            except Exception as error:
                failures.append(error)
        for other in failures[1:]:
            failures[0].add_note(f"{type(other).__name__} in another writer: {other}")
        if failures:
            raise failures[0]
