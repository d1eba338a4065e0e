"""What all tests share: a home of their own, one QApplication, and a watch for what a test leaves behind."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

sys.path.insert(0, str(Path(__file__).parent))  # leaks.py lies here
from leaks import leaked, present

_TESTS = Path(__file__).parent

# Busy machines stall at any moment: how long an example takes says nothing there.
settings.register_profile("landscope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("landscope")

# Nobody's own trust, settings or journals are read or written, by child processes neither.
_HOME = tempfile.TemporaryDirectory(prefix="landscope-tests-")
for _name, _variable in (("config", "LANDSCOPE_CONFIG_DIR"), ("data", "LANDSCOPE_DATA_DIR")):
    os.environ[_variable] = str(Path(_HOME.name) / _name)


def pytest_collection_finish() -> None:
    """Take what importing the tests made out of every later collection, which makes these fast."""
    if "PySide6.QtCore" in sys.modules:
        share_contexts()
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    _HOME.cleanup()


def share_contexts() -> None:
    """Let OpenGL contexts share their objects, as the program does; only before the application exists."""
    from PySide6.QtCore import QCoreApplication, Qt

    if QCoreApplication.instance() is None:
        QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    """The one QApplication of all tests."""
    from PySide6.QtWidgets import QApplication

    share_contexts()
    found = QApplication.instance()
    return found if isinstance(found, QApplication) else QApplication(["landscope-tests"])


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test after which a thread, child process, QThread, QTimer or window of its own still runs."""
    # Looking for Qt's takes 20 ms, and tests of the engine know no Qt.
    before = present(qt="engine" not in request.path.relative_to(_TESTS).parts)
    yield
    left = leaked(before)
    if left:
        pytest.fail("left behind: " + "; ".join(left), pytrace=False)
