"""The surroundings of a script: it has its own working folder, arguments, random stream and torch settings.

What a script changes is put back after each call, and is there again at its next call.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from landscope.project.running.printing import closed_input
from landscope.project.running.process_state import SETTINGS, put_settings, read_settings

_FELT = (
    "folder",
    "arguments",
    "dtype",
    "device",
    "depth",
    "deterministic",
    "matmul",
    "cudnn",
    "autocast",
    "module_hooks",
)
"""What a forward pass or a loss may depend on; putting it is cheap enough to do so for every batch."""
_LOST = ("dtype", "threads")
"""What a loss changes and forgets to put back."""
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
        arguments: what it finds in ``sys.argv`` after its own name.
    """

    def __init__(
        self, script: Path, paths: tuple[str, ...], seed: int = 0, arguments: tuple[str, ...] = ()
    ) -> None:
        self._script, self._paths, self._seed, self._arguments = script, paths, seed, arguments
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
        host, host_random = read_settings(), read_randomness()
        try:
            self._inside = True
            self._enter(host)
            yield
        finally:
            self._own, self._random = read_settings(), read_randomness()
            self._felt = tuple(name for name in _FELT if self._own[name] != host[name])
            self._own["streams"] = (self._own["streams"][0], host["streams"][1], host["streams"][2])
            put_settings(host)
            put_randomness(host_random)
            self._inside = False

    def _enter(self, host: dict[str, Any]) -> None:
        if self._own is None or self._random is None:
            put_settings({**host, **self._first(host)})
            seed_everything(self._seed)
            return
        put_settings(self._own)
        put_randomness(self._random)

    def _first(self, host: dict[str, Any]) -> dict[str, Any]:
        """What a script finds at first: as if started by ``python script.py`` without a terminal."""
        return {
            "folder": str(self._script.parent),
            "arguments": [str(self._script), *self._arguments],
            "path": [*self._paths, *(entry for entry in host["path"] if entry not in self._paths)],
            "streams": (closed_input(), host["streams"][1], host["streams"][2]),
            "environ": {**host["environ"], "MPLBACKEND": "Agg", "PYTHONBREAKPOINT": "0"},
            "filters": [("default", None, Warning, None, 0)],
            "grad": True,
        }

    @contextmanager
    def felt(self) -> Iterator[None]:
        """Only the settings that a forward pass or a loss may depend on; random generators go on."""
        if self._own is None or self._inside:
            yield
            return
        host = {name: SETTINGS[name].read() for name in (*_LOST, *self._felt)}
        try:
            for name in self._felt:
                SETTINGS[name].put(self._own[name])
            yield
        finally:
            put_settings(host)
