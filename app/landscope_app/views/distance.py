"""How far the weights travelled: a quantity over the steps, in total or per layer."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from landscope.contract.deltas import AnyDelta, DistanceOpened, DistancesMeasured, RunListed
from landscope_app.plots.charts import Chart, CurveChart
from landscope_app.plots.curves import CurvesWidget
from landscope_app.plots.distance_chart import distance_chart, offered, quantity_title
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.choosing import choose
from landscope_app.views.labels import Hint
from landscope_app.views.pictured import Pictured, or_refuse


class DistanceView(Pictured):
    """Curves of one quantity; a click selects the nearest checkpoint."""

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.quantity, self.per_layer, self.log = QComboBox(), QCheckBox("layers"), QCheckBox("log")
        self.quantity.setAccessibleName("Quantity")
        self.per_layer.setAccessibleName("One curve per layer")
        self.per_layer.setToolTip("One curve per layer instead of the total")
        self.log.setAccessibleName("Logarithmic scale")
        self.curves, self.hint = CurvesWidget(theme), Hint(theme)
        self._title_quantities()
        self._lay_out()
        self.quantity.currentIndexChanged.connect(lambda _: self.invalidate())
        self.per_layer.toggled.connect(lambda _: self.invalidate())
        self.log.toggled.connect(lambda _: self.invalidate())
        self.curves.picked.connect(self._picked)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 0)
        head.addWidget(self.quantity, 1)
        head.addWidget(self.per_layer)
        head.addWidget(self.log)
        self.quantity.setMinimumContentsLength(8)
        self.quantity.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        body = QWidget()
        self._pages = QStackedLayout(body)
        self._pages.addWidget(self.curves)
        self._pages.addWidget(self.hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(body, 1)

    def _title_quantities(self) -> None:
        """Offer what the run has, under titles that say where it counts from; the chosen one stays chosen."""
        session, run = self.document.session, self.selection.run
        rows = [(quantity_title(one, session.distances.get(run)), one) for one in offered(session, run)]
        box = self.quantity
        if [box.itemText(k) for k in range(box.count())] == [title for title, _ in rows]:
            return
        chosen = box.currentData()
        with QSignalBlocker(box):
            box.clear()
            for title, one in rows:
                box.addItem(title, one.key)
                box.setItemData(box.count() - 1, one.formula, Qt.ItemDataRole.ToolTipRole)
            box.setCurrentIndex(max(0, box.findData(chosen)))

    def sizeHint(self) -> QSize:
        """Room beside the other panels of a dock area."""
        return QSize(300, 230)

    def concerns(self, delta: AnyDelta) -> bool:
        """Distances and files of the current run."""
        kinds = DistanceOpened | DistancesMeasured | RunListed
        return isinstance(delta, kinds) and delta.run == self.selection.run

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.curves.apply_theme(theme)
        self.hint.apply_theme(theme)
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Draw the curves, or say what will be here."""
        self._title_quantities()
        chart = self.chart()
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.curves if chart.series else self.hint)
        if chart.series:
            self.curves.set_chart(chart)

    def chart(self) -> CurveChart:
        """What is shown now."""
        return distance_chart(
            self.document.session,
            self.selection.run,
            self.selection.checkpoint,
            str(self.quantity.currentData()),
            self.per_layer.isChecked(),
            self.log.isChecked(),
        )

    @property
    def picture_title(self) -> str:
        """What its picture shows."""
        return "the distances"

    def charts(self) -> tuple[Chart, ...]:
        """The curves, for pictures.

        Raises:
            LandscopeError: nothing was measured yet.
        """
        chart = self.chart()
        return or_refuse(self.picture_title, chart, chart.empty)

    def _picked(self, index: object) -> None:
        choose(
            self.selection,
            self.document.session,
            self.selection.run,
            self.curves.chart.names[int(str(index))],
        )
