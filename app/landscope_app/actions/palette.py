"""The command palette: type a few letters, press Enter."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from landscope_app.actions.match import score
from landscope_app.actions.registry import ActionRegistry

_SHOWN = 14


class CommandPalette(QDialog):
    """Lists the usable actions that match; the arrow keys choose, Enter runs, Escape closes."""

    def __init__(self, registry: ActionRegistry, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._registry = registry
        self.setAccessibleName("Command palette")
        self.setMinimumWidth(460)
        self._query = QLineEdit(placeholderText="Type a command")
        self._query.setAccessibleName("Command")
        self._list = QListWidget()
        self._list.setAccessibleName("Matching commands")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self._query)
        layout.addWidget(self._list)
        self._query.textChanged.connect(self._search)
        self._query.installEventFilter(self)
        self._list.itemClicked.connect(lambda _item: self._run())
        self._search("")

    def show_over(self, window: QWidget) -> None:
        """Open it in the upper middle of the window."""
        self.adjustSize()
        corner = window.mapToGlobal(QPoint((window.width() - self.width()) // 2, 72))
        self.move(corner)
        self.open()
        self._query.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys and Enter in the line edit act on the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
            if event.key() in steps:
                row = self._list.currentRow() + steps[Qt.Key(event.key())]
                self._list.setCurrentRow(max(0, min(row, self._list.count() - 1)))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)

    def _search(self, query: str) -> None:
        usable = [s for s in self._registry.specs if self._registry[s.id].isEnabled()]
        ranked = [(score(query, f"{spec.text} {spec.tip}"), spec) for spec in usable]
        ranked = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])
        self._list.clear()
        for _rank, spec in ranked[:_SHOWN]:
            keys = f"    {spec.keys[0]}" if spec.keys else ""
            item = QListWidgetItem(f"{spec.menu} · {spec.text}{keys}")
            item.setData(Qt.ItemDataRole.UserRole, spec.id)
            item.setToolTip(spec.tip)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _run(self) -> None:
        item = self._list.currentItem()
        if self._list.currentRow() < 0:
            return
        name = str(item.data(Qt.ItemDataRole.UserRole))
        self.accept()
        self._registry[name].trigger()
