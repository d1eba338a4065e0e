"""What a click or a key in the distance panel selects: layers, checkpoints, pairs of them."""

from __future__ import annotations

from landscope_app.plots.distance_table import TOTAL
from landscope_app.plots.quantities import rows_of
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.views.choosing import choose, step
from landscope_app.views.distance_shown import DistanceShown


class DistancePicks:
    """Changes the selection; every view of the window follows it."""

    def __init__(self, document: Document, selection: Selection, shown: DistanceShown) -> None:
        self._document, self._selection, self._shown = document, selection, shown

    def checkpoint(self, name: str) -> None:
        """A checkpoint of the current run."""
        choose(self._selection, self._document.session, self._selection.run, name)

    def step(self, by: int) -> None:
        """A neighbour of the current checkpoint."""
        step(self._selection, self._document.session, by)

    def layer(self, name: str, more: bool = False) -> None:
        """A layer in front; ``more``: among the chosen ones, or not any longer."""
        if name not in self._layers():
            return
        chosen = self._selection.chosen_layers
        if more:
            chosen = tuple(one for one in chosen if one != name) if name in chosen else (*chosen, name)
        self._selection.set(layer=name, layers="\n".join(chosen))

    def step_layer(self, by: int) -> None:
        """A neighbour of the layer in front, where layers are drawn."""
        names, now = self._layers(), self._selection.layer
        if self._selection.chosen.curves == "total" or not names:
            return
        at = names.index(now) + by if now in names else (0 if by > 0 else len(names) - 1)
        self._selection.set(layer=names[min(max(at, 0), len(names) - 1)])

    def cell(self, name: str, checkpoint: str) -> None:
        """A cell of the map: its layer and its checkpoint."""
        self.checkpoint(checkpoint)
        self._selection.set(layer=self._layer_of(name), row=name)

    def pair(self, row: str, column: str) -> None:
        """A cell of the matrix: the checkpoint of the current run, and the other one beside it."""
        key, now = self._shown.matrix, self._selection
        if not row:
            return
        mine, beside = (row, column) if key.run == now.run else (column, row)
        if now.run in (key.run, key.other):
            self.checkpoint(mine)
        now.set(beside=beside)

    def rows(self, names: tuple[str, ...], current: str) -> None:
        """Rows of the table: the current one in front, several layers as the chosen ones."""
        layers = self._selection.chosen.layers
        if not self._shown.by_parameter and len(names) > 1:
            layers = "\n".join(name for name in names if name != TOTAL)
        self._selection.set(layer=self._layer_of(current), layers=layers, row=current)

    def row(self, offered: tuple[str, ...]) -> str:
        """The row of a map or table that is selected: the one picked, else the first of the layer."""
        layer, picked = self._selection.layer, self._selection.chosen.row
        if picked in offered and self._layer_of(picked) == layer:
            return picked
        if not self._shown.by_parameter or not layer:
            return layer
        return next((name for name in offered if self._layer_of(name) == layer), "")

    def _layers(self) -> tuple[str, ...]:
        found = rows_of(self._document.session, self._selection.run, self._shown.quantity.key)
        return found.opened.layers if found is not None else ()

    def _layer_of(self, name: str) -> str:
        """The layer of a row; empty for the total, buffers and rows of another run."""
        found = rows_of(self._document.session, self._selection.run, self._shown.quantity.key)
        if found is None:
            return ""
        opened = found.opened
        if not self._shown.by_parameter:
            return name if name in opened.layers else ""
        if name not in opened.parameters:
            return ""
        place = int(opened.layer_of[opened.parameters.index(name)])
        return opened.layers[place] if place >= 0 else ""
