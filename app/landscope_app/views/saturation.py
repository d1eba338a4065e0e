"""How full each layer is at the current checkpoint, and the spectrum of the selected layer."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QSplitter,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from landscope.contract.deltas import AnyDelta, RunListed, SaturationMeasured
from landscope_app.plots.bars import BarsWidget
from landscope_app.plots.charts import BarChart, CurveChart, MapChart
from landscope_app.plots.map import MapWidget
from landscope_app.plots.saturation_chart import STATISTICS, saturation_chart, saturation_of
from landscope_app.plots.saturation_map import saturation_map
from landscope_app.plots.spectrum_chart import spectrum_chart
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.choosing import choose
from landscope_app.views.labels import Hint, Note
from landscope_app.views.layer_spectrum import LayerSpectrum
from landscope_app.views.live import LiveView
from landscope_app.views.saturation_reading import reading_help

LEAST_HEIGHT = {"bars": 70, "map": 96}  # pixels: three bars; a map whose rows can be told apart
SIGNS = "×  dead    !  NaN    *  too few samples    –  not observed"
ROOMY = 460  # pixels above which the marks are explained also beside a spectrum


class SaturationView(LiveView):
    """Bars per layer of a chosen statistic; below them the spectrum of the layer that is selected."""

    follows = frozenset({"run", "checkpoint", "split", "layer", "threshold", "saturation"})

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.statistic = QComboBox()
        self.statistic.setAccessibleName("Statistic")
        for one in STATISTICS:
            self.statistic.addItem(one.title, one.key)
        self.note, self.key = Note(theme, "How it was measured"), Note(theme, "Marks")
        self.bars, self.hint = BarsWidget(theme), Hint(theme)
        self.map, self.over_training = MapWidget(theme), _map_button()
        self.spectrum = LayerSpectrum(theme)
        self._lay_out()
        self.bars.canvas.chosen.connect(lambda layer: self.selection.set(layer=layer))
        self.map.chosen.connect(self._choose_cell)
        self.over_training.clicked.connect(self._show_map)
        self.spectrum.closed.connect(lambda: self.selection.set(layer=""))
        self.spectrum.threshold_chosen.connect(self._move_threshold)
        self.statistic.currentIndexChanged.connect(lambda _: self.invalidate())

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 0)
        head.addWidget(self.statistic, 1)
        head.addWidget(self.over_training)
        head.addWidget(reading_help())
        body = self._body = QWidget()
        self._pages = QStackedLayout(body)
        self._pages.addWidget(self.bars)
        self._pages.addWidget(self.map)
        self._pages.addWidget(self.hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setSpacing(2)
        layout.addLayout(head)
        self._parts = QSplitter(Qt.Orientation.Vertical)
        self._parts.setChildrenCollapsible(False)
        self._parts.addWidget(body)
        self._parts.addWidget(self.spectrum)
        layout.addWidget(self._parts, 1)
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
        for part in (self.note, self.key, self.bars, self.map, self.hint, self.spectrum):
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
        self.bars.select(self.selection.layer)
        self._refresh_spectrum()
        self._body.setMinimumHeight(LEAST_HEIGHT[self.selection.saturation])
        self.over_training.setChecked(self.selection.saturation == "map")
        if self.selection.saturation == "map":
            self._refresh_map()

    def chart(self) -> BarChart:
        """What is shown now."""
        key = str(self.statistic.currentData())
        chosen = self.selection
        return saturation_chart(
            self.document.session, chosen.run, chosen.checkpoint, key, chosen.split, chosen.threshold
        )

    def map_chart(self) -> MapChart:
        """The map over all checkpoints."""
        now, key = self.selection, str(self.statistic.currentData())
        return saturation_map(self.document.session, now.run, key, now.split, now.threshold)

    def _refresh_map(self) -> None:
        chart = self.map_chart()
        self.key.set_note(SIGNS)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.map if chart.rows else self.hint)
        self.map.show_chart(chart, self.selection.layer, self.selection.checkpoint)

    def _choose_cell(self, layer: str, checkpoint: str) -> None:
        choose(self.selection, self.document.session, self.selection.run, checkpoint)
        self.selection.set(layer=layer)

    def _show_map(self, wanted: bool) -> None:
        self.selection.set(saturation="map" if wanted else "bars")

    def spectrum_chart(self) -> CurveChart:
        """The spectrum of the selected layer."""
        now = self.selection
        return spectrum_chart(
            self.document.session, now.run, now.checkpoint, now.layer, now.split, now.threshold
        )

    def _refresh_spectrum(self) -> None:
        measured = self._measured_threshold()
        layer = self.selection.layer if measured is not None else ""
        self.spectrum.setVisible(bool(layer))
        self.key.setVisible(not layer or self.height() >= ROOMY)
        if layer and measured is not None:
            chosen = self.selection.threshold
            self.spectrum.show_layer(
                layer, self.spectrum_chart(), chosen or measured, changed=chosen not in (None, measured)
            )

    def _measured_threshold(self) -> float | None:
        """What the current checkpoint was measured with; None = it was not measured yet."""
        now = self.selection
        saturation = saturation_of(self.document.session, now.run, now.split)
        measured = saturation.measured.get(now.checkpoint) if saturation is not None else None
        return measured.threshold if measured is not None else None

    def _move_threshold(self, threshold: object) -> None:
        self.selection.set(threshold="" if threshold is None else str(threshold))
        if self.selection.saturation == "bars":
            self.refresh_now()  # bars stay with the line that is dragged


def _map_button() -> QToolButton:
    button = QToolButton()
    button.setText("Map")
    button.setCheckable(True)
    button.setAccessibleName("Map over all checkpoints")
    button.setToolTip(f"Layers down, checkpoints across\n{SIGNS}")
    return button


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
