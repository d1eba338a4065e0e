"""Asking once per folder whether its code may run, and taking that back."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from landscope.contract.options import ProjectSpec
from landscope.project.trust import code_folders
from landscope_app.theme.plain import plain_label


class TrustDialog(QDialog):
    """Says what trust means and lets the person choose. Open it with ``open()``."""

    def __init__(self, project: ProjectSpec, trusted: Callable[[], object], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Trust this folder?")
        script = Path(project.script).name if project.script else "the checkpoints"
        heading = QLabel(f"Do you trust “{Path(project.root).name}”?")
        heading.setProperty("heading", True)
        heading.setTextFormat(Qt.TextFormat.PlainText)
        body = plain_label(
            f"Losses, saturation and surfaces need {script}, and a script can do anything on this computer. "
            "Only trust folders whose author you know.\n\n"
            "Without trust Landscope reads the tensors only, which is safe, and shows distances. "
            "You are asked once; Analysis ▸ Revoke trust takes it back."
        )
        body.setWordWrap(True)
        folder = QLabel("\n".join([*code_folders(project), *_how_it_runs(project)]))
        folder.setProperty("muted", True)
        folder.setWordWrap(True)
        folder.setTextFormat(Qt.TextFormat.PlainText)
        buttons = QDialogButtonBox()
        yes = buttons.addButton("Trust and run", QDialogButtonBox.ButtonRole.AcceptRole)
        no = buttons.addButton("Distances only", QDialogButtonBox.ButtonRole.RejectRole)
        yes.setProperty("primary", True)
        no.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.accepted.connect(trusted)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 22, 16)
        layout.setSpacing(10)
        for part in (heading, folder, body):
            layout.addWidget(part)
        layout.addSpacing(6)
        layout.addWidget(buttons)
        self.setMinimumWidth(480)


def _how_it_runs(project: ProjectSpec) -> list[str]:
    """What a project names beside its folders and what decides, too, which code runs."""
    python, arguments = project.engine.python, shlex.join(project.arguments)
    return [f"Interpreter: {python}"] * bool(python) + [f"Arguments: {arguments}"] * bool(arguments)


class RevokeDialog(QDialog):
    """Says what taking the trust back means. Open it with ``open()``."""

    def __init__(self, project: ProjectSpec, revoked: Callable[[], object], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Take the trust back?")
        heading = QLabel(f"The script of “{Path(project.root).name}” may run")
        heading.setProperty("heading", True)
        body = QLabel(
            "You said that you trust this folder. Taken back, what runs of its code is ended at once, and it "
            "does not run any more. What was measured stays; files and distances need no trust."
        )
        folder = QLabel("\n".join(code_folders(project)))
        folder.setProperty("muted", True)
        buttons = QDialogButtonBox()
        buttons.addButton("Take the trust back", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton("Leave it trusted", QDialogButtonBox.ButtonRole.RejectRole).setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.accepted.connect(revoked)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 22, 16)
        layout.setSpacing(10)
        for part in (heading, folder, body):
            part.setWordWrap(True)
            part.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(part)
        layout.addSpacing(6)
        layout.addWidget(buttons)
        self.setMinimumWidth(480)
