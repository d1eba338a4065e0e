"""The quiet panel: one sentence, what helps, "Details", "Copy", "Close". Nothing pops up."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget


class NoticePanel(QFrame):
    """Shows the newest sentence that a person should read; hidden while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Notice")
        self._level = ""
        self._help: Callable[[], object] | None = None
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._sentence.setTextFormat(Qt.TextFormat.PlainText)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._detail = QPlainTextEdit(readOnly=True)
        self._detail.setProperty("mono", True)
        self._detail.setMaximumHeight(180)
        self._detail.setAccessibleName("Details")
        self._more = _link("Details", "Show or hide the details")
        self._more.setCheckable(True)
        self._offer = _link("", "What helps")
        copy = _link("Copy", "Copy the sentence and its details")
        close = _link("Close", "Close this notice")
        line = QHBoxLayout()
        line.addWidget(self._sentence, 1)
        for button in (self._offer, self._more, copy, close):
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 7, 8, 7)
        layout.addLayout(line)
        layout.addWidget(self._detail)
        self._more.toggled.connect(self._detail.setVisible)
        copy.clicked.connect(self._copy)
        close.clicked.connect(self.hide)
        self._offer.clicked.connect(lambda _checked=False: self._help() if self._help is not None else None)
        self._offer.hide()
        self._detail.hide()
        self.hide()

    @property
    def sentence(self) -> str:
        """What is being said."""
        return self._sentence.text()

    def tell(self, level: str, sentence: str, detail: str = "") -> None:
        """Say something; an error is not covered by a later remark while it is open."""
        if self.isVisible() and self._level == "error" and level != "error":
            return
        self._level = level
        self._offer.hide()
        self._sentence.setText(sentence)
        self._sentence.setAccessibleName(sentence)
        self._detail.setPlainText(detail)
        self._more.setVisible(bool(detail.strip()))
        self._more.setChecked(False)
        self.setProperty("card", level if level in ("error", "warning") else "info")
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()

    def offer(self, text: str, run: Callable[[], object]) -> None:
        """Offer what helps against what is being said, until something else is said."""
        self._help = run
        self._offer.setText(text)
        self._offer.setAccessibleName(text)
        self._offer.show()

    def _copy(self) -> None:
        text = "\n\n".join(t for t in (self._sentence.text(), self._detail.toPlainText()) if t.strip())
        QGuiApplication.clipboard().setText(text)


def _link(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("link", True)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button
