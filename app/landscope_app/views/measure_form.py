"""The form in the saturation panel: how saturation is measured next, and what that costs."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from landscope.contract.options import SaturationOptions
from landscope_app.state.cost import Cost
from landscope_app.state.preview import duration
from landscope_app.state.saturation_choices import SaturationChoices, names_in
from landscope_app.theme.plain import plain_label
from landscope_app.views.names_field import NamesField

NO_SCRIPT = "Needs a model script in a trusted folder"
_MAPS = tuple((name, name) for name in ("channelwise", "mean", "max", "median", "flatten"))
_SERIES = (("last step", "last_timestep"), ("every step", "timestepwise"))
_RULES = (("fewest directions", "smallest_k"), ("as delve counts", "delve"))
_SAMPLES = tuple((f"{n:,}" if n else "all", n) for n in (128, 256, 512, 1024, 2048, 4096, 0))


class MeasureForm(QWidget):
    """Options of the next measurement, its cost, "Run" and "Cancel".

    Signals:
        changed(SaturationChoices): an option changed; answer with ``show_cost``.
        run_wanted(SaturationChoices): "Run" was pressed. closed(): "Cancel" or Escape.
    """

    changed = Signal(object)
    run_wanted = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._options = SaturationOptions()
        self._maps = _combo("Convolutions", _MAPS, "Each position of a map is a row, or each map is one")
        self._series = _combo("Sequences", _SERIES, "Which steps of a sequence are rows")
        self._rule = _combo(
            "Counting rule",
            _RULES,
            "The fewest directions that hold the threshold of the variance, or one less, as delve counts",
        )
        self._split = _combo("Split", (("train", "train"),), "The part of the data that is measured")
        self._samples = _combo("Samples", _SAMPLES, "How many samples of the data are used")
        self._layers = NamesField()
        self._rows = QDoubleSpinBox(minimum=0.1, maximum=100.0, decimals=1, singleStep=5.0, suffix=" %")
        self._keep = QCheckBox("Keep samples to look at")
        self._cost, self._refusal = plain_label(), plain_label()
        self._run, self._cancel = QPushButton("Run"), QPushButton("Cancel")
        self._dress()
        self._lay_out()
        self._connect()
        self.show_choices(SaturationChoices())
        self.allow(False)

    def choices(self) -> SaturationChoices:
        """The options as they stand."""
        options = replace(
            self._options,
            conv_method=self._maps.currentData(),
            timeseries_method=self._series.currentData(),
            idim_rule=self._rule.currentData(),
            split=self._split.currentData(),
            embedding=self._keep.isChecked(),
            layers=names_in(self._layers.text()),
            row_share=self._rows.value() / 100.0,
        )
        return SaturationChoices(options=options, samples=self._samples.currentData())

    def show_choices(self, choices: SaturationChoices) -> None:
        """Put options into the form without asking for anything."""
        options = self._options = choices.options
        blocked = [QSignalBlocker(field) for field in self._fields()]
        _choose(self._maps, options.conv_method)
        _choose(self._series, options.timeseries_method)
        _choose(self._rule, options.idim_rule)
        _choose(self._split, options.split)
        _choose(self._samples, choices.samples)
        self._layers.setText(", ".join(options.layers))
        self._rows.setValue(options.row_share * 100.0)
        self._keep.setChecked(options.embedding)
        for one in blocked:
            one.unblock()
        self.refuse("")

    def offer(self, splits: tuple[str, ...], names: tuple[str, ...]) -> None:
        """The splits of the data and the names of modules and classes that are known."""
        with QSignalBlocker(self._split):
            for split in splits:
                if self._split.findData(split) < 0:
                    self._split.addItem(split, split)
        self._layers.offer(names)

    def show_cost(self, cost: Cost, samples: int) -> None:
        """What "Run" would take."""
        about = duration(cost.seconds)
        time = f"about {about}" if about else "time not known yet"
        many = f"{samples:,}" if samples else "all"
        self._cost.setText(f"{cost.evaluations:,} checkpoints × {many} samples · {time}")

    def allow(self, runnable: bool) -> None:
        """Whether there is a script that may run; where not, it says so."""
        self._run.setEnabled(runnable)
        self._run.setToolTip("" if runnable else NO_SCRIPT)
        self._run.setAccessibleDescription("" if runnable else NO_SCRIPT)
        self._cost.setVisible(runnable)
        if not runnable:
            self.refuse(f"{NO_SCRIPT}.")
        elif self._refusal.text() == f"{NO_SCRIPT}.":
            self.refuse("")

    def refuse(self, sentence: str) -> None:
        """Say why these options cannot be used; empty = nothing is wrong."""
        self._refusal.setText(sentence)
        self._refusal.setVisible(bool(sentence))

    @property
    def refusal(self) -> str:
        """Why these options cannot be used, as it stands there; empty = nothing is wrong."""
        return self._refusal.text()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the form."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _fields(self) -> tuple[QWidget, ...]:
        boxes = (self._maps, self._series, self._rule, self._split, self._samples)
        return (*boxes, self._layers, self._rows, self._keep)

    def _dress(self) -> None:
        self.setFocusProxy(self._maps)
        self._layers.setAccessibleName("Further layers")
        self._layers.setPlaceholderText("names or classes, with commas")
        self._layers.setToolTip("Further layers by module name or by class, such as Embedding")
        self._rows.setAccessibleName("Share of rows")
        self._rows.setToolTip("Below 100 %: a part of each layer's rows, never fewer than 8 per feature")
        self._keep.setToolTip("Some samples of each layer, in its first two directions")
        self._run.setProperty("primary", True)
        self._run.setAccessibleName("Measure saturation with these options")
        self._cancel.setAccessibleName("Close without measuring")
        self._cost.setProperty("muted", True)
        for label in (self._cost, self._refusal):
            label.setWordWrap(True)

    def _lay_out(self) -> None:
        inner = QWidget()
        form = QFormLayout(inner)
        form.setContentsMargins(12, 4, 12, 4)
        form.setVerticalSpacing(3)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        named = (
            ("Convolutions", self._maps),
            ("Sequences", self._series),
            ("Count", self._rule),
            ("Split", self._split),
            ("Samples", self._samples),
            ("Layers", self._layers),
            ("Rows", self._rows),
        )
        for caption, field in named:
            label = QLabel(caption)
            label.setProperty("muted", True)
            label.setBuddy(field)
            form.addRow(label, field)
        form.addRow("", self._keep)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(_scrolled(inner), 1)
        layout.addLayout(self._foot())

    def _foot(self) -> QVBoxLayout:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._run)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 0, 12, 4)
        foot.addWidget(self._refusal)
        foot.addWidget(self._cost)
        foot.addLayout(buttons)
        return foot

    def _connect(self) -> None:
        for box in (self._maps, self._series, self._rule, self._split, self._samples):
            box.currentIndexChanged.connect(self._tell)
        self._layers.textChanged.connect(self._tell)
        self._rows.valueChanged.connect(self._tell)
        self._keep.toggled.connect(self._tell)
        self._run.clicked.connect(lambda _checked=False: self.run_wanted.emit(self.choices()))
        self._cancel.clicked.connect(lambda _checked=False: self.closed.emit())

    def _tell(self, _value: object = None) -> None:
        if self._run.isEnabled():
            self.refuse("")
        self.changed.emit(self.choices())


def _combo(name: str, items: tuple[tuple[str, Any], ...], tip: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(tip)
    for text, value in items:
        box.addItem(text, value)
    return box


def _choose(box: QComboBox, value: object) -> None:
    """Select the item with this value; one that is not there yet is added."""
    if box.findData(value) < 0:
        box.addItem(f"{value:,}" if isinstance(value, int) else f"{value}", value)
    box.setCurrentIndex(box.findData(value))


def _scrolled(inner: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(inner)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    for part in (area.viewport(), inner):
        part.setAutoFillBackground(False)
    return area
