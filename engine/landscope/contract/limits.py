"""Values that options may take, checked before any work begins."""

from __future__ import annotations

import math
import re

from landscope.contract.errors import OptionError
from landscope.contract.options import LandscapeOptions, ProjectSpec, SaturationOptions

GRIDS = (5, 9, 17, 33, 65, 129)
"""Points per axis of planes: each grid holds every point of the one before."""
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def check(project: ProjectSpec) -> None:
    """Refuse options that no analysis can use, whoever set them.

    Whether a device is there is not asked here: the engine may run on another machine.

    Raises:
        OptionError: the first such option, its value, and what it may be.
    """
    data, engine = project.data, project.engine
    _need(data.samples >= 0, "samples", data.samples, "0 (all) or more")
    _need(data.batch_size >= 0, "batch_size", data.batch_size, "0 (as the data comes) or more")
    _need(engine.threads >= 0, "threads", engine.threads, "0 (the default) or more")
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
    _need(options.points >= 2, "points", options.points, "2 or more")
    _need(0 < options.reach < math.inf, "reach", options.reach, "a number above 0")
    _need(0 <= options.extend < math.inf, "extend", options.extend, "0 or more")
    _need(0 <= options.stop_surplus < math.inf, "stop_surplus", options.stop_surplus, "0 or more")
    _need(options.seed >= 0, "seed", options.seed, "0 or more")


def _need(good: bool, name: str, value: object, allowed: str) -> None:
    if not good:
        raise OptionError(f"{name} is {value}; it must be {allowed}.")
