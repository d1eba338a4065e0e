"""Which panel was used last: exports and copies are of that one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

from landscope_app.views.pictured import Pictured


class PanelInUse(QObject):
    """Follows the focus into the panels that can be pictures.

    Signals:
        changed(): it may be another panel, or show something else.
    """

    changed = Signal()

    def __init__(self, centre: QWidget, central: Callable[[], Pictured], parent: QObject) -> None:
        """``centre``: what holds the panels in the middle; ``central``: the one of them that is shown."""
        super().__init__(parent)
        self._centre, self._central = centre, central
        self._view: Pictured | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication), "panels need an application"
        application.focusChanged.connect(self._follow)

    @property
    def view(self) -> Pictured:
        """The panel; the one in the middle where none was used or it cannot be seen any more."""
        view = self._view
        return view if view is not None and view.isVisible() else self._central()

    def use_centre(self) -> None:
        """What is in the middle was asked for."""
        self._view = None
        self.changed.emit()

    def _follow(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is None:
            return
        if self._centre.isAncestorOf(new):
            self.use_centre()
            return
        panel: QObject | None = new
        while panel is not None and not isinstance(panel, Pictured):
            panel = panel.parent()
        if panel is not None:
            self._view = panel
            panel.use(new)
            self.changed.emit()
