"""What is global in a process and a script may change: how each is read and put back."""

from __future__ import annotations

import builtins
import gc
import locale
import logging
import multiprocessing
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.modules import module as modules


class _Setting(NamedTuple):
    """Something global: how to read it and how to put it."""

    read: Callable[[], Any]
    put: Callable[[Any], object]


def _read_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # a script may remove the folder that it works in
        return ""


def _put_folder(folder: str) -> None:
    with suppress(OSError):  # it may be gone
        os.chdir(folder)


def _read_device() -> torch.device | None:
    """None for one that is not here: naming it does no harm, using it would."""
    try:
        return torch.get_default_device()
    except (AssertionError, RuntimeError):
        return None


def _put_device(device: torch.device | None) -> None:
    """``None`` removes the mode; naming the CPU would install one, which slows down every call."""
    torch.set_default_device(None if device is None or device.type == "cpu" else device)


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _put_deterministic(flags: tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(flags[0], warn_only=flags[1])


def _put_environ(wanted: dict[str, str]) -> None:
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _put_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]
    warnings._filters_mutated()  # type: ignore[attr-defined]  # what catch_warnings calls


def _put_streams(streams: tuple[Any, Any, Any]) -> None:
    sys.stdin, sys.stdout, sys.stderr = streams


def _cudnn() -> tuple[bool, ...]:
    flags = torch.backends.cudnn
    return flags.enabled, flags.benchmark, flags.deterministic, flags.allow_tf32


def _put_cudnn(values: tuple[bool, ...]) -> None:
    flags = torch.backends.cudnn
    flags.enabled, flags.benchmark, flags.deterministic, flags.allow_tf32 = values


def _logging() -> tuple[int, list[logging.Handler], int]:
    return logging.root.level, list(logging.root.handlers), logging.root.manager.disable


def _put_logging(values: tuple[int, list[logging.Handler], int]) -> None:
    logging.root.setLevel(values[0])
    logging.root.handlers[:] = values[1]
    logging.disable(values[2])


def _put_locale(name: str) -> None:
    with suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, name)


def _read_attributes() -> tuple[Any, ...]:
    return tuple(getattr(module, name) for module, name in _ATTRIBUTES)


def _put_attributes(values: tuple[Any, ...]) -> None:
    for (module, name), value in zip(_ATTRIBUTES, values, strict=True):
        setattr(module, name, value)


def _read_module_hooks() -> dict[str, dict[Any, Any]]:
    return {name: dict(getattr(modules, name)) for name in _MODULE_HOOKS}


def _put_module_hooks(hooks: dict[str, dict[Any, Any]]) -> None:
    for name, before in hooks.items():
        table = getattr(modules, name)
        table.clear()
        table.update(before)


def _read_autocast() -> tuple[bool, torch.dtype, bool, torch.dtype]:
    on, dtype = torch.is_autocast_enabled, torch.get_autocast_dtype
    return on("cpu"), dtype("cpu"), on("cuda"), dtype("cuda")


def _put_autocast(values: tuple[bool, torch.dtype, bool, torch.dtype]) -> None:
    for device, enabled, dtype in (("cpu", *values[:2]), ("cuda", *values[2:])):
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)
    torch.clear_autocast_cache()


def _read_tracing() -> tuple[Any, Any, Any, Any]:
    return sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()


def _put_tracing(values: tuple[Any, Any, Any, Any]) -> None:
    sys.settrace(values[0])
    sys.setprofile(values[1])
    threading.settrace(values[2])
    threading.setprofile(values[3])


_ATTRIBUTES: tuple[tuple[Any, str], ...] = (
    (sys, "excepthook"),
    (sys, "displayhook"),
    (threading, "excepthook"),
    (warnings, "showwarning"),
    (builtins, "print"),
    (tempfile, "tempdir"),
    (torch, "load"),
    (torch, "save"),
)
"""Global functions and values that scripts replace by their own."""
_MODULE_HOOKS = tuple(name for name in vars(modules) if re.fullmatch(r"_global_\w+_hooks\w*", name))
"""torch's tables of hooks on all modules."""


SETTINGS: dict[str, _Setting] = {
    "folder": _Setting(_read_folder, _put_folder),
    "arguments": _Setting(lambda: list(sys.argv), lambda value: setattr(sys, "argv", list(value))),
    "path": _Setting(lambda: list(sys.path), lambda value: sys.path.__setitem__(slice(None), value)),
    "streams": _Setting(lambda: (sys.stdin, sys.stdout, sys.stderr), _put_streams),
    "environ": _Setting(lambda: dict(os.environ), _put_environ),
    "filters": _Setting(lambda: list(warnings.filters), _put_filters),
    "errors": _Setting(np.geterr, lambda value: np.seterr(**value)),
    "print": _Setting(np.get_printoptions, lambda value: np.set_printoptions(**value)),
    "dtype": _Setting(torch.get_default_dtype, torch.set_default_dtype),
    "grad": _Setting(torch.is_grad_enabled, torch.set_grad_enabled),
    "device": _Setting(_read_device, _put_device),
    "threads": _Setting(torch.get_num_threads, torch.set_num_threads),
    "deterministic": _Setting(_deterministic, _put_deterministic),
    "matmul": _Setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "cudnn": _Setting(_cudnn, _put_cudnn),
    "anomaly": _Setting(torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    "logging": _Setting(_logging, _put_logging),
    "locale": _Setting(lambda: locale.setlocale(locale.LC_ALL), _put_locale),
    "attributes": _Setting(_read_attributes, _put_attributes),
    "module_hooks": _Setting(_read_module_hooks, _put_module_hooks),
    "autocast": _Setting(_read_autocast, _put_autocast),
    "tracing": _Setting(_read_tracing, _put_tracing),
    "switching": _Setting(sys.getswitchinterval, sys.setswitchinterval),
    "depth": _Setting(sys.getrecursionlimit, sys.setrecursionlimit),
    "collecting": _Setting(gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    "starting": _Setting(
        lambda: multiprocessing.get_start_method(allow_none=True),
        lambda name: multiprocessing.set_start_method(name, force=True),
    ),
}


def read_settings() -> dict[str, Any]:
    """All of them as they are."""
    return {name: setting.read() for name, setting in SETTINGS.items()}


def put_settings(values: dict[str, Any]) -> None:
    """Put those that differ."""
    for name, value in values.items():
        if SETTINGS[name].read() != value:
            SETTINGS[name].put(value)
