"""Loss and accuracy of every checkpoint of the current run."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from landscope.contract.deltas import AnyDelta, CheckpointMeasured, RunListed
from landscope_app.plots.charts import Chart, CurveChart
from landscope_app.plots.curves import CurvesWidget
from landscope_app.plots.loss_chart import loss_chart, metrics_of
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.choosing import choose
from landscope_app.views.labels import Hint, Note
from landscope_app.views.pictured import Pictured, or_refuse


class LossView(Pictured):
    """Loss (solid, left) and a metric (dashed, right) per checkpoint; a click selects a checkpoint."""

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.other, self.log = QComboBox(), QCheckBox("log")
        self.other.setAccessibleName("Metric on the right axis")
        self.log.setAccessibleName("Logarithmic loss")
        self.note = Note(theme, "How it was measured")
        self.curves, self.hint = CurvesWidget(theme), Hint(theme)
        self._lay_out()
        self.other.currentIndexChanged.connect(lambda _: self.invalidate())
        self.log.toggled.connect(lambda _: self.invalidate())
        self.curves.picked.connect(self._picked)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 6, 8, 0)
        head.addWidget(self.note, 1)
        head.addWidget(self.other)
        head.addWidget(self.log)
        body = QWidget()
        self._pages = QStackedLayout(body)
        self._pages.addWidget(self.curves)
        self._pages.addWidget(self.hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(body, 1)

    def sizeHint(self) -> QSize:
        """Room beside the other panels of a dock area."""
        return QSize(300, 230)

    def concerns(self, delta: AnyDelta) -> bool:
        """Losses and files of the current run."""
        return isinstance(delta, CheckpointMeasured | RunListed) and delta.run == self.selection.run

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.note, self.curves, self.hint):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Draw the curves, or say what will be here."""
        self._offer_metrics()
        chart = self.chart()
        self.note.set_note(chart.note)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.curves if chart.series else self.hint)
        if chart.series:
            self.curves.set_chart(chart)

    def _offer_metrics(self) -> None:
        names = metrics_of(self.document.session, self.selection.run)
        if names != tuple(self.other.itemText(k) for k in range(self.other.count())):
            kept = self.other.currentText()
            self.other.blockSignals(True)
            self.other.clear()
            self.other.addItems(names)
            self.other.setCurrentText(kept)
            self.other.blockSignals(False)
        self.other.setVisible(len(names) > 1)

    def chart(self) -> CurveChart:
        """What is shown now."""
        metric = self.other.currentText() or "accuracy"
        return loss_chart(
            self.document.session, self.selection.run, self.selection.checkpoint, metric, self.log.isChecked()
        )

    @property
    def picture_title(self) -> str:
        """What its picture shows."""
        return "the losses"

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
