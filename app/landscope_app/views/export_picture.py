"""Choosing size and file of a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QSpinBox,
    QWidget,
)

from landscope.contract.errors import LandscopeError

if TYPE_CHECKING:
    from landscope_app.views.pictured import Pictured
    from landscope_app.work.context import Context

PRESETS = (
    ("Slide, 1920 × 1080", 1920, 1080),
    ("4K, 3840 × 2160", 3840, 2160),
    ("Paper column, 1400 × 1050", 1400, 1050),
    ("Square, 2000 × 2000", 2000, 2000),
)
PICTURE, VECTOR = "Picture (*.png)", ";;Vector (*.svg);;Vector (*.pdf)"


class PictureDialog(QDialog):
    """Width, height, transparency; then a file. Open it with ``open()``."""

    def __init__(self, context: Context, view: Pictured, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._view = view
        self.setWindowTitle(f"Export picture of {view.picture_title}")
        self._preset = QComboBox()
        self._preset.setAccessibleName("Preset")
        for text, width, height in PRESETS:
            self._preset.addItem(text, (width, height))
        self._width, self._height = _pixels("Width in pixels"), _pixels("Height in pixels")
        self._transparent = QCheckBox("Transparent background")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        choose = buttons.addButton("Choose file…", QDialogButtonBox.ButtonRole.AcceptRole)
        choose.setProperty("primary", True)
        size = QHBoxLayout()
        for part in (self._width, QLabel("×"), self._height):
            size.addWidget(part)
        form = QFormLayout(self)
        form.setContentsMargins(20, 18, 20, 14)
        form.addRow("Preset", self._preset)
        form.addRow("Size in pixels", size)
        form.addRow("", self._transparent)
        form.addRow(buttons)
        self._preset.currentIndexChanged.connect(self._take_preset)
        buttons.accepted.connect(self._choose_file)
        buttons.rejected.connect(self.reject)
        self._take_preset()

    def export(self, path: str) -> None:
        """Draw and write the picture."""
        size = (self._width.value(), self._height.value())
        try:
            self._view.export_image(path, *size, self._transparent.isChecked())
        except LandscopeError as error:
            self._context.tell("error", error.sentence, error.detail)
        else:
            self._context.settings.export_folder = str(Path(path).parent)
            self._context.tell("info", f"Wrote {path}.")
        self.accept()

    def _take_preset(self) -> None:
        width, height = self._preset.currentData()
        self._width.setValue(width)
        self._height.setValue(height)

    def _choose_file(self) -> None:
        kinds = f"{PICTURE}{VECTOR if self._view.vector else ''}"
        dialog = QFileDialog(self, self.windowTitle(), self._context.settings.export_folder, kinds)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("png")
        dialog.selectFile(f"{self._context.document.session.title}.png")
        dialog.filterSelected.connect(
            lambda name: dialog.setDefaultSuffix(name.rsplit(".", 1)[-1].rstrip(")"))
        )
        dialog.fileSelected.connect(self.export)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


def _pixels(name: str) -> QSpinBox:
    box = QSpinBox()
    box.setRange(64, 16384)
    box.setAccessibleName(name)
    return box
