"""Hosts that compute nothing, and waiting for a condition while the event loop runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from landscope.contract.job import DistanceJob, PlaneJob
from landscope.contract.options import DataOptions, LandscapeOptions, ProjectSpec
from landscope_app.hosts.bridge import EngineHost

SCRIPT = Path(__file__).parents[1] / "data" / "window" / "fake_host.py"
QUICK, ENDLESS, DEAF, DYING, FAILING, PLANE, NOISY, TORRENT, IMPORTING, ARGUMENTS = range(10)


def fake_host(_role: str = "engine", _python: str = "") -> EngineHost:
    return EngineHost(command=[sys.executable, "-P", str(SCRIPT)])


def project(behaviour: int, root: str = "/nowhere") -> ProjectSpec:
    return ProjectSpec(root=root, script=f"{root}/m.py", trusted=True, data=DataOptions(seed=behaviour))


def distance_job(behaviour: int) -> DistanceJob:
    return DistanceJob(project=project(behaviour), run="skip")


def plane_job(behaviour: int = PLANE, grid: int = 9) -> PlaneJob:
    options = LandscapeOptions(grid=grid)
    return PlaneJob(project=project(behaviour), id="skip-random", run="skip", options=options)


def wait_until(condition: Callable[[], object], seconds: float = 15.0) -> None:
    """Run the event loop until ``condition()``; AssertionError after ``seconds``."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never came true"
        QApplication.processEvents()
        time.sleep(0.002)


def settle(*objects: object) -> None:
    """Let deleteLater happen."""
    QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
