"""Values to the terminal."""

from __future__ import annotations

from typing import Any

from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.values import plain


class PrintWriter(AbstractWriter):
    """Prints each value as one line, ``name : value``, as it comes; arrays by their shape."""

    def __init__(self, savepath: str = "", **_: Any) -> None:
        self.savepath = savepath

    def add_scalar(self, name: str, value: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Print one value."""
        found = plain(value)
        print(name, ":", f"array of {found.shape}" if hasattr(found, "shape") else found)

    def save(self) -> None:
        """All is printed already."""

    def close(self) -> None:
        """All is printed already."""
