"""What the test of a script found: losses, shapes, what should be known, or why it failed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

_HEIGHT, _MOST_SHAPES = 148, 110


class SetupResult(QScrollArea):
    """A sentence or a few lines, and details on request, in a place of one size: the dialog never jumps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFixedHeight(_HEIGHT)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.said = QLabel()
        self.said.setWordWrap(True)
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.said.setAccessibleName("Result of the test")
        self.more = QPushButton("Details")
        self.more.setCheckable(True)
        self.more.setProperty("link", True)
        self._detail = QLabel()
        self._detail.setWordWrap(True)
        self._detail.setTextFormat(Qt.TextFormat.PlainText)
        self._detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._detail.setProperty("muted", True)
        self._detail.setAccessibleName("Details")
        self.more.toggled.connect(self._detail.setVisible)
        inner = QWidget()
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(0, 0, 6, 0)
        layout.addWidget(self.said)
        layout.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._detail)
        layout.addStretch(1)
        self.setWidget(inner)
        self.say("")

    def say(self, text: str, level: str = "", detail: str = "") -> None:
        """Show lines; ``level``: warning or error. ``detail``: shown on request."""
        self.said.setText(text)
        self.said.setProperty("level", level)
        self.said.style().unpolish(self.said)
        self.said.style().polish(self.said)
        self._detail.setText(detail.strip())
        self.more.setChecked(False)
        self.more.setVisible(bool(detail.strip()))
        self._detail.hide()


def probe_text(answer: dict[str, Any]) -> str:
    """What the test found: one line per split, with loss, metrics and the shapes of a batch."""
    lines = [f"It works: {answer.get('parameters', 0):,} parameters on {answer.get('device', 'cpu')}."]
    for split, found in answer.get("splits", {}).items():
        values = {"loss": found["loss"], **found["metrics"]}
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        shapes = found["shapes"]
        shapes = f"{shapes}." if len(shapes) <= _MOST_SHAPES else f"{shapes[:_MOST_SHAPES]}…"
        lines.append(f"{split}: {found['samples']:,} samples, {numbers}, a batch is {shapes}")
    return "\n".join(lines)
