"""Offering the results that a crash left unsaved."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from landscope_app.theme.plain import plain_label

if TYPE_CHECKING:
    from landscope.session.recover import Abandoned
    from landscope_app.hosts.background import Background


class RescueCard(QFrame):
    """Hidden unless a journal was left behind by a process that is gone.

    Signals:
        recovered(Session): the person wants it back.
    """

    recovered = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._background: Background | None = None
        self._found: Abandoned | None = None
        self.setProperty("card", "warning")
        self._said = plain_label()
        self._said.setWordWrap(True)
        take, drop = QPushButton("Recover"), QPushButton("Discard")
        take.setAccessibleName("Recover the unsaved results")
        drop.setAccessibleName("Discard the unsaved results")
        take.setProperty("primary", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 12, 10)
        row.addWidget(self._said, 1)
        row.addWidget(take)
        row.addWidget(drop)
        take.clicked.connect(lambda _checked=False: self._take())
        drop.clicked.connect(lambda _checked=False: self._drop())
        self.hide()

    def furnish(self, background: Background) -> None:
        """From now on there are threads to look at the disk."""
        self._background = background

    def look(self) -> None:
        """Look for journals, off the GUI thread."""

        def work() -> list[Abandoned]:
            from landscope.session.recover import abandoned

            return abandoned()

        self._run(work, self._show)

    def _show(self, found: list[Abandoned]) -> None:
        self._found = found[0] if found else None
        self.setVisible(self._found is not None)
        if self._found is not None:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self._found.modified))
            self._said.setText(f"Results of “{self._found.title}” were not saved ({when}).")

    def _take(self) -> None:
        if self._found is None:
            return
        folder = self._found.folder
        self.hide()

        def work() -> object:
            from landscope.session.recover import recover

            return recover(folder)

        self._run(work, self.recovered.emit)

    def _drop(self) -> None:
        if self._found is None:
            return
        folder = self._found.folder

        def work() -> None:
            from landscope.session.recover import discard

            discard(folder)

        self._run(work, lambda _done: self.look())

    def _run(self, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        if self._background is not None:
            self._background.run(work, done)
