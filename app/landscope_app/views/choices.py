"""The bar of choices above the picture: what is shown, what the next run computes, and what that costs."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from superqt import QFlowLayout

from landscope_app.state.choices import Choices
from landscope_app.state.cost import Cost
from landscope_app.state.preview import LEVELS, Refinement, duration
from landscope_app.theme.plain import plain_tip

KINDS = (("surface", "Surface"), ("contour", "Contour"), ("line", "Line"), ("losses", "Losses"))
_LINE_POINTS = (9, 17, 33, 65, 129)
_SAMPLES = (128, 256, 512, 1024, 2048, 4096, 0)


class ChoiceBar(QWidget):
    """What is shown, and a second row with the options of the next run.

    Signals:
        kind_chosen(str): surface, contour, line or losses.
        changed(Choices): an option changed; answer with ``show_cost``.
        run_wanted(Choices): "Run" was pressed. refine_wanted(): "Refine" was pressed.
    """

    kind_chosen = Signal(object)
    changed = Signal(object)
    run_wanted = Signal(object)
    refine_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind = "surface"
        self._segments = QButtonGroup(self, exclusive=True)
        self._more = QPushButton("Options")
        self._more.setCheckable(True)
        self._more.setAccessibleName("Show the options of the next run")
        self._refine = QPushButton("Refine")
        self._refine.setAccessibleName("Refine the plane that is shown")
        self._cost = QLabel()
        self._cost.setProperty("muted", True)
        self._run = QPushButton("Run")
        self._run.setProperty("primary", True)
        self._run.setAccessibleName("Run with these options")
        self._options = QWidget()
        self._make_fields()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(6)
        layout.addLayout(self._first_row())
        layout.addWidget(self._options)
        self._options.hide()
        self._connect()
        self.show_refinement(None)

    def choices(self) -> Choices:
        """The options as they stand."""
        line = self.kind == "line"
        return Choices(
            shape="line" if line else "plane",
            kind=self._kind.currentData(),
            base=self._base.currentData() or "",
            reach=self._reach.value(),
            batchnorm=self._batchnorm.currentData(),
            seed=self._seed.value(),
            samples=self._samples.currentData(),
            grid=(self._points if line else self._grid).currentData(),
            device=self._device.currentData() or "auto",
        )

    def show_choices(self, choices: Choices) -> None:
        """Put options into the bar without asking for anything."""
        boxes: tuple[tuple[QComboBox, Any], ...] = (
            (self._kind, choices.kind),
            (self._base, choices.base),
            (self._batchnorm, choices.batchnorm),
            (self._samples, choices.samples),
            (self._grid, choices.grid),
            (self._device, choices.device),
        )
        for box, value in boxes:
            with QSignalBlocker(box):
                _choose(box, value)
        with QSignalBlocker(self._reach), QSignalBlocker(self._seed):
            self._reach.setValue(choices.reach)
            self._seed.setValue(choices.seed)
        self._tell()

    def show_checkpoints(self, names: tuple[str, ...]) -> None:
        """The checkpoints that can be a centre."""
        _refill(self._base, [("last checkpoint", ""), *((name, name) for name in names)])

    def show_devices(self, names: tuple[str, ...]) -> None:
        """The devices of the engine."""
        _refill(self._device, [("automatic", "auto"), *((name, name) for name in names)])

    def show_kind(self, kind: str) -> None:
        """Press a segment without telling."""
        self.kind = kind
        for button in self._segments.buttons():
            if button.property("kind") == kind:
                button.setChecked(True)
        self._fit_kind()

    def show_cost(self, cost: Cost) -> None:
        """What "Run" would take."""
        about = duration(cost.seconds)
        time = f" · about {about}" if about else " · time not known yet"
        self._cost.setText(f"{cost.evaluations:,} points{time}")

    def show_refinement(self, left: Refinement | None) -> None:
        """Offer to refine the plane that is shown; None = it is complete or runs."""
        self._refine.setVisible(left is not None and self.kind in ("surface", "contour"))
        if left is not None:
            about = duration(left.seconds)
            extra = f" (about {about})" if about else ""
            self._refine.setText(f"Refine to {left.grid}×{left.grid}{extra}")
            self._refine.setToolTip(f"{left.evaluations:,} points more")

    def allow(self, runnable: bool) -> None:
        """Whether there is a script that may run."""
        self._run.setEnabled(runnable)
        self._run.setToolTip("" if runnable else "Needs a model script in a trusted folder")

    def toggle_options(self) -> None:
        """Show or hide the second row."""
        self._more.toggle()

    def _first_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        for place, (kind, text) in enumerate(KINDS):
            button = QPushButton(text)
            button.setCheckable(True)
            button.setProperty("kind", kind)
            button.setProperty("segment", {0: "first", len(KINDS) - 1: "last"}.get(place, "true"))
            button.setAccessibleName(f"Show {text.lower()}")
            button.setChecked(kind == self.kind)
            self._segments.addButton(button)
            row.addWidget(button)
        row.addSpacing(8)
        row.addStretch(1)
        row.addWidget(self._refine)
        row.addSpacing(8)
        row.addWidget(self._more)
        return row

    def _make_fields(self) -> None:
        self._kind = _combo("Kind of plane", (("trajectory", "trajectory"), ("random", "random")))
        self._base = _combo("Centre checkpoint", (("last checkpoint", ""),))
        self._reach = QDoubleSpinBox(minimum=0.01, maximum=100.0, singleStep=0.25, value=1.0, decimals=2)
        self._batchnorm = _combo(
            "BatchNorm statistics",
            (("automatic", "auto"), ("frozen", "frozen"), ("recalibrated", "recalibrated")),
        )
        self._seed = QSpinBox(minimum=0, maximum=2**31 - 1)
        self._samples = _combo("Samples", tuple((f"{n:,}" if n else "all", n) for n in _SAMPLES))
        self._grid = _combo("Grid", tuple((f"{n}×{n}", n) for n in LEVELS))
        self._points = _combo("Points of the line", tuple((str(n), n) for n in _LINE_POINTS))
        self._device = _combo("Device", (("automatic", "auto"),))
        for box, width in ((self._reach, 64), (self._seed, 72)):
            box.setFixedWidth(width)
            box.setAlignment(Qt.AlignmentFlag.AlignCenter)
        _choose(self._grid, 33)
        _choose(self._points, 33)
        _choose(self._samples, 2048)
        flow = QFlowLayout(self._options)
        flow.setContentsMargins(0, 0, 0, 0)
        fields: tuple[tuple[str, QWidget], ...] = (
            ("Plane", self._kind),
            ("Centre", self._base),
            ("Reach", self._reach),
            ("BatchNorm", self._batchnorm),
            ("Seed", self._seed),
            ("Samples", self._samples),
            ("Grid", self._grid),
            ("Points", self._points),
            ("Device", self._device),
        )
        self._pairs = {caption: _pair(caption, widget) for caption, widget in fields}
        self._centre_caption = self._pairs["Centre"].findChild(QLabel) or QLabel()
        for pair in self._pairs.values():
            flow.addWidget(pair)
        flow.addWidget(self._cost)
        flow.addWidget(self._run)
        self._cost.setMinimumHeight(30)

    def _connect(self) -> None:
        self._segments.buttonClicked.connect(lambda button: self._pick_kind(button.property("kind")))
        for box in (self._kind, self._base, self._batchnorm, self._samples, self._grid, self._points):
            box.currentIndexChanged.connect(self._tell)
        self._device.currentIndexChanged.connect(self._tell)
        self._reach.valueChanged.connect(self._tell)
        self._seed.valueChanged.connect(self._tell)
        self._more.toggled.connect(self._fit_kind)
        self._run.clicked.connect(lambda _checked=False: self.run_wanted.emit(self.choices()))
        self._refine.clicked.connect(lambda _checked=False: self.refine_wanted.emit())
        self._fit_kind()

    def _pick_kind(self, kind: str) -> None:
        self.kind = kind
        self._fit_kind()
        self.kind_chosen.emit(kind)

    def _fit_kind(self, _on: bool = False) -> None:
        """Only the options that mean something for what is shown."""
        line, losses = self.kind == "line", self.kind == "losses"
        random = self._kind.currentData() == "random"
        self._options.setVisible(self._more.isChecked() and not losses)
        self._more.setVisible(not losses)
        self._refine.setVisible(self._refine.isVisible() and not line and not losses)
        self._pairs["Plane"].setVisible(not line)
        self._pairs["Grid"].setVisible(not line)
        self._pairs["Points"].setVisible(line)
        self._pairs["Reach"].setVisible(random and not line)
        self._pairs["Seed"].setVisible(random and not line)
        self._centre_caption.setText("End" if line else "Centre")

    def _tell(self, _value: object = None) -> None:
        self._fit_kind()
        self.changed.emit(self.choices())


def _pair(caption: str, widget: QWidget) -> QWidget:
    pair = QWidget()
    row = QHBoxLayout(pair)
    row.setContentsMargins(0, 0, 6, 0)
    row.setSpacing(6)
    label = QLabel(caption)
    label.setProperty("muted", True)
    label.setBuddy(widget)
    if not widget.accessibleName():
        widget.setAccessibleName(caption)
    row.addWidget(label)
    row.addWidget(widget)
    return pair


def _combo(name: str, items: tuple[tuple[str, Any], ...]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    for text, value in items:
        box.addItem(text, value)
    return box


def _choose(box: QComboBox, value: object) -> None:
    """Select the item with this value; a value that is not there yet is added."""
    row = box.findData(value)
    if row < 0 and value is not None and value != "":
        box.addItem(f"{value}", value)
        row = box.count() - 1
    box.setCurrentIndex(max(row, 0) if box.count() else -1)


def _refill(box: QComboBox, items: list[tuple[str, str]]) -> None:
    """Other items, the same choice where it is still there."""
    now = [(box.itemText(k), box.itemData(k)) for k in range(box.count())]
    if now == items:
        return
    current = box.currentData()
    with QSignalBlocker(box):
        box.clear()
        for text, value in items:
            box.addItem(text, value)
            box.setItemData(box.count() - 1, plain_tip(text), Qt.ItemDataRole.ToolTipRole)
        row = box.findData(current)
        box.setCurrentIndex(row if row >= 0 else 0 if items else -1)
