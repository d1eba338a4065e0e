"""Values to the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from landscope.saturation.series_names import parts
from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.values import plain


class PrintWriter(AbstractWriter):
    """Prints each value as one line, ``name : value``, as it comes; arrays by their shape.

    What keeps the value of a layer from being trusted stands after it: ``(too few samples)``.
    """

    def __init__(self, savepath: str = "", **_: Any) -> None:
        self.savepath = savepath
        self._flags: dict[tuple[str, str], Sequence[str]] = {}

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Print one value."""
        found = plain(value)
        named = parts(name)
        flags = self._flags.get((named.mode, named.layer), ()) if named else ()
        marks = [f"({', '.join(flags).replace('_', ' ')})"] if flags else []
        print(name, ":", f"array of {found.shape}" if hasattr(found, "shape") else found, *marks)

    def add_flags(self, mode: str, layer: str, flags: Sequence[str]) -> None:
        """Mark the values of the layer that come next."""
        self._flags[mode, layer] = flags

    def save(self) -> None:
        """All is printed already."""

    def close(self) -> None:
        """All is printed already."""
