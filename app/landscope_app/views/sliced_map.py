"""A map of layers and checkpoints that is made in slices, so that the window stays smooth."""

from __future__ import annotations

from collections.abc import Generator

from PySide6.QtCore import QTimer, Signal

from landscope_app.plots.charts import MapChart
from landscope_app.plots.map import MapWidget
from landscope_app.plots.slices import Slices
from landscope_app.theme.colors import Theme

Steps = Generator[None, None, MapChart]


class SlicedMap(MapWidget):
    """A ``MapWidget`` whose chart comes from a generator.

    Signals:
        drawn: the ``MapChart`` that is now shown (without rows where there is nothing yet).
    """

    drawn = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._chosen = ("", "")
        self._slices = Slices[MapChart](QTimer(self, singleShot=True, interval=0), self._show)

    def show_steps(self, steps: Steps, row: str, column: str) -> None:
        """Draw what the steps give, soon; at once where that is quick."""
        self._chosen = (row, column)
        self._slices.start(steps)

    def choose(self, row: str, column: str) -> None:
        """Move the chosen cell, also of a map that is still being made."""
        self._chosen = (row, column)
        if not self._slices.running:
            self.show_chart(self.canvas.chart, row, column)

    def leave(self) -> None:
        """It is not looked at any more."""
        self._slices.stop()

    def finish(self) -> None:
        """Draw now what is still being made, however long it takes (for pictures)."""
        self._slices.finish()

    def _show(self, chart: MapChart) -> None:
        self.show_chart(chart, *self._chosen)
        self.drawn.emit(chart)
