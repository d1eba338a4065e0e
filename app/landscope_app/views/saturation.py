"""How full each layer is at the current checkpoint."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from landscope.contract.deltas import AnyDelta, RunListed, SaturationMeasured
from landscope_app.plots.bars import BarsWidget
from landscope_app.plots.charts import BarChart
from landscope_app.plots.saturation_chart import STATISTICS, saturation_chart
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.labels import Hint, Note
from landscope_app.views.live import LiveView


class SaturationView(LiveView):
    """Bars per layer of a chosen statistic."""

    follows = frozenset({"run", "checkpoint", "split"})

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.statistic = QComboBox()
        self.statistic.setAccessibleName("Statistic")
        for one in STATISTICS:
            self.statistic.addItem(one.title, one.key)
        self.note, self.key = Note(theme, "How it was measured"), Note(theme, "Marks")
        self.bars, self.hint = BarsWidget(theme), Hint(theme)
        self._lay_out()
        self.statistic.currentIndexChanged.connect(lambda _: self.invalidate())

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 0)
        head.addWidget(self.statistic, 1)
        body = QWidget()
        self._pages = QStackedLayout(body)
        self._pages.addWidget(self.bars)
        self._pages.addWidget(self.hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(body, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 0, 12, 2)
        foot.addWidget(self.key)
        foot.addWidget(self.note)
        layout.addLayout(foot)

    def sizeHint(self) -> QSize:
        """Room beside the other panels of a dock area."""
        return QSize(300, 380)

    def concerns(self, delta: AnyDelta) -> bool:
        """Saturation of the current run; also its list, which says what the first checkpoint is."""
        return isinstance(delta, SaturationMeasured | RunListed) and delta.run == self.selection.run

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.note, self.key, self.bars, self.hint):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Draw the bars of the current checkpoint, or say what will be here."""
        chart = self.chart()
        self.note.set_note(chart.note)
        self.key.set_note(_key(chart))
        if chart.bars:
            self.bars.set_chart(chart)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.bars if chart.bars else self.hint)

    def chart(self) -> BarChart:
        """What is shown now."""
        key = str(self.statistic.currentData())
        chosen = self.selection
        return saturation_chart(self.document.session, chosen.run, chosen.checkpoint, key, chosen.split)


def _key(chart: BarChart) -> str:
    parts = []
    if math.isfinite(chart.mean):
        parts.append(f"┆ mean {chart.mean_text}")
    if chart.reference_title and any(math.isfinite(b.reference) for b in chart.bars):
        parts.append(f"┃ {chart.reference_title}")
    few = sum("too_few_samples" in b.flags for b in chart.bars)
    if few:
        parts.append(f"* too few samples ({few})")
    return "    ".join(parts)
