"""Above the list of checkpoints: which set of weights is measured, and whether the folder's code may run."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QWidget

from landscope.contract.options import ProjectSpec

AVERAGED = "averaged"


class CheckpointHeader(QWidget):
    """Two choices about a project, where it has them.

    Signals:
        weights_wanted(str): a set of weights was chosen; empty = the plain ones.
        trust_pressed(): the state of trust was pressed.
    """

    weights_wanted = Signal(object)
    trust_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plain = ""
        self.weights = QComboBox()
        self.weights.setAccessibleName("Weights")
        self.weights.setToolTip("The files hold several sets of weights: which of them is measured")
        self._caption = QLabel("Weights")
        self._caption.setProperty("muted", True)
        self._caption.setBuddy(self.weights)
        self.trust = QPushButton()
        self.trust.setProperty("link", True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(4, 2, 4, 2)
        layout.addWidget(self._caption)
        layout.addWidget(self.weights, 1)
        layout.addStretch(1)
        layout.addWidget(self.trust)
        self.weights.activated.connect(lambda row: self.weights_wanted.emit(self.weights.itemData(row)))
        self.trust.clicked.connect(lambda _checked=False: self.trust_pressed.emit())

    def show_project(self, project: ProjectSpec | None, sets: tuple[str, ...]) -> None:
        """Show what the project says. ``sets``: names of the sets that files offer, the used one first."""
        wanted = project.weights if project is not None else ""
        self._show_weights(sets, wanted)
        self.trust.setVisible(project is not None)
        if project is not None:
            text, tip = trust_text(project)
            self.trust.setText(text)
            self.trust.setToolTip(tip)
            self.trust.setAccessibleName(f"{text}: {tip}")

    def _show_weights(self, sets: tuple[str, ...], wanted: str) -> None:
        if sets and not wanted:
            self._plain = sets[0]
        there = bool(len(sets) > 1 or wanted)
        self.weights.setVisible(there)
        self._caption.setVisible(there)
        items = weight_choices(sets, wanted, self._plain)
        if items != [
            (self.weights.itemText(k), self.weights.itemData(k)) for k in range(self.weights.count())
        ]:
            with QSignalBlocker(self.weights):
                self.weights.clear()
                for text, value in items:
                    self.weights.addItem(text, value)
        self.weights.setCurrentIndex(max(0, self.weights.findData(wanted)))


def weight_choices(sets: tuple[str, ...], wanted: str, plain: str) -> list[tuple[str, str]]:
    """(text, value) of every choice: the plain weights first, under their name where it is known."""
    named = [(name, name) for name in sets if name != plain]
    choices = [(plain or "plain", ""), *named]
    if wanted and wanted not in (name for _, name in choices):
        choices.append(("moving average" if wanted == AVERAGED else wanted, wanted))
    return choices


def trust_text(project: ProjectSpec) -> tuple[str, str]:
    """What stands on the button, and what it does."""
    if not project.script:
        return "no script · files only", "Set up the model script"
    if project.trusted:
        return "trusted · runs code", "The script of this folder may run; press to take that back"
    return "not trusted · files only", "The script is not run; press to say that you trust the folder"
