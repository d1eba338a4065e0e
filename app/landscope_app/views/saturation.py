"""How full each layer is: bars or a map, alone or beside another run; spectrum or samples of a layer."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from landscope.contract.deltas import AnyDelta, RunListed, SaturationMeasured
from landscope.session.comparison import saturation_of
from landscope_app.plots.bars import BarsWidget
from landscope_app.plots.charts import Bar, BarChart, Chart, CurveChart, MapChart, PointsChart
from landscope_app.plots.samples_chart import samples_chart
from landscope_app.plots.saturation_chart import measurement_note, saturation_chart
from landscope_app.plots.saturation_map import SIGNS
from landscope_app.plots.saturation_table import bars_table, map_table
from landscope_app.plots.saturation_values import STATISTICS
from landscope_app.plots.spectrum_chart import spectrum_chart
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection, has_saturation
from landscope_app.theme.colors import Theme
from landscope_app.views.choosing import choose
from landscope_app.views.compare_button import CompareButton
from landscope_app.views.labels import Hint
from landscope_app.views.layer_spectrum import LayerSpectrum
from landscope_app.views.measure_form import MeasureForm
from landscope_app.views.pictured import Pictured, or_refuse
from landscope_app.views.reading_button import ReadingButton
from landscope_app.views.saturation_buttons import map_button, measure_button
from landscope_app.views.saturation_foot import SaturationFoot
from landscope_app.views.saturation_key import flags_key, marks_key, other_key
from landscope_app.views.saturation_reading import READING
from landscope_app.views.split_choice import SplitChoice
from landscope_app.views.training_map import TrainingMap

LEAST_HEIGHT = 96  # pixels: three bars; a map whose rows can be told apart
LEAST_SPECTRUM = 166  # pixels in which its curves can be read
LEAST_SHOWN = 206  # pixels of both; where they do not fit they scroll
ROOMY = 460  # pixels above which the marks are explained also beside a spectrum


class SaturationView(Pictured):
    """Bars per layer of a chosen statistic; below them the spectrum of the layer that is selected."""

    follows = frozenset(
        {"run", "checkpoint", "split", "layer", "threshold", "saturation", "against", "layer_view"}
    )

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.statistic = QComboBox()
        self.statistic.setAccessibleName("Statistic")
        for one in STATISTICS:
            self.statistic.addItem(one.title, one.key)
        self.foot = SaturationFoot(theme)
        self.form, self.measure, self.split = MeasureForm(), measure_button(), SplitChoice()
        self.bars, self.hint = BarsWidget(theme), Hint(theme)
        self.map, self.over_training = TrainingMap(theme), map_button()
        self.compare = CompareButton()
        self.spectrum = LayerSpectrum(theme)
        self._opened = self._layer_used = False
        self._lay_out()
        self._connect()

    def _connect(self) -> None:
        self.bars.canvas.chosen.connect(lambda layer: self.selection.set(layer=layer))
        self.bars.canvas.pointed.connect(self._read_out)
        self.map.chosen.connect(self._choose_cell)
        self.over_training.clicked.connect(self._show_map)
        self.compare.chosen.connect(lambda run: self.selection.set(against=run))
        self.spectrum.closed.connect(lambda: self.selection.set(layer=""))
        self.spectrum.threshold_chosen.connect(self._move_threshold)
        self.spectrum.samples_wanted.connect(
            lambda wanted: self.selection.set(layer_view="samples" if wanted else "spectrum")
        )
        self.statistic.currentIndexChanged.connect(lambda _: self.invalidate())
        self.map.drawn.connect(self._show_drawn)
        self.measure.toggled.connect(self._show_form)
        self.split.chosen.connect(lambda split: self.selection.set(split=split))
        self.measure.clicked.connect(lambda _on: self.form.setFocus())
        self.form.closed.connect(self._leave_form)
        for canvas in (self.bars.canvas, self.map.canvas):
            copy = QAction("Copy table", canvas)
            copy.triggered.connect(self.copy_table)
            canvas.addAction(copy)
            canvas.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 0)
        head.addWidget(self.statistic, 1)
        self.statistic.setMinimumContentsLength(8)
        self.statistic.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for button in (self.compare, self.over_training, ReadingButton(READING)):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # a click there is a use of this panel
            head.addWidget(button)
        body = self._body = QWidget()
        self._pages = QStackedLayout(body)
        for page in (self.bars, self.map, self.hint):
            self._pages.addWidget(page)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setSpacing(2)
        layout.addLayout(head)
        layout.addWidget(self._scrolled(), 1)
        layout.addWidget(self.form, 1)
        self.form.hide()
        self.foot.put_beside(self.split, self.measure)
        layout.addWidget(self.foot)

    def _show_form(self, wanted: bool) -> None:
        """The form in the place of what was measured, or that again."""
        for part in (self._scroll, self.foot):
            part.setVisible(not wanted)
        self.form.setVisible(wanted)

    def _leave_form(self) -> None:
        self.measure.setChecked(False)
        self.measure.setFocus()

    def _scrolled(self) -> QScrollArea:
        """Bars or map above the spectrum; they scroll where both do not fit."""
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self._body)
        parts.addWidget(self.spectrum)
        self._body.setMinimumHeight(LEAST_HEIGHT)
        self.spectrum.setMinimumHeight(LEAST_SPECTRUM)
        self.spectrum.hide()
        self._scroll = QScrollArea()
        self._scroll.setWidget(parts)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._reveal)
        for part in (self._scroll.viewport(), parts):
            part.setAutoFillBackground(False)
        return self._scroll

    def sizeHint(self) -> QSize:
        """Room beside the other panels of a dock area."""
        return QSize(300, 380)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.bars, self.map, self.hint, self.spectrum, self.foot):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def concerns(self, delta: AnyDelta) -> bool:
        """Saturation of the current run or the one beside it; also their lists: which checkpoint is which."""
        runs = (self.selection.run, self.selection.against)
        return isinstance(delta, SaturationMeasured | RunListed) and delta.run in runs

    def refresh(self) -> None:
        """Draw the bars of the current checkpoint or the map, or say what will be here."""
        self._offer_runs()
        self._refresh_spectrum()
        over_training = self.selection.saturation == "map"
        self.over_training.setChecked(over_training)
        if over_training:
            self.map.show_training(self.document.session, self.selection.chosen, self._key)
        else:
            self.map.leave()
            self._refresh_bars()

    def _refresh_bars(self) -> None:
        chart = self.chart()
        beside = " · ".join(filter(None, (chart.otherwise, other_key(chart))))
        self._explain(marks_key(chart), flags_key(chart), beside, chart.note)
        if chart.bars:
            self.bars.set_chart(chart)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.bars if chart.bars else self.hint)
        self.bars.select(self.selection.layer)
        self._read_out(None)

    def chart(self) -> BarChart:
        """The bars of the current checkpoint."""
        session, now = self.document.session, self.selection
        return saturation_chart(
            session, now.run, now.checkpoint, self._key, now.split, now.threshold, now.against
        )

    def _show_drawn(self, chart: MapChart) -> None:
        measured, shown = self._measured(), self.selection.threshold
        how = measurement_note(measured, shown, self._key) if measured is not None else ""
        self._explain("", SIGNS, chart.note, how)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.map if chart.rows else self.hint)

    def _explain(self, key: str, flags: str, beside: str, how: str) -> None:
        short = self.spectrum.isVisibleTo(self) and self.height() < ROOMY
        self.foot.explain(key, flags, beside, how, short=short)

    def _read_out(self, bar: Bar | None) -> None:
        """Value, n and D of the bar pointed at, else of the selected one, else how all were measured."""
        chosen = (one for one in self.bars.canvas.chart.bars if one.label == self.selection.layer)
        told = bar or next(chosen, None)
        self.foot.tell(told.readout if told is not None else "")

    def copy_table(self) -> None:
        """Put what is shown on the clipboard, for a spreadsheet."""
        over_training = self.selection.saturation == "map"
        text = map_table(self.map.canvas.chart) if over_training else bars_table(self.bars.canvas.chart)
        QGuiApplication.clipboard().setText(text)

    @property
    def picture_title(self) -> str:
        """What its picture shows."""
        if self._layer_used and self._layer:
            return f"the {self.selection.layer_view} of {self.selection.layer}"
        return "the saturation map" if self.selection.saturation == "map" else "the saturation"

    def charts(self) -> tuple[Chart, ...]:
        """The part that was used last, for pictures: spectrum, samples, map or bars.

        Raises:
            LandscopeError: nothing was measured yet.
        """
        chart: BarChart | MapChart | CurveChart | PointsChart
        if self._layer_used and self._layer:
            samples = self.selection.layer_view == "samples"
            chart = self.samples_chart() if samples else self.spectrum_chart()
        elif self.selection.saturation == "map":
            self.map.finish()
            chart = self.map.canvas.chart
        else:
            chart = self.chart()
        return or_refuse(self.picture_title, chart, chart.empty)

    def use(self, part: QWidget) -> None:
        """Pictures are of the selected layer while that is used, else of the bars or the map."""
        self._layer_used = self.spectrum.isAncestorOf(part)

    def _offer_runs(self) -> None:
        session, run = self.document.session, self.selection.run
        splits = tuple(sorted(s.mode for s in session.saturation.values() if s.run == run))
        shown = saturation_of(session, run, self.selection.split)
        self.split.offer(splits, shown.mode if shown is not None else "")
        others = dict.fromkeys(s.run for s in session.saturation.values() if s.run != run)
        self.compare.offer(tuple(name for name in session.runs if name in others), self.selection.against)
        self._column.activate()  # a button that was just shown would lie over everything in a picture

    def _choose_cell(self, layer: str, checkpoint: str) -> None:
        choose(self.selection, self.document.session, self.selection.run, checkpoint)
        self.selection.set(layer=layer)

    def _show_map(self, wanted: bool) -> None:
        self.selection.set(saturation="map" if wanted else "bars")

    def spectrum_chart(self) -> CurveChart:
        """The spectrum of the selected layer."""
        now = self.selection
        return spectrum_chart(
            self.document.session, now.run, now.checkpoint, now.layer, now.split, now.threshold, now.against
        )

    def samples_chart(self) -> PointsChart:
        """The samples of the selected layer."""
        now = self.selection
        return samples_chart(self.document.session, now.run, now.checkpoint, now.layer, now.split)

    def _refresh_spectrum(self) -> None:
        measured = self._measured()
        layer = self._layer if measured is not None else ""
        self._opened = bool(layer) and (self._opened or self.spectrum.isHidden())
        self.spectrum.setVisible(bool(layer))
        self._scroll.setMinimumHeight(LEAST_SHOWN if layer else LEAST_HEIGHT)
        if layer and self.selection.layer_view == "samples":
            self.spectrum.show_samples(layer, self.samples_chart())
        elif layer and measured is not None:
            chosen, was = self.selection.threshold, measured.threshold
            self.spectrum.show_layer(
                layer, self.spectrum_chart(), chosen or was, changed=chosen not in (None, was)
            )

    @property
    def _layer(self) -> str:
        """The selected layer, where saturation knows it: distances know others, too."""
        layer = self.selection.layer
        known = layer and has_saturation(self.document.session, self.selection.run, layer)
        return layer if known else ""

    def _reveal(self, _lowest: int, highest: int) -> None:
        """Scroll to a spectrum that was just opened, once it has its place."""
        if self._opened and highest > 0:
            self._scroll.verticalScrollBar().setValue(highest)
            self._opened = False

    def _measured(self) -> SaturationMeasured | None:
        """What was measured at the current checkpoint; None = nothing yet."""
        now = self.selection
        saturation = saturation_of(self.document.session, now.run, now.split)
        return saturation.measured.get(now.checkpoint) if saturation is not None else None

    def _move_threshold(self, threshold: object) -> None:
        self.selection.set(threshold="" if threshold is None else str(threshold))
        if self.selection.saturation == "bars":
            self.refresh_now()  # bars stay with the line that is dragged

    @property
    def _key(self) -> str:
        return str(self.statistic.currentData())
