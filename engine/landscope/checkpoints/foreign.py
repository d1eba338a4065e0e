"""Placeholders for what a pickle names: they hold what the file put into them and do nothing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np


class Foreign:
    """Something a file named that is not on the list: never imported, never run, only remembered.

    Attributes:
        origin: the name in the file, such as ``argparse.Namespace``.
        arguments, state, items, values: what the file put into it.
    """

    origin = ""
    arguments: tuple[Any, ...]
    state: Any
    items: dict[Any, Any]
    values: list[Any]

    def __new__(cls, *arguments: Any, **_named: Any) -> Foreign:
        """Keep the arguments; nothing else happens."""
        made = object.__new__(cls)
        made.arguments, made.state, made.items, made.values = arguments, None, {}, []
        return made

    def __init__(self, *_arguments: Any, **_named: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        """Keep the state."""
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        """Keep an item."""
        self.items[key] = value

    def append(self, value: Any) -> None:
        """Keep a value."""
        self.values.append(value)

    def extend(self, values: Any) -> None:
        """Keep values."""
        self.values.extend(values)

    def __call__(self, *_arguments: Any, **_named: Any) -> Foreign:
        """A placeholder that is called gives itself."""
        return self


class InertArray:
    """A NumPy array of numbers that a file stores whole."""

    def __init__(self, *_arguments: Any) -> None:
        self.array: np.ndarray[Any, Any] | None = None

    def __setstate__(self, state: Any) -> None:
        """``(version, shape, dtype, is_fortran, bytes)`` as NumPy pickles it; other states are left out."""
        try:
            _, shape, dtype, fortran, raw = state
            if isinstance(dtype, InertDtype) and isinstance(raw, bytes):
                flat = np.frombuffer(raw, dtype.numeric())
                self.array = flat.reshape(shape, order="F" if fortran else "C")
        except (TypeError, ValueError):
            self.array = None


class InertDtype:
    """A NumPy dtype by its code."""

    def __init__(self, code: Any = "", *_flags: Any) -> None:
        self.code = code
        self.order: Literal["<", ">", "|", "="] = "<"

    def __setstate__(self, state: Any) -> None:
        """Keep the byte order."""
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">", "|", "="):
            self.order = state[1]

    def numeric(self) -> np.dtype[Any]:
        """The dtype itself.

        Raises:
            ValueError: not a number or boolean.
        """
        dtype = np.dtype(str(self.code)).newbyteorder(self.order)
        if dtype.kind not in "biufc":
            raise ValueError(f"{self.code} is not numeric")
        return dtype
