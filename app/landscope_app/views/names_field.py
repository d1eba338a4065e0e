"""A field for several names between commas, which offers the names that are known."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QStringListModel, Qt
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget


class _LastName(QCompleter):
    """Completes what stands behind the last comma and leaves what stands before it."""

    def splitPath(self, path: str) -> list[str]:
        """What is compared with the known names."""
        return [path.rpartition(",")[2].strip()]

    def pathFromIndex(self, index: QModelIndex | QPersistentModelIndex) -> str:
        """The whole text once a name is taken."""
        field = self.widget()
        before = field.text().rpartition(",")[0] if isinstance(field, QLineEdit) else ""
        name = super().pathFromIndex(index)
        return f"{before.strip()}, {name}" if before.strip() else name


class NamesField(QLineEdit):
    """Names between commas."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._known = QStringListModel(self)
        completer = _LastName(self._known, self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)

    def offer(self, names: tuple[str, ...]) -> None:
        """Offer these names while somebody types."""
        if list(names) != self._known.stringList():
            self._known.setStringList(list(names))
