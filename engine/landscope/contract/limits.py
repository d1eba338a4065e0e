"""Values that options may take, checked before any work begins."""

from __future__ import annotations

import math
import re

from landscope.contract.errors import OptionError
from landscope.contract.options import LandscapeOptions, ProjectSpec, SaturationOptions

GRIDS = (5, 9, 17, 33, 65, 129)
"""Points per axis of planes: each grid holds every point of the one before."""
MOST = 2**63 - 1
"""The largest whole number that jobs, sessions and seeds of generators can carry."""

MOST_THREADS = 1024
"""More than any machine has cores; thousands more crash torch's pools while they start."""
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def check(project: ProjectSpec) -> None:
    """Refuse options that no analysis can use, whoever set them.

    Whether a device is there is not asked here: the engine may run on another machine.

    Raises:
        OptionError: the first such option, its value, and what it may be.
    """
    data, engine = project.data, project.engine
    _count("samples", data.samples, "0 (all)")
    _count("batch_size", data.batch_size, "0 (as the data comes)")
    _count("data seed", data.seed, "0")
    _count("threads", engine.threads, "0 (the default)", most=MOST_THREADS)
    device = engine.device
    _need(not device or bool(_DEVICE.fullmatch(device)), "device", device, "auto, cpu, cuda, cuda:1 or mps")
    _check_saturation(project.saturation or SaturationOptions())
    _check_landscape(project.landscape or LandscapeOptions())


def _check_saturation(options: SaturationOptions) -> None:
    threshold = options.sat_threshold
    _need(0 < threshold <= 1, "sat_threshold", threshold, "above 0 and at most 1")
    _need(0 < options.row_share <= 1, "row_share", options.row_share, "above 0 and at most 1")


def _check_landscape(options: LandscapeOptions) -> None:
    _need(options.grid in GRIDS, "grid", options.grid, f"one of {', '.join(map(str, GRIDS))}")
    _count("points", options.points, "2", least=2)
    _need(0 < options.reach < math.inf, "reach", options.reach, "a number above 0")
    _need(0 <= options.extend < math.inf, "extend", options.extend, "0 or more")
    _need(0 <= options.stop_surplus < math.inf, "stop_surplus", options.stop_surplus, "0 or more")
    _count("seed", options.seed, "0")


def _count(name: str, value: int, lowest: str, *, least: int = 0, most: int = MOST) -> None:
    _need(value >= least, name, value, f"{lowest} or more")
    _need(value <= most, name, value, f"at most {most:,}")


def _need(good: bool, name: str, value: object, allowed: str) -> None:
    if not good:
        raise OptionError(f"{name} is {value}; it must be {allowed}.")
