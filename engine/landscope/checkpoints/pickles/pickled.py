"""A pickle of a file as plain values, with one sentence for whatever is wrong with it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from landscope.checkpoints.pickles.unpickle import RestrictedUnpickler
from landscope.checkpoints.records import Storage, TruncatedError
from landscope.checkpoints.wording import shown
from landscope.contract.errors import CheckpointError

Locate = Callable[[str], Storage | None]

_ERRORS = (
    pickle.UnpicklingError,
    EOFError,
    ArithmeticError,
    AttributeError,
    BufferError,
    ImportError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


def nowhere(_key: str) -> Storage | None:
    """The place of a storage in a pickle that has none."""
    return None


def unpickled(path: Path, file: IO[bytes], locate: Locate = nowhere) -> tuple[Any, RestrictedUnpickler]:
    """The values of the next pickle in ``file``, and what read them.

    Raises:
        TruncatedError: it ends too early. CheckpointError: it cannot be read.
    """
    unpickler = RestrictedUnpickler(file, locate)
    try:
        return unpickler.load(), unpickler
    except _ERRORS as error:
        if isinstance(error, EOFError) or "truncated" in str(error):
            raise TruncatedError(f"{path.name}: truncated: still being written?") from error
        why = f"{type(error).__name__}: {shown(str(error))}"
        raise CheckpointError(f"{path.name}: its pickle cannot be read ({why})") from error
