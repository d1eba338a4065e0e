"""The spectrum of the selected layer with the threshold of saturation, or its samples, below the bars."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from landscope_app.plots.charts import CurveChart, PointsChart
from landscope_app.plots.points import PointsWidget
from landscope_app.plots.spectrum import SpectrumWidget
from landscope_app.theme.colors import Theme
from landscope_app.views.labels import Hint, Note

LEAST_HEIGHT = 104  # pixels in which the curves can still be read
SAMPLES_TIP = (
    "Samples of the data in the layer's first two directions (principal components), coloured by class: "
    "the same ones at every checkpoint. Click one to follow it, a class to hide it."
)


class LayerSpectrum(QWidget):
    """Threshold by number or by dragging the line of the spectrum; a button shows the samples instead.

    Signals:
        threshold_chosen: the share of the variance in (0, 1]; None = as measured.
        samples_wanted: whether the samples are to be shown.
        closed(): the layer is not wanted any more.
    """

    threshold_chosen = Signal(object)
    samples_wanted = Signal(object)
    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.name = Note(theme, "Selected layer")
        self.share = _share_box()
        self.as_measured = _button("↺", "Threshold as measured", "Back to the threshold of the measurement")
        self.close_button = _button("×", "Close the layer", "Close the layer (Esc)")
        self.samples_button = _button("Samples", "Samples of the layer", SAMPLES_TIP)
        self.samples_button.setCheckable(True)
        self.samples_button.setAutoRaise(False)
        self.spectrum, self.samples, self.hint = SpectrumWidget(theme), PointsWidget(theme), Hint(theme)
        for plot in (self.spectrum, self.samples):
            plot.setMinimumHeight(LEAST_HEIGHT)
        self._lay_out()
        self.share.valueChanged.connect(lambda value: self.threshold_chosen.emit(round(value / 100, 4)))
        self.as_measured.clicked.connect(lambda: self.threshold_chosen.emit(None))
        self.close_button.clicked.connect(self.closed)
        self.samples_button.clicked.connect(lambda wanted: self.samples_wanted.emit(wanted))
        self.spectrum.dragged.connect(self.threshold_chosen)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.addWidget(self.name, 1)
        for part in (self.share, self.as_measured, self.samples_button, self.close_button):
            head.addWidget(part)
        body = QWidget()
        self._pages = QStackedLayout(body)
        for page in (self.spectrum, self.samples, self.hint):
            self._pages.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(body, 1)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.name, self.spectrum, self.samples, self.hint):
            part.apply_theme(theme)

    def show_layer(self, layer: str, chart: CurveChart, threshold: float, *, changed: bool) -> None:
        """Show the spectrum of a layer; ``changed``: the threshold is not that of the measurement."""
        self._show_name(layer, samples=False)
        shown = round(100 * threshold, self.share.decimals())
        if shown != self.share.value():  # else what is being typed there would be lost
            with QSignalBlocker(self.share):
                self.share.setValue(shown)
        self.as_measured.setEnabled(changed)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.spectrum if chart.series else self.hint)
        if chart.series:
            self.spectrum.set_chart(chart)

    def show_samples(self, layer: str, chart: PointsChart) -> None:
        """Show the samples of a layer."""
        self._show_name(layer, samples=True)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.hint if chart.empty else self.samples)
        if not chart.empty:
            self.samples.set_chart(chart)

    def _show_name(self, layer: str, *, samples: bool) -> None:
        """The name of the layer and what belongs to one of the two views: samples have no threshold."""
        self.name.set_note(layer)
        self.samples_button.setChecked(samples)
        for part in (self.share, self.as_measured):
            part.setVisible(not samples)


class _ShareBox(QDoubleSpinBox):
    """A percentage to two decimals, written without zeros at its end."""

    def textFromValue(self, value: float) -> str:
        text, point = super().textFromValue(value), self.locale().decimalPoint()
        return text.rstrip("0").removesuffix(point) if point in text else text


def _share_box() -> QDoubleSpinBox:
    box = _ShareBox()
    box.setRange(0.01, 100.0)
    box.setDecimals(2)
    box.setKeyboardTracking(False)  # a number counts once it is complete
    box.setSingleStep(0.5)
    box.setSuffix(" %")
    box.setAccessibleName("Threshold: share of the variance")
    box.setToolTip("The share of the variance that the counted directions hold")
    return box


def _button(sign: str, name: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(sign)
    button.setAutoRaise(True)
    button.setAccessibleName(name)
    button.setToolTip(tip)
    return button
