"""Asking once before a window with unsaved results or running work closes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget


def ask(
    dirty: bool, running: int, save: Callable[[], None], leave: Callable[[], None], parent: QWidget
) -> QMessageBox:
    """A dialog "Save / Leave without saving / Stay"; it is opened, not executed."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Close Landscope?")
    jobs = f"{running} job{'s' if running > 1 else ''} still run or wait. " if running else ""
    box.setText(jobs + ("Some results are not saved yet." if dirty else "They will be stopped."))
    keep = box.addButton("Save…", QMessageBox.ButtonRole.AcceptRole) if dirty else None
    go = box.addButton(
        "Close without saving" if dirty else "Stop and close", QMessageBox.ButtonRole.DestructiveRole
    )
    stay = box.addButton("Stay", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keep or stay)
    box.setEscapeButton(stay)

    def answered() -> None:
        if keep is not None and box.clickedButton() is keep:
            save()
        elif box.clickedButton() is go:
            leave()

    box.buttonClicked.connect(lambda _button: answered())
    box.open()
    return box
