"""Writers by name, and the writer that a tracker's arguments ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from landscope.contract.errors import OptionError
from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.composite import CompositWriter
from landscope.saturation.writers.csv_writer import CSVWriter
from landscope.saturation.writers.npy_writer import NPYWriter
from landscope.saturation.writers.plot_writer import CSVandPlottingWriter
from landscope.saturation.writers.print_writer import PrintWriter
from landscope.saturation.writers.tensorboard_writer import TensorBoardWriter

WRITERS: dict[str, type[AbstractWriter]] = {
    "csv": CSVWriter,
    "plot": CSVandPlottingWriter,
    "tensorboard": TensorBoardWriter,
    "print": PrintWriter,
    "npy": NPYWriter,
    "tb": TensorBoardWriter,
    "plotcsv": CSVandPlottingWriter,
    "csvplot": CSVandPlottingWriter,
    "csvplotting": CSVandPlottingWriter,
}
"""By the names of the original, which has several for some."""

Named = str | AbstractWriter
Arguments = Mapping[str, Any]


def make_writer(
    save_to: Named | Sequence[Named],
    savefile: str,
    writer_args: Arguments | Sequence[Arguments | None] | None = None,
) -> AbstractWriter:
    """The writer of that name, the given one, or all of a list behind one.

    Of two writers of the same table only the one that also draws is kept.

    Args:
        save_to: a key of ``WRITERS``, a writer, or a list of both.
        savefile: path without ending, for writers given by name.
        writer_args: further arguments of writers given by name: one mapping for all, or one per writer.

    Raises:
        OptionError: no writer has that name, or it needs what is not installed, or the arguments are none,
            or not one per writer.
    """
    if not isinstance(save_to, Iterable) or isinstance(save_to, str | AbstractWriter):
        return _one(save_to, savefile, _each(writer_args, 1)[0])
    asked = list(save_to)
    arguments = _each(writer_args, len(asked))
    made = [_one(named, savefile, given) for named, given in zip(asked, arguments, strict=True)]
    drawn = {one.savepath for one in made if isinstance(one, CSVandPlottingWriter)}
    return CompositWriter([one for one in made if not (type(one) is CSVWriter and one.savepath in drawn)])


def _each(given: Any, count: int) -> list[Arguments]:
    if given is None or isinstance(given, Mapping):
        return [_usable(given)] * count
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise OptionError(f"writer_args is {given!r}; it takes a mapping, or a list with one per writer.")
    if len(given) != count:
        raise OptionError(f"writer_args has {len(given)} entries for {count} writers; give one per writer.")
    return [_usable(entry) for entry in given]


def _usable(given: Any) -> Arguments:
    """The arguments of one writer; the path among them, as delve's has it, gives way to ``savefile``."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise OptionError(f"writer_args holds {given!r}; it takes mappings of arguments by name.")
    return {name: value for name, value in given.items() if name != "savepath"}


def _one(named: Named, savefile: str, arguments: Arguments) -> AbstractWriter:
    if isinstance(named, AbstractWriter):
        return named
    if not isinstance(named, str) or named not in WRITERS:
        known = ", ".join(WRITERS)
        raise OptionError(
            f"There is no writer called {named!r}; save_to takes {known}, or a writer of yours."
        )
    make: Any = WRITERS[named]
    writer: AbstractWriter = make(savepath=str(savefile), **arguments)
    return writer
