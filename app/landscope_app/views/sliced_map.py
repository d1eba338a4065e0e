"""A map of layers and checkpoints that is made in slices, so that the window stays smooth."""

from __future__ import annotations

import time
from collections.abc import Generator

from PySide6.QtCore import QTimer, Signal

from landscope_app.plots.charts import MapChart
from landscope_app.plots.map import MapWidget
from landscope_app.theme.colors import Theme

SLICE_S = 0.006
"""How long it works in one go; the first map of 100 checkpoints and 300 layers takes some 40 of these."""
Steps = Generator[None, None, MapChart]


class SlicedMap(MapWidget):
    """A ``MapWidget`` whose chart comes from a generator.

    Signals:
        drawn: the ``MapChart`` that is now shown (without rows where there is nothing yet).
    """

    drawn = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._steps: Steps | None = None
        self._chosen = ("", "")
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._go_on)

    def show_steps(self, steps: Steps, row: str, column: str) -> None:
        """Draw what the steps give, soon; at once where that is quick."""
        self._chosen, self._steps = (row, column), steps
        self._go_on()

    def choose(self, row: str, column: str) -> None:
        """Move the chosen cell, also of a map that is still being made."""
        self._chosen = (row, column)
        if self._steps is None:
            self.show_chart(self.canvas.chart, row, column)

    def leave(self) -> None:
        """It is not looked at any more."""
        self._more.stop()
        self._steps = None

    def finish(self) -> None:
        """Draw now what is still being made, however long it takes (for pictures)."""
        while self._steps is not None:
            self._go_on()

    def _go_on(self) -> None:
        until = time.perf_counter() + SLICE_S
        while self._steps is not None:
            try:
                next(self._steps)
            except StopIteration as end:
                self._show(end.value)
                return
            if time.perf_counter() >= until:
                self._more.start()
                return

    def _show(self, chart: MapChart) -> None:
        self.leave()
        self.show_chart(chart, *self._chosen)
        self.drawn.emit(chart)
