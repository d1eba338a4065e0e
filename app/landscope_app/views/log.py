"""The log: what happened, with the time, newest last."""

from __future__ import annotations

import time
from html import escape

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit, QVBoxLayout, QWidget

from landscope.session.model import LogLine
from landscope_app.state.document import Document
from landscope_app.theme.colors import Theme
from landscope_app.theme.fonts import family

_LINES = 2000


class LogView(QWidget):
    """Follows the document's log; what the script prints is set in grey."""

    def __init__(self, document: Document, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._theme = theme
        self._text = QTextEdit(readOnly=True)
        self._text.setAccessibleName("Log")
        self._text.document().setMaximumBlockCount(_LINES)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._text)
        self._leave = (document.listen_log(self._add), document.listen(self._changed))
        self.apply_theme(theme)

    def apply_theme(self, theme: Theme) -> None:
        """Write everything anew in other colours."""
        self._theme = theme
        self._text.clear()
        for line in self._document.session.log[-_LINES:]:
            self._add(line)

    def text(self) -> str:
        """All lines as plain text."""
        return self._text.toPlainText()

    def _changed(self, delta: object) -> None:
        if delta is None:
            self.apply_theme(self._theme)

    def _add(self, line: LogLine) -> None:
        bar = self._text.verticalScrollBar()
        follow = bar.value() >= bar.maximum() - 4
        cursor = QTextCursor(self._text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self._text.document().isEmpty():
            cursor.insertBlock()
        cursor.insertHtml(line_html(line, self._theme))
        if follow:
            bar.setValue(bar.maximum())


def line_html(line: LogLine, theme: Theme) -> str:
    """One line of the log; the level is a word, never only a colour."""
    colours = {"warning": theme.warning, "error": theme.error, "stdout": theme.muted, "stderr": theme.muted}
    words = {"warning": "Warning: ", "error": "Error: ", "stdout": "script │ ", "stderr": "script │ "}
    clock = time.strftime("%H:%M:%S", time.localtime(line.time))
    font = f"font-family:'{family(theme.mono)}'; font-size:12px"
    said = escape(words.get(line.level, "") + line.sentence)
    return (
        f'<span style="{font}; color:{theme.muted}">{clock}&nbsp;&nbsp;</span>'
        f'<span style="{font}; color:{colours.get(line.level, theme.text)}">{said}</span>'
    )
