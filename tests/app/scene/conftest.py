"""A small made-up surface, one hidden renderer and one application for the tests of the scene."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from landscope_app.scene.model import SceneState
from landscope_app.scene.offscreen import OffscreenRenderer
from landscope_app.scene.probe import probe_gl

sys.path.insert(0, str(Path(__file__).parent))  # scene_measures.py lies here

MakeState = Callable[..., SceneState]


def _make_state(n: int = 41, **changes: object) -> SceneState:
    x, y = np.linspace(-1, 1, n), np.linspace(-2, 2, n + 4)
    across, along = np.meshgrid(x, y, indexing="ij")
    z = (across**2 + 0.2 * along**2 + 0.1 * np.sin(3 * across) + 0.3).astype(np.float32)
    values: dict[str, object] = {"x": x, "y": y, "z": z, "title_x": "α", "title_y": "β"}
    return SceneState(**{**values, **changes})  # type: ignore[arg-type]


@pytest.fixture
def make_state() -> MakeState:
    return _make_state


@pytest.fixture(scope="session")
def application() -> QApplication:
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    existing = QApplication.instance()
    return existing if isinstance(existing, QApplication) else QApplication(["test"])


@pytest.fixture
def screen(application: QApplication) -> QApplication:
    if probe_gl() is None:
        pytest.skip("no OpenGL on this screen: run under Xvfb")
    return application


@pytest.fixture(scope="session")
def renderer(application: QApplication) -> Iterator[OffscreenRenderer]:
    with OffscreenRenderer() as made:
        yield made


@pytest.fixture
def wait_until(application: QApplication) -> Callable[[Callable[[], bool]], None]:
    def wait(condition: Callable[[], bool]) -> None:
        from PySide6.QtCore import QDeadlineTimer, QEventLoop

        deadline = QDeadlineTimer(15_000)
        while not condition():
            assert not deadline.hasExpired(), "the condition did not come true within 15 s"
            application.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)

    return wait
