"""Devices by name."""

from __future__ import annotations

import torch

from landscope.contract.errors import OptionError


def available_devices() -> tuple[str, ...]:
    """Names of the devices here, best first: CUDA devices, ``mps``, ``cpu``."""
    cuda = tuple(f"cuda:{k}" for k in range(torch.cuda.device_count())) if torch.cuda.is_available() else ()
    mps = ("mps",) if torch.backends.mps.is_available() else ()
    return (*cuda, *mps, "cpu")


def choose_device(name: str = "auto") -> torch.device:
    """The device called ``auto`` (the best one), ``cpu``, ``cuda``, ``cuda:1`` or ``mps``.

    Raises:
        OptionError: there is no such device here.
    """
    here = available_devices()
    wanted = {"auto": here[0], "": here[0], "cuda": "cuda:0"}.get(name, name)
    if wanted not in here:
        raise OptionError(f"There is no device {name!r} here; choose one of: auto, {', '.join(here)}.")
    return torch.device(wanted)
