"""Choosing the run that saturation is compared with."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

LONGEST = 9  # letters of a run's name on the button; all of it is in the menu and the tool tip


class CompareButton(QToolButton):
    """A button with the other runs as its menu.

    Signals:
        chosen: name of a run; empty = alone.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offered: tuple[str, ...] = ()
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(QMenu(self))
        self._group = QActionGroup(self)
        self.setAccessibleName("Compare with another run")
        self.offer((), "")

    def offer(self, runs: tuple[str, ...], current: str) -> None:
        """Offer these runs, with the one that is compared now (empty = none); hidden where there is none."""
        if runs != self._offered:
            self._fill(runs)
        for action in self._group.actions():
            action.setChecked(action.data() == current)
        cut = current if len(current) <= LONGEST else f"{current[: LONGEST - 1]}…"
        self.setText(f"vs {cut}" if current else "Compare")
        tip = f"Compared with {current}" if current else "Show another run beside this one"
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
        self.setVisible(bool(runs))

    def _fill(self, runs: tuple[str, ...]) -> None:
        self._offered = runs
        self.menu().clear()
        for action in self._group.actions():
            self._group.removeAction(action)
        for name in ("", *runs):
            action = self.menu().addAction(f"Compare with {name.replace('&', '&&')}" if name else "Alone")
            action.setCheckable(True)
            action.setData(name)
            action.triggered.connect(lambda _checked=False, name=name: self.chosen.emit(name))
            self._group.addAction(action)
