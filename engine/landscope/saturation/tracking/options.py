"""What the arguments of a tracker come to: checked choices, a device that exists, its writer."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, get_args

import torch
from torch import nn

from landscope.contract.errors import OptionError
from landscope.contract.intrinsic import IdimRule, is_share
from landscope.layers.samples import ConvMethod, TimeseriesMethod
from landscope.saturation.writers.base import AbstractWriter
from landscope.saturation.writers.composite import CompositWriter
from landscope.saturation.writers.registry import WRITERS, make_writer

_WRITE_NO_FILES = {"print"}

log = logging.getLogger("landscope.saturation")


def as_list(option: str, given: Any, kinds: tuple[type[nn.Module], ...] = ()) -> list[Any]:
    """The names that were given, also where it is one by itself or nothing.

    ``kinds``: classes derived from these may stand among them.

    Raises:
        OptionError: something else is among them.
    """
    names = [given] if isinstance(given, str | type) or not isinstance(given or (), Iterable) else given or ()
    found = list(names)
    for one in found:
        if not (isinstance(one, str) or (isinstance(one, type) and issubclass(one, kinds))):
            wanted = "names of modules or classes of them" if kinds else "names of modules"
            raise OptionError(f"{option} holds {one!r}, but takes {wanted}.")
    return found


def check_choices(conv_method: str, timeseries_method: str, idim_rule: str) -> None:
    """Refuse the unknown.

    Raises:
        OptionError: one of them is none of the names it may have.
    """
    choices = {
        "conv_method": (conv_method, ConvMethod),
        "timeseries_method": (timeseries_method, TimeseriesMethod),
        "idim_rule": (idim_rule, IdimRule),
    }
    for option, (value, allowed) in choices.items():
        if value not in get_args(allowed):
            raise OptionError(f"{option} is {value!r}, which is none of {', '.join(get_args(allowed))}.")


def check_counts(least: int, **counts: object) -> None:
    """Refuse what is no whole number, and one that is too small.

    Raises:
        OptionError: one of them cannot be used.
    """
    for name, count in counts.items():
        if not isinstance(count, Integral) or count < least:
            raise OptionError(f"{name} is {count!r}; it must be a whole number, at least {least}.")


def check_share(row_share: float) -> None:
    """Refuse what is no share of the rows.

    Raises:
        OptionError: not 0 < row_share ≤ 1.
    """
    if not is_share(row_share):
        raise OptionError(f"row_share is {row_share!r}; it must be above 0 and at most 1.")


def usable_device(device: str | torch.device | None) -> torch.device | None:
    """The device, or None if none is given or this machine has none such.

    Raises:
        OptionError: torch knows no device of this name.
    """
    if device is None:
        return None
    try:
        wanted = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise OptionError(
            f"device is {device!r}, which is no device of torch such as cpu or cuda:0."
        ) from error
    if wanted.type == "cpu":
        return wanted
    kind = getattr(torch, wanted.type, None)
    there = kind is not None and kind.is_available() and (wanted.index or 0) < kind.device_count()
    return wanted if there else None


def resume(writer: AbstractWriter, initial_epoch: int) -> None:
    """Let the writer go on at ``initial_epoch``, if that is above 0; one that cannot is told in the log.

    Raises:
        StatisticsFileError: what is there is no file of statistics.
    """
    if initial_epoch > 0:
        for one in writer.writers if isinstance(writer, CompositWriter) else [writer]:
            try:
                one.resume_from_saved_state(initial_epoch)
            except NotImplementedError:
                log.warning("%s cannot go on from an earlier training and starts anew.", type(one).__name__)


def writer_for(
    save_to: str | AbstractWriter | Sequence[str | AbstractWriter],
    savefile: str,
    writer_args: Mapping[str, Any] | Sequence[Mapping[str, Any] | None] | None,
    nosave: bool,
) -> AbstractWriter:
    """The writer that was asked for; with ``nosave`` without those parts that write files by themselves.

    Raises:
        OptionError: as ``make_writer``.
    """
    if not nosave:
        return make_writer(save_to, savefile, writer_args)
    asked: list[Any] = [save_to]
    if isinstance(save_to, Iterable) and not isinstance(save_to, str | AbstractWriter):
        asked = list(save_to)
    silenced = WRITERS.keys() - _WRITE_NO_FILES
    kept = [k for k, one in enumerate(asked) if not isinstance(one, str) or one not in silenced]
    if isinstance(writer_args, list | tuple) and len(writer_args) == len(asked):
        writer_args = [given for k, given in enumerate(writer_args) if k in kept]
    return make_writer([asked[k] for k in kept], savefile, writer_args)


def level_of(verbose: bool | int) -> int | None:
    """The level to tell things at, made visible if nobody has set up logging; None = tell nothing.

    Raises:
        OptionError: it is neither.
    """
    if not verbose:
        return None
    if not isinstance(verbose, int):
        raise OptionError(f"verbose is {verbose!r}; it takes True or a level of logging such as 20.")
    level = int(verbose) if verbose >= logging.DEBUG else logging.INFO
    if not log.isEnabledFor(level):
        log.setLevel(level)
    if not log.hasHandlers():
        log.addHandler(logging.StreamHandler())
    return level
