"""Choosing which part of the data saturation is shown for, once it was measured on several."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QWidget


class SplitChoice(QComboBox):
    """The splits that were measured; hidden while there is one at most.

    Signals:
        chosen: name of a split.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Split that is shown")
        self.setToolTip("The part of the data that saturation is shown for")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.textActivated.connect(self.chosen)
        self.offer((), "")

    def offer(self, splits: tuple[str, ...], current: str) -> None:
        """Offer these splits, with the one that is shown."""
        with QSignalBlocker(self):
            if splits != tuple(self.itemText(k) for k in range(self.count())):
                self.clear()
                self.addItems(splits)
            self.setCurrentText(current)
        self.setVisible(len(splits) > 1)
