"""The spectrum of the selected layer and the threshold of saturation, below the bars."""

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

from landscope_app.plots.charts import CurveChart
from landscope_app.plots.spectrum import LOWEST, SpectrumWidget
from landscope_app.theme.colors import Theme
from landscope_app.views.labels import Hint, Note

LEAST_HEIGHT = 104  # pixels in which the curves can still be read


class LayerSpectrum(QWidget):
    """Threshold by number or by dragging the line of the spectrum.

    Signals:
        threshold_chosen: the share of the variance in (0, 1]; None = as measured.
        closed(): the spectrum is not wanted any more.
    """

    threshold_chosen = Signal(object)
    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.name = Note(theme, "Selected layer")
        self.share = _share_box()
        self.as_measured = _button("↺", "Threshold as measured", "Back to the threshold of the measurement")
        self.close_button = _button("×", "Close the spectrum", "Close the spectrum (Esc)")
        self.spectrum, self.hint = SpectrumWidget(theme), Hint(theme)
        self.spectrum.setMinimumHeight(LEAST_HEIGHT)
        self._lay_out()
        self.share.valueChanged.connect(lambda value: self.threshold_chosen.emit(round(value / 100, 4)))
        self.as_measured.clicked.connect(lambda: self.threshold_chosen.emit(None))
        self.close_button.clicked.connect(self.closed)
        self.spectrum.dragged.connect(self.threshold_chosen)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.addWidget(self.name, 1)
        for part in (self.share, self.as_measured, self.close_button):
            head.addWidget(part)
        body = QWidget()
        self._pages = QStackedLayout(body)
        self._pages.addWidget(self.spectrum)
        self._pages.addWidget(self.hint)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(body, 1)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for part in (self.name, self.spectrum, self.hint):
            part.apply_theme(theme)

    def show_layer(self, layer: str, chart: CurveChart, threshold: float, *, changed: bool) -> None:
        """Show the spectrum of a layer; ``changed``: the threshold is not that of the measurement."""
        self.name.set_note(layer)
        with QSignalBlocker(self.share):
            self.share.setValue(100 * threshold)
        self.as_measured.setEnabled(changed)
        self.hint.setText(chart.empty)
        self._pages.setCurrentWidget(self.spectrum if chart.series else self.hint)
        if chart.series:
            self.spectrum.set_chart(chart)


def _share_box() -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(100 * LOWEST, 100.0)
    box.setDecimals(1)
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
