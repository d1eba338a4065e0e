"""What the test of a script found: losses, shapes, what should be known, or why it failed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

_DETAILS_HEIGHT = 150


class SetupResult(QWidget):
    """A sentence or a few lines, and details on request."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.said = QLabel()
        self.said.setWordWrap(True)
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.said.setAccessibleName("Result of the test")
        self.more = QPushButton("Details")
        self.more.setCheckable(True)
        self.more.setProperty("link", True)
        self._detail = QPlainTextEdit(readOnly=True)
        self._detail.setProperty("mono", True)
        self._detail.setFixedHeight(_DETAILS_HEIGHT)
        self._detail.setAccessibleName("Details")
        self.more.toggled.connect(self._detail.setVisible)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.said)
        layout.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._detail)
        self.say("")

    def say(self, text: str, level: str = "", detail: str = "") -> None:
        """Show lines; ``level``: warning or error. ``detail``: shown on request."""
        self.said.setText(text)
        self.said.setProperty("level", level)
        self.said.style().unpolish(self.said)
        self.said.style().polish(self.said)
        self._detail.setPlainText(detail)
        self.more.setChecked(False)
        self.more.setVisible(bool(detail.strip()))
        self._detail.hide()


def probe_text(answer: dict[str, Any]) -> str:
    """What the test found: one line per split, with loss, metrics and the shapes of a batch."""
    lines = [f"It works: {answer.get('parameters', 0):,} parameters on {answer.get('device', 'cpu')}."]
    for split, found in answer.get("splits", {}).items():
        values = {"loss": found["loss"], **found["metrics"]}
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        lines.append(f"{split}: {found['samples']:,} samples, {numbers}, a batch is {found['shapes']}.")
    return "\n".join(lines)
