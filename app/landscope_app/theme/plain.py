"""Texts of others (names in files, messages of scripts), shown as they are: never as rich text."""

from __future__ import annotations

import html

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel


def plain_label(text: str = "") -> QLabel:
    """A label that shows its text as it is."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def plain_tip(text: str) -> str:
    """For a tool tip, which takes for rich text what looks like it: such a tip could load files."""
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>") if Qt.mightBeRichText(text) else text
