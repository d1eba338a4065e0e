"""How the landscape is shown: which result, which value, scale, colours, and what stands beside it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from landscope_app.plots.colour_maps import COLOUR_MAPS
from landscope_app.plots.landscape_chart import Display

SCALES = (("Auto", "auto"), ("Linear", "linear"), ("Log", "log"))


class DisplayBar(QWidget):
    """A row of choices.

    Signals:
        result_chosen: id of the plane or line to show. changed: something else is shown differently.
    """

    result_chosen = Signal(object)
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.result = _choice("Result shown", 12)
        self.value = _choice("Value shown as height", 5)
        self.scale = _choice("Scale of the values", 4)
        self.colours = _choice("Colour map", 6)
        self.beside = _choice("Shown beside it, on the same scale", 5)
        for title, key in SCALES:
            self.scale.addItem(title, key)
        for name in COLOUR_MAPS:
            self.colours.addItem(name, name)
        self.result.setPlaceholderText("nothing computed yet")
        self._lay_out()
        self.result.activated.connect(lambda _: self.result_chosen.emit(self.result.currentData()))
        for choice in (self.value, self.scale, self.colours, self.beside):
            choice.currentIndexChanged.connect(lambda _: self.changed.emit())

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(6)
        layout.addWidget(self.result, 1)
        for widget in (self.beside, self.value, self.scale, self.colours):
            layout.addWidget(widget)

    def offer(self, choice: QComboBox, items: list[tuple[str, str]], current: str) -> None:
        """Fill a choice with (title, key) and select ``current``, without a signal and only if it differs."""
        shown = [(choice.itemText(k), str(choice.itemData(k))) for k in range(choice.count())]
        blocked = choice.blockSignals(True)
        if shown != items:
            choice.clear()
            for title, key in items:
                choice.addItem(title, key)
        index = choice.findData(current)
        choice.setCurrentIndex(index if index >= 0 or not items else 0)
        choice.setEnabled(bool(items))
        choice.blockSignals(blocked)

    def show_for(self, kind: str, comparable: bool) -> None:
        """Hide what means nothing for a kind of picture."""
        plane = kind != "line"
        for widget in (self.value, self.colours):
            widget.setVisible(plane)
        self.beside.setVisible(plane and comparable)

    @property
    def display(self) -> Display:
        """The choices that concern drawing."""
        return Display(
            metric=str(self.value.currentData() or "loss"),
            scale=str(self.scale.currentData()),
            colour_map=str(self.colours.currentData()),
        )

    def state(self) -> dict[str, str]:
        """The choices for a session's view."""
        return {
            "metric": str(self.value.currentData() or "loss"),
            "scale": str(self.scale.currentData()),
            "colour_map": str(self.colours.currentData()),
            "beside": str(self.beside.currentData() or ""),
        }


def _choice(name: str, letters: int) -> QComboBox:
    choice = QComboBox()
    choice.setAccessibleName(name)
    choice.setToolTip(name)
    choice.setMinimumContentsLength(letters)
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return choice
