"""How far the weights travelled: as curves, a map, a matrix of checkpoints or a table."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from landscope.contract import deltas as d
from landscope.contract.errors import LandscopeError
from landscope_app.plots.charts import Chart, CurveChart, MapChart
from landscope_app.plots.curves import CurvesWidget
from landscope_app.plots.distance_text import curves_text, map_text
from landscope_app.plots.map import MapWidget
from landscope_app.plots.map_words import told
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.compare_button import CompareButton
from landscope_app.views.distance_menu import DistanceMenu
from landscope_app.views.distance_picks import DistancePicks
from landscope_app.views.distance_shown import DistanceShown
from landscope_app.views.distance_table import DistanceTableWidget
from landscope_app.views.labels import Hint, Note
from landscope_app.views.pictured import Pictured, or_refuse
from landscope_app.views.reading_button import ReadingButton
from landscope_app.views.sliced_map import SlicedMap

LEAST_HEIGHT = 112  # pixels in which curves with a legend can be read
_FIELDS = {"matrix": "matrix", "table": "rows"}
_OF_RUNS = d.DistanceOpened | d.DistancesMeasured | d.RunListed
_RELATIVE = ("relative", "update_ratio")
_TITLES = {"map": "the map of distances", "matrix": "the matrix", "table": "the table"}


class DistanceView(Pictured):
    """One quantity of the weights in one of four pictures; a click selects checkpoint and layer."""

    follows = frozenset(
        {"run", "checkpoint", "layer", "against", "distance", "quantity", "curves", "layers", "axes"}
        | {"rows", "row", "matrix", "beside"}
    )

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.shown = DistanceShown(document, selection)
        self.picks = DistancePicks(document, selection, self.shown)
        self.quantity, self.menu = QComboBox(), DistanceMenu()
        self.compare, self.help = CompareButton(), ReadingButton()
        self.curves, self.hint = CurvesWidget(theme), Hint(theme)
        self.map, self.matrix = SlicedMap(theme), MapWidget(theme)
        self.table, self.note = DistanceTableWidget(theme), Note(theme, "What is shown")
        self._made: dict[str, tuple[object, ...]] = {}
        self._lay_out()
        self._connect()
        self._fill_choice()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 0)
        head.addWidget(self.quantity, 1)
        self.quantity.setMinimumContentsLength(8)
        self.quantity.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for button in (self.compare, self.menu, self.help):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # a click there is a use of this panel
            head.addWidget(button)
        body = QWidget()
        body.setMinimumHeight(LEAST_HEIGHT)
        self._pages = QStackedLayout(body)
        for page in (self.curves, self.map, self.matrix, self.table, self.hint):
            self._pages.addWidget(page)
        self.matrix.canvas.setAccessibleName("Matrix of checkpoints")
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 2)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(body, 1)
        self.note.setContentsMargins(12, 0, 12, 2)
        layout.addWidget(self.note)

    def _connect(self) -> None:
        self.quantity.currentIndexChanged.connect(lambda _: self._choose_entry())
        self.menu.wanted.connect(lambda fields: self.selection.set(**fields))
        self.menu.relative_wanted.connect(lambda _: self.selection.set(quantity=self.shown.quantity.pair))
        self.compare.chosen.connect(lambda run: self.selection.set(against=run))
        self.curves.picked.connect(lambda at: self.picks.checkpoint(self.curves.chart.names[int(str(at))]))
        self.curves.named.connect(self.picks.layer)
        self.map.chosen.connect(self.picks.cell)
        self.map.drawn.connect(self._show_map)
        self.matrix.chosen.connect(self.picks.pair)
        self.table.picked.connect(self.picks.rows)
        self._add_keys()
        for widget in (self.map.canvas, self.matrix.canvas, self.table, self.curves.plot):
            copy = QAction("Copy table", widget)
            copy.triggered.connect(self.copy_table)
            widget.addAction(copy)
            widget.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _add_keys(self) -> None:
        """Arrow keys in the curves: layers up and down, checkpoints left and right; Space keeps a layer."""
        keys = {
            Qt.Key.Key_Up: lambda: self.picks.step_layer(-1),
            Qt.Key.Key_Down: lambda: self.picks.step_layer(1),
            Qt.Key.Key_Left: lambda: self.picks.step(-1),
            Qt.Key.Key_Right: lambda: self.picks.step(1),
            Qt.Key.Key_Space: lambda: self.picks.layer(self.selection.layer, True),
            Qt.Key.Key_Escape: lambda: self.selection.set(layer=""),
        }
        for key, action in keys.items():
            made = QShortcut(QKeySequence(key), self.curves)
            made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            made.activated.connect(action)

    def sizeHint(self) -> QSize:
        """Room beside the other panels of a dock area."""
        return QSize(300, 230)

    def concerns(self, delta: d.AnyDelta) -> bool:
        """Distances and files of the current run or the one beside it; matrices of any."""
        if isinstance(delta, d.SimilarityMeasured | d.DistanceMatrices):
            return True
        return isinstance(delta, _OF_RUNS) and delta.run in (self.selection.run, self.selection.against)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.curves, self.map, self.matrix, self.table, self.hint, self.note):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Draw what is chosen, or say what will be here."""
        self._fill_choice()
        self._offer_runs()
        draw = {"map": self._draw_map, "matrix": self._draw_matrix, "table": self._draw_table}
        draw.get(self.shown.kind, self._draw_curves)()

    def chart(self) -> CurveChart:
        """The curves of the chosen quantity."""
        return self.shown.curves()

    def _draw_curves(self) -> None:
        chart = self.chart() if self._is_new("curves") else self.shown.moved(self.curves.chart)
        self._show_page(self.curves if chart.series else self.hint, chart.empty)
        self.note.hide()
        self.curves.set_chart(chart)

    def _draw_map(self) -> None:
        row, column = self.picks.row(self.map.canvas.chart.rows), self.selection.checkpoint
        if self._is_new("map"):
            self.map.show_steps(self.shown.map_steps(), row, column)
        else:
            self.map.choose(row, column)
            self._show_map(self.map.canvas.chart)

    def _show_map(self, chart: MapChart) -> None:
        if self.shown.kind == "map":
            self._show_page(self.map if chart.rows else self.hint, chart.empty)
            self._tell(chart, self.picks.row(chart.rows), self.selection.checkpoint)

    def _draw_matrix(self) -> None:
        chart, now = self.shown.matrix_chart(), self.selection
        beside = now.chosen.beside if now.chosen.beside in chart.columns else ""
        mine = self.shown.matrix.run == now.run
        row, column = (now.checkpoint, beside) if mine else (beside, now.checkpoint)
        self._show_page(self.matrix if chart.rows else self.hint, chart.empty)
        self.matrix.show_chart(chart, row, column)
        self._tell(chart, row, column)

    def _draw_table(self) -> None:
        table = self.shown.table()
        self._show_page(self.table if table.rows else self.hint, table.empty)
        chosen = () if self.shown.by_parameter else self.selection.chosen_layers
        self.table.show_table(table, chosen, self.picks.row(table.rows))
        self._write(table.title, table.note)

    def _is_new(self, part: str) -> bool:
        """Whether a part is made of anything else than the last time."""
        sources, before = self.shown.sources(), self._made.get(part, ())
        self._made[part] = sources
        return len(sources) != len(before) or any(
            a is not b and (not isinstance(a, str) or a != b) for a, b in zip(sources, before, strict=True)
        )

    def _show_page(self, page: QWidget, empty: str) -> None:
        self.hint.setText(empty)
        self._pages.setCurrentWidget(page)

    def _tell(self, chart: MapChart, row: str, column: str) -> None:
        """The chosen cell in words, and what signs stand for."""
        there = row in chart.rows and column in chart.columns
        cell = told(chart, chart.rows.index(row), chart.columns.index(column)) if there else ""
        self._write(cell, chart.note, chart.signs if (chart.marks != "").any() else "")

    def _write(self, *parts: str) -> None:
        text = " · ".join(filter(None, parts))
        self.note.setVisible(bool(text))
        self.note.set_note(text)

    def _fill_choice(self) -> None:
        """Offer quantities, matrices or kinds of rows; the chosen one stays chosen. Menu and help follow."""
        entries, now = self.shown.entries()
        box, quantity = self.quantity, self.shown.quantity
        with QSignalBlocker(box):
            if [(box.itemText(k), box.itemData(k)) for k in range(box.count())] != [e[:2] for e in entries]:
                box.clear()
                for title, data, tip in entries:
                    box.addItem(title, data)
                    box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
            box.setCurrentIndex(max(0, box.findData(now)))
        box.setAccessibleName({"matrix": "Matrix", "table": "Rows"}.get(self.shown.kind, "Quantity"))
        relative = quantity.key in _RELATIVE if quantity.pair else None
        self.menu.show_chosen(self.selection.chosen, relative=relative, length=quantity.length)
        self.help.tell(self.shown.reading())

    def _choose_entry(self) -> None:
        field = _FIELDS.get(self.shown.kind, "quantity")
        self.selection.set(**{field: str(self.quantity.currentData())})

    def _offer_runs(self) -> None:
        session, run = self.document.session, self.selection.run
        shared = self.shown.kind in ("curves", "table")  # a map or a matrix is of what its title says
        others = tuple(name for name in session.runs if shared and name != run and name in session.distances)
        self.compare.offer(others, self.selection.against)
        self._column.activate()  # a button that was just shown would lie over everything in a picture

    def copy_table(self) -> None:
        """Put what is shown on the clipboard, for a spreadsheet."""
        kind = self.shown.kind
        if kind == "table":
            text = self.table.text()
        elif kind == "curves":
            text = curves_text(self.curves.chart)
        else:
            text = map_text((self.map if kind == "map" else self.matrix).canvas.chart)
        QGuiApplication.clipboard().setText(text)

    @property
    def picture_title(self) -> str:
        """What its picture shows."""
        return _TITLES.get(self.shown.kind, "the distances")

    def charts(self) -> tuple[Chart, ...]:
        """What is shown, for pictures.

        Raises:
            LandscopeError: nothing was measured yet, or it is a table.
        """
        chart: CurveChart | MapChart
        if self.shown.kind == "table":
            raise LandscopeError(
                "A table has no picture. Copy it with a right click, or choose Curves or Map."
            )
        if self.shown.kind == "map":
            self.map.finish()
            chart = self.map.canvas.chart
        else:
            chart = self.shown.matrix_chart() if self.shown.kind == "matrix" else self.chart()
        return or_refuse(self.picture_title, chart, chart.empty)
