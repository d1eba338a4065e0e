"""The lines below bars or map: what marks and signs stand for, what is compared, how it was measured."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from landscope_app.theme.colors import Theme
from landscope_app.views.labels import Note


class SaturationFoot(QWidget):
    """Four lines; those without a text take no room.

    Attributes:
        key: marks. flags: signs. beside: what it is compared with. note: how it was measured, or the values
            of the layer that is looked at.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.key, self.flags = Note(theme, "Marks"), Note(theme, "What is wrong")
        self.beside = Note(theme, "What it is compared with")
        self.note = Note(theme, "How it was measured")
        self._how = ""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 0, 12, 2)
        layout.setSpacing(2)
        for line in self._lines()[:-1]:
            layout.addWidget(line)
        self._last = QHBoxLayout()
        self._last.addWidget(self.note, 1)
        layout.addLayout(self._last)

    def _lines(self) -> tuple[Note, ...]:
        return self.key, self.flags, self.beside, self.note

    def put_beside(self, *widgets: QWidget) -> None:
        """Put widgets at the end of the last line."""
        for widget in widgets:
            self._last.addWidget(widget)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        for line in self._lines():
            line.apply_theme(theme)

    def explain(self, key: str, flags: str, beside: str, how: str, *, short: bool) -> None:
        """Fill the lines; ``short``: there is no room for what marks and signs stand for."""
        self._how = how
        for line, text in zip(self._lines(), (key, flags, beside, how), strict=True):
            line.set_note(text)
        self.key.setVisible(bool(key) and not short)
        self.flags.setVisible(bool(flags) and not short)
        self.beside.setVisible(bool(beside))

    def tell(self, values: str) -> None:
        """The values of a layer in the last line; empty = how all were measured."""
        self.note.set_note(values or self._how)
