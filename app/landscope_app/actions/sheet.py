"""The sheet of all shortcuts (F1)."""

from __future__ import annotations

from html import escape

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QScrollArea, QVBoxLayout, QWidget

from landscope_app.actions.registry import MENUS, ActionRegistry
from landscope_app.theme.colors import Theme

VIEWER_KEYS = (
    ("Turn the surface", "drag"),
    ("Move the surface", "Shift + drag, right drag"),
    ("Zoom", "wheel"),
    ("Centre on a point", "double-click"),
)


def sheet_html(registry: ActionRegistry, theme: Theme) -> str:
    """All shortcuts as a table, grouped by menu."""
    rows = []
    for menu in MENUS:
        specs = [s for s in registry.specs if s.menu == menu and s.keys]
        if specs:
            rows.append(_heading(menu, theme))
            rows += [_row(s.text, " or ".join(s.keys), theme) for s in specs]
    rows.append(_heading("In the surface", theme))
    rows += [_row(text, keys, theme) for text, keys in VIEWER_KEYS]
    return f"<table cellspacing=0 cellpadding=3>{''.join(rows)}</table>"


def _heading(text: str, theme: Theme) -> str:
    return f"<tr><td colspan=2><br><b style='color:{theme.accent}'>{escape(text)}</b></td></tr>"


def _row(text: str, keys: str, theme: Theme) -> str:
    code = f"<span style='color:{theme.muted}'>{escape(keys)}</span>"
    return f"<tr><td>{escape(text)}&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;</td><td>{code}</td></tr>"


class ShortcutSheet(QDialog):
    """Shows the sheet; Escape closes it."""

    def __init__(self, registry: ActionRegistry, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        label = QLabel(sheet_html(registry, theme))
        label.setAccessibleName("Keyboard shortcuts")
        area = QScrollArea()
        area.setWidget(label)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(buttons)
        self.resize(480, 640)
