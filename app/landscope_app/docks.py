"""The docks around the picture: made at once as frames, filled when their views have been imported."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QWidget

_LEFT, _RIGHT, _BOTTOM = (
    Qt.DockWidgetArea.LeftDockWidgetArea,
    Qt.DockWidgetArea.RightDockWidgetArea,
    Qt.DockWidgetArea.BottomDockWidgetArea,
)
TITLES = {
    "project": ("Project", _LEFT),
    "saturation": ("Layer saturation", _RIGHT),
    "distance": ("Distance in weight space", _RIGHT),
    "losses": ("Loss and accuracy", _RIGHT),
    "jobs": ("Jobs", _BOTTOM),
    "log": ("Log", _BOTTOM),
}


class Docks:
    """All docks of a window, by name."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self.all = {name: self._make(name) for name in TITLES}
        self._arrange()

    def fill(self, name: str, view: QWidget) -> None:
        """Put the view into its dock."""
        old = self.all[name].widget()
        self.all[name].setWidget(view)
        if old is not None:
            old.deleteLater()

    def show(self, visible: bool) -> None:
        """Show or hide all of them (the start page has none)."""
        for dock in self.all.values():
            dock.setVisible(visible)

    def reset(self) -> None:
        """Put all docks back where they were at first."""
        for dock in self.all.values():
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
        self._arrange()
        self.show(True)

    def _make(self, name: str) -> QDockWidget:
        dock = QDockWidget(TITLES[name][0], self._window)
        dock.setObjectName(f"dock_{name}")
        dock.setAccessibleName(TITLES[name][0])
        placeholder = QLabel("…")
        placeholder.setAlignment(Qt.AlignmentFlag.AlignCenter)
        dock.setWidget(placeholder)
        return dock

    def _arrange(self) -> None:
        window, docks = self._window, self.all
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        for name, dock in docks.items():
            window.addDockWidget(TITLES[name][1], dock)
        window.splitDockWidget(docks["saturation"], docks["distance"], Qt.Orientation.Vertical)
        window.splitDockWidget(docks["distance"], docks["losses"], Qt.Orientation.Vertical)
        window.tabifyDockWidget(docks["jobs"], docks["log"])
        docks["jobs"].raise_()
        self.fit()

    def fit(self) -> None:
        """Sizes that leave the picture most of the room."""
        docks, width = self.all, self._window.width()
        widths = [max(306, round(width * 0.21)), round(width * 0.24)]
        sides = [docks["project"], docks["saturation"]]
        self._window.resizeDocks(sides, widths, Qt.Orientation.Horizontal)
        right = [docks["saturation"], docks["distance"], docks["losses"]]
        self._window.resizeDocks(right, [42, 32, 26], Qt.Orientation.Vertical)
        self._window.resizeDocks([docks["jobs"]], [130], Qt.Orientation.Vertical)
