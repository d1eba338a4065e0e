"""The buttons of the saturation panel that stay down while something else is shown in it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from landscope_app.plots.saturation_map import SIGNS


def measure_button() -> QToolButton:
    """Opens the form that says how saturation is measured next."""
    button = QToolButton()
    button.setText("Measure…")
    button.setProperty("link", True)
    button.setCheckable(True)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setAccessibleName("Choose how saturation is measured")
    button.setToolTip("Choose how saturation is measured, and measure it anew")
    return button


def map_button() -> QToolButton:
    """Changes between bars and map."""
    button = QToolButton()
    button.setText("Map")
    button.setCheckable(True)
    button.setAccessibleName("Map over all checkpoints")
    button.setToolTip(f"Layers down, checkpoints across\n{SIGNS}")
    return button
