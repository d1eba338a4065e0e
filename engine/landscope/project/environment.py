"""The surroundings of a script: it has its own working folder, arguments, random stream and torch settings.

What a script changes is put back after each call, and is there again at its next call.
"""

from __future__ import annotations

import io
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch


class _Setting(NamedTuple):
    """Something global: how to read it and how to put it."""

    read: Callable[[], Any]
    put: Callable[[Any], object]


def _put_folder(folder: str) -> None:
    with suppress(OSError):  # it may be gone
        os.chdir(folder)


def _put_device(device: torch.device) -> None:
    """``None`` removes the mode; naming the CPU would install one, which slows down every call."""
    torch.set_default_device(None if device.type == "cpu" else device)


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


_SETTINGS: dict[str, _Setting] = {
    "folder": _Setting(os.getcwd, _put_folder),
    "arguments": _Setting(lambda: list(sys.argv), lambda value: setattr(sys, "argv", list(value))),
    "path": _Setting(lambda: list(sys.path), lambda value: sys.path.__setitem__(slice(None), value)),
    "streams": _Setting(lambda: (sys.stdin, sys.stdout, sys.stderr), _put_streams),
    "environ": _Setting(lambda: dict(os.environ), _put_environ),
    "filters": _Setting(lambda: list(warnings.filters), _put_filters),
    "errors": _Setting(np.geterr, lambda value: np.seterr(**value)),
    "print": _Setting(np.get_printoptions, lambda value: np.set_printoptions(**value)),
    "dtype": _Setting(torch.get_default_dtype, torch.set_default_dtype),
    "grad": _Setting(torch.is_grad_enabled, torch.set_grad_enabled),
    "device": _Setting(torch.get_default_device, _put_device),
    "threads": _Setting(torch.get_num_threads, torch.set_num_threads),
    "deterministic": _Setting(_deterministic, _put_deterministic),
    "matmul": _Setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    "benchmark": _Setting(
        lambda: torch.backends.cudnn.benchmark,
        lambda value: setattr(torch.backends.cudnn, "benchmark", value),
    ),
    "anomaly": _Setting(torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
}
_NUMERIC = ("dtype", "device")


def _read_settings() -> dict[str, Any]:
    return {name: setting.read() for name, setting in _SETTINGS.items()}


def _put_settings(values: dict[str, Any]) -> None:
    for name, value in values.items():
        if _SETTINGS[name].read() != value:
            _SETTINGS[name].put(value)


Randomness = tuple[Any, ...]


def read_randomness() -> Randomness:
    """State of the generators of Python, NumPy and torch (all CUDA devices if CUDA is in use)."""
    used = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    cuda = torch.cuda.get_rng_state_all() if used else None
    return random.getstate(), np.random.get_state(), torch.get_rng_state(), cuda


def put_randomness(state: Randomness) -> None:
    """Put back what ``read_randomness`` read."""
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.set_rng_state(state[2])
    if state[3] is not None:
        torch.cuda.set_rng_state_all(state[3])


def seed_everything(seed: int) -> None:
    """Seed the generators of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.manual_seed(seed)


class Environment:
    """Where a script lives. ``with environment.entered():`` makes it the process's surroundings.

    Args:
        script: the script's file. paths: folders that come first on ``sys.path``. seed: of its generators.
    """

    def __init__(self, script: Path, paths: tuple[str, ...], seed: int = 0) -> None:
        self._script, self._paths, self._seed = script, paths, seed
        self._own: dict[str, Any] | None = None
        self._random: Randomness | None = None
        self._inside = False
        self._felt: tuple[str, ...] = ()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """The script's surroundings inside, the process's own afterwards; may be nested."""
        if self._inside:
            yield
            return
        host, host_random = _read_settings(), read_randomness()
        try:
            self._inside = True
            self._enter(host)
            yield
        finally:
            self._own, self._random = _read_settings(), read_randomness()
            self._felt = tuple(name for name in _NUMERIC if self._own[name] != host[name])
            self._own["streams"] = (self._own["streams"][0], host["streams"][1], host["streams"][2])
            _put_settings(host)
            put_randomness(host_random)
            self._inside = False

    def _enter(self, host: dict[str, Any]) -> None:
        if self._own is None or self._random is None:
            _put_settings({**host, **self._first(host)})
            seed_everything(self._seed)
            return
        _put_settings(self._own)
        put_randomness(self._random)

    def _first(self, host: dict[str, Any]) -> dict[str, Any]:
        """What a script finds at first: as if started by ``python script.py`` without a terminal."""
        return {
            "folder": str(self._script.parent),
            "arguments": [str(self._script)],
            "path": [*self._paths, *(entry for entry in host["path"] if entry not in self._paths)],
            "streams": (_closed_input(), host["streams"][1], host["streams"][2]),
            "environ": {**host["environ"], "MPLBACKEND": "Agg"},
            "filters": [("default", None, Warning, None, 0)],
            "grad": True,
        }

    @contextmanager
    def numerics(self) -> Iterator[None]:
        """Only the settings that a forward pass feels (default dtype and device); free if unchanged."""
        if not self._felt or self._own is None or self._inside:
            yield
            return
        host = {name: _SETTINGS[name].read() for name in self._felt}
        try:
            _put_settings({name: self._own[name] for name in self._felt})
            yield
        finally:
            _put_settings(host)


def _closed_input() -> io.StringIO:
    """A standard input that is at its end: ``input()`` raises EOFError instead of waiting for ever."""
    return io.StringIO("")
