"""What the distance panel shows, from document and selection: charts, tables, and what can be chosen."""

from __future__ import annotations

from dataclasses import replace

from landscope_app.plots import matrices, quantities
from landscope_app.plots.charts import CurveChart, MapChart
from landscope_app.plots.distance_chart import CurveChoice, cursor_at, distance_chart
from landscope_app.plots.distance_map import distance_map_steps
from landscope_app.plots.distance_table import DistanceTable, distance_table
from landscope_app.plots.quantities import BY_KEY, Quantity, quantity_title, rows_of
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.views.sliced_map import Steps

Entry = tuple[str, str, str]
"""Title, data and tip of an entry in a list."""
_ROWS = (("Layers", "layers"), ("Parameters", "parameters"))


class DistanceShown:
    """Reads; changes nothing."""

    def __init__(self, document: Document, selection: Selection) -> None:
        self._document, self._selection = document, selection

    @property
    def kind(self) -> str:
        """``curves``, ``map``, ``matrix`` or ``table``."""
        kind = self._selection.chosen.distance
        return kind if kind in ("map", "matrix", "table") else "curves"

    @property
    def by_parameter(self) -> bool:
        """Whether map and table have a row per parameter."""
        return self._selection.chosen.rows == "parameters"

    @property
    def quantity(self) -> Quantity:
        """The chosen one; the distance where this run does not have it."""
        known = {one.key: one for one in quantities.offered(self._document.session, self._selection.run)}
        return known.get(self._selection.chosen.quantity, BY_KEY["distance"])

    @property
    def matrix(self) -> matrices.MatrixKey:
        """The chosen matrix; the first where this session does not have it."""
        known = matrices.offered(self._document.session, self._selection.run)
        key = matrices.key_from(self._selection.chosen.matrix)
        return key if key in known else known[0]

    def curves(self) -> CurveChart:
        """The curves."""
        now = self._selection
        choice = CurveChoice(
            now.chosen.curves,
            now.chosen_layers,
            now.layer,
            log_x="x" in now.chosen.axes,
            log_y="y" in now.chosen.axes,
            other=now.against,
        )
        return distance_chart(self._document.session, now.run, now.checkpoint, self.quantity.key, choice)

    def moved(self, chart: CurveChart) -> CurveChart:
        """The same curves with the cursor at the current checkpoint."""
        run = self._document.session.runs.get(self._selection.run)
        known = run is not None and chart.series
        cursor = cursor_at(run, self._selection.checkpoint, chart.log_x) if run and known else None
        return replace(chart, cursor=cursor)

    def map_steps(self) -> Steps:
        """The map, in steps."""
        session, now, log = self._document.session, self._selection, "y" in self._selection.chosen.axes
        return distance_map_steps(
            session, now.run, self.quantity.key, by_parameter=self.by_parameter, log=log
        )

    def matrix_chart(self) -> MapChart:
        """The matrix."""
        return matrices.matrix_of(self._document.session, self.matrix)

    def table(self) -> DistanceTable:
        """The table of the current checkpoint."""
        now = self._selection
        return distance_table(
            self._document.session, now.run, now.checkpoint, by_parameter=self.by_parameter, other=now.against
        )

    def sources(self) -> tuple[object, ...]:
        """Everything that curves, map and table are made of but the current checkpoint.

        Results are replaced, never changed, so that the same objects mean the same picture.
        """
        session, now = self._document.session, self._selection.chosen
        found: list[object] = [session, self.quantity, now.run, now.against, now.rows, now.axes, now.curves]
        found += [now.layers, now.layer]
        for run in (now.run, now.against):
            rows = rows_of(session, run, self.quantity.key)
            found.append(session.runs[run].checkpoints if run in session.runs else None)
            found += [] if rows is None else [rows.opened, *rows.measured.values()]
        return tuple(found)

    def entries(self) -> tuple[list[Entry], str]:
        """What the list above the picture offers, and the data of the chosen entry."""
        session, run = self._document.session, self._selection.run
        if self.kind == "matrix":
            keys = matrices.offered(session, run)
            return [(k.title, k.text, matrices.KINDS[k.kind].formula) for k in keys], self.matrix.text
        if self.kind == "table":
            rows = "parameters" if self.by_parameter else "layers"
            return [(title, value, "") for title, value in _ROWS], rows
        found = quantities.offered(session, run)
        titles = [(quantity_title(one, rows_of(session, run, one.key)), one) for one in found]
        return [(title, one.key, one.formula) for title, one in titles], self.quantity.key

    def reading(self) -> str:
        """How to read what is shown."""
        session, run = self._document.session, self._selection.run
        if self.kind == "matrix":
            return matrices.reading(self.matrix)
        if self.kind == "table":
            return quantities.reading_all(session, run)
        return quantities.reading(self.quantity, rows_of(session, run, self.quantity.key))
