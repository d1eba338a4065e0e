"""Placeholders for what a pickle names: they hold what the file put into them and do nothing.

Whatever the machine of a pickle can reach must be inert. Its opcode BUILD calls ``__setstate__``, or sets
attributes on an object without one; so everything here has a ``__setstate__`` that keeps or refuses.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

_NUMERIC = re.compile(r"(\?|b1|[iufc](1|2|4|8|16))")


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

    add = append

    def extend(self, values: Any) -> None:
        """Keep values."""
        self.values.extend(values)

    def __call__(self, *_arguments: Any, **_named: Any) -> Foreign:
        """A placeholder that is called gives itself."""
        return self


def entries(value: Any) -> Mapping[Any, Any]:
    """What a mapping or a placeholder holds by name; nothing for anything else."""
    if isinstance(value, Foreign):
        state = value.state if isinstance(value.state, Mapping) else {}
        return {**state, **value.items}
    return value if isinstance(value, Mapping) else {}


class Inert:
    """Base of what a file may call or fill: BUILD is refused, so a file cannot change it."""

    __slots__ = ()

    def __setstate__(self, _state: Any) -> None:
        """Refuse.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError("sets the state of something that has none")


class Call(Inert):
    """A function of ours as a file may call it."""

    __slots__ = ("__run",)

    def __init__(self, run: Callable[..., Any]) -> None:
        self.__run = run

    def __call__(self, *arguments: Any) -> Any:
        """Its value for arguments from the file."""
        return self.__run(*arguments)


class Table(dict[Any, Any]):
    """An ordered dict; attributes such as the ``_metadata`` of state dicts are left out."""

    __slots__ = ()

    def __setstate__(self, _state: Any) -> None:
        pass


class InertArray:
    """A NumPy array of numbers that a file stores whole."""

    __slots__ = ("array",)

    array: np.ndarray[Any, Any] | None

    def __new__(cls, *_arguments: Any) -> InertArray:
        """Empty, whichever way a pickle makes it."""
        made = object.__new__(cls)
        made.array = None
        return made

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

    __slots__ = ("code", "order")

    code: Any
    order: Literal["<", ">", "|", "="]

    def __new__(cls, code: Any = "", *_flags: Any) -> InertDtype:
        """Little-endian until its state says something else."""
        made = object.__new__(cls)
        made.code, made.order = code, "<"
        return made

    def __setstate__(self, state: Any) -> None:
        """Keep the byte order."""
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">", "|", "="):
            self.order = state[1]

    def numeric(self) -> np.dtype[Any]:
        """The dtype itself.

        Raises:
            ValueError: not a number or boolean.
        """
        if not isinstance(self.code, str) or not _NUMERIC.fullmatch(self.code):
            raise ValueError("not a numeric dtype")
        return np.dtype(self.code).newbyteorder(self.order)
