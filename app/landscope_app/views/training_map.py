"""The map of layers and checkpoints as it follows a session, made in slices that keep the window smooth."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal

from landscope.session.model import Session
from landscope_app.plots.charts import MapChart
from landscope_app.plots.map import MapWidget
from landscope_app.plots.saturation_columns import Columns
from landscope_app.plots.saturation_map import map_columns, saturation_map
from landscope_app.state.selection import Chosen, share_of
from landscope_app.theme.colors import Theme

SLICE_S = 0.006
"""How long columns are made in one go; 100 checkpoints of 300 layers take some 40 of these."""


class TrainingMap(MapWidget):
    """A ``MapWidget`` that makes its chart from a session.

    Signals:
        drawn: the ``MapChart`` that is now shown (without rows where there is nothing yet).
    """

    drawn = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._columns = Columns()
        self._session, self._chosen, self._key = Session(), Chosen(), "lsat"
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._go_on)

    def show_training(self, session: Session, chosen: Chosen, key: str) -> None:
        """Draw a statistic over the training of the chosen run; at once where its columns are there."""
        self._session, self._chosen, self._key = session, chosen, key
        self._go_on()

    def leave(self) -> None:
        """It is not looked at any more: make no more columns."""
        self._more.stop()

    def chart(self) -> MapChart:
        """The map of what was asked for last, whole."""
        now = self._chosen
        threshold = share_of(now.threshold)
        return saturation_map(
            self._session, now.run, self._key, now.split, threshold, now.against, self._columns
        )

    def _go_on(self) -> None:
        now = self._chosen
        found = map_columns(self._session, now.run, now.split, now.against)
        theirs = (beside.measured for _, beside in found if beside is not None)
        wanted = [*(one for one, _ in found), *(one for one in theirs if one is not None)]
        if not self._columns.prepare(wanted, SLICE_S):
            self._more.start()
            return
        chart = self.chart()
        self.show_chart(chart, now.layer, now.checkpoint)
        self.drawn.emit(chart)
