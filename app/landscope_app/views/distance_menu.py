"""The menu of the distance panel: how distances are drawn, which curves, on which axes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from landscope_app.state.selection import Chosen

VIEWS = {"curves": "Curves", "map": "Map", "matrix": "Matrix", "table": "Table"}
_VIEW_TIPS = {
    "curves": "Over the steps of the run",
    "map": "Layers down, checkpoints across",
    "matrix": "Every checkpoint with every other",
    "table": "All quantities of the current checkpoint",
}
_CURVES = {"total": "All parameters together", "layers": "All layers", "chosen": "Chosen layers"}
_ROWS = {"layers": "A row per layer", "parameters": "A row per parameter"}
_AXES = {"y": "Logarithmic values", "x": "Logarithmic steps"}


class DistanceMenu(QToolButton):
    """A button that says what is drawn; its menu changes that.

    Signals:
        wanted: fields of the selection and their new values (a dict).
        relative_wanted: whether the quantity should be relative to the weights.
    """

    wanted = Signal(dict)
    relative_wanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("How distances are drawn")
        self.setToolTip("Curves, map, matrix or table; which layers; logarithmic axes")
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.setMenu(menu)
        self._views = self._choices(menu, "distance", VIEWS, _VIEW_TIPS)
        self._curves = self._choices(menu, "curves", _CURVES)
        self._rows = self._choices(menu, "rows", _ROWS)
        menu.addSeparator()
        self._relative = self._check(menu, "Relative to the weights")
        self._relative.triggered.connect(self.relative_wanted)
        self._axes = {name: self._check(menu, title) for name, title in _AXES.items()}
        for action in self._axes.values():
            action.triggered.connect(lambda _checked=False: self._tell_axes())

    def show_chosen(self, chosen: Chosen, *, relative: bool | None, length: bool) -> None:
        """Mark what is chosen.

        Args:
            relative: whether the quantity is the relative one of a pair; None = it has no pair.
            length: it may have a logarithmic axis.
        """
        view = chosen.distance if chosen.distance in VIEWS else "curves"
        self.setText(VIEWS[view])
        self.setAccessibleDescription(f"{VIEWS[view]}: {_VIEW_TIPS[view]}")
        for group, now in ((self._views, view), (self._curves, chosen.curves), (self._rows, chosen.rows)):
            _mark(group, now)
        _allow(self._curves, view == "curves")
        _allow(self._rows, view in ("map", "table"))
        self._relative.setEnabled(relative is not None and view in ("curves", "map"))
        self._relative.setChecked(bool(relative))
        for name, action in self._axes.items():
            action.setChecked(name in chosen.axes)
        self._axes["y"].setEnabled(length and view in ("curves", "map"))
        self._axes["x"].setEnabled(view == "curves")

    def _choices(
        self, menu: QMenu, field: str, titles: dict[str, str], tips: dict[str, str] | None = None
    ) -> QActionGroup:
        group = QActionGroup(self)
        menu.addSeparator()
        for value, title in titles.items():
            action = self._check(menu, title)
            action.setData(value)
            action.setToolTip((tips or {}).get(value, title))
            action.triggered.connect(lambda _c=False, v=value: self.wanted.emit({field: v}))
            group.addAction(action)
        return group

    @staticmethod
    def _check(menu: QMenu, title: str) -> QAction:
        action = menu.addAction(title)
        action.setCheckable(True)
        return action

    def _tell_axes(self) -> None:
        self.wanted.emit({"axes": "".join(name for name, one in self._axes.items() if one.isChecked())})


def _mark(group: QActionGroup, now: str) -> None:
    actions = group.actions()
    known = [action for action in actions if action.data() == now] or actions[:1]
    known[0].setChecked(True)


def _allow(group: QActionGroup, allowed: bool) -> None:
    for action in group.actions():
        action.setVisible(allowed)
