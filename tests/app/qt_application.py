"""One application for the tests of widgets, and widgets that are gone when a test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget

Keep = Callable[[QWidget], QWidget]


@pytest.fixture(scope="session")
def application() -> QApplication:
    existing = QApplication.instance()
    return existing if isinstance(existing, QApplication) else QApplication(["test"])


@pytest.fixture
def keep(application: QApplication) -> Iterator[Keep]:
    """Register widgets; they are closed and deleted at the end of the test."""
    widgets: list[QWidget] = []

    def register(widget: QWidget) -> QWidget:
        widgets.append(widget)
        return widget

    yield register
    for widget in widgets:
        widget.close()
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    application.processEvents()
