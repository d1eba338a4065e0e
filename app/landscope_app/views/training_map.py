"""The map of layers and checkpoints as it follows a session, made in slices that keep the window smooth."""

from __future__ import annotations

import time
from collections.abc import Generator

from PySide6.QtCore import QTimer, Signal

from landscope.session.model import Session
from landscope_app.plots.charts import MapChart
from landscope_app.plots.map import MapWidget
from landscope_app.plots.saturation_frame import Frames
from landscope_app.plots.saturation_map import map_steps
from landscope_app.state.selection import Chosen, share_of
from landscope_app.theme.colors import Theme

SLICE_S = 0.006
"""How long it works in one go; the first map of 100 checkpoints and 300 layers takes some 40 of these."""


class TrainingMap(MapWidget):
    """A ``MapWidget`` that makes its chart from a session.

    Signals:
        drawn: the ``MapChart`` that is now shown (without rows where there is nothing yet).
    """

    drawn = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._frames = Frames()
        self._steps: Generator[None, None, MapChart] | None = None
        self._cell = ("", "")
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._go_on)

    def show_training(self, session: Session, chosen: Chosen, key: str) -> None:
        """Draw a statistic over the training of the chosen run, soon; at once where that is quick."""
        threshold = share_of(chosen.threshold)
        self._cell = (chosen.layer, chosen.checkpoint)
        self._steps = map_steps(
            session, chosen.run, key, chosen.split, threshold, chosen.against, self._frames
        )
        self._go_on()

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
        self.show_chart(chart, *self._cell)
        self.drawn.emit(chart)
