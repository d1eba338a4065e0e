"""Asking once per folder whether its code may run, and taking that back."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget

from landscope.contract.options import ProjectSpec
from landscope.project.trust import code_folders
from landscope_app.theme.plain import plain_label


class _Question(QDialog):
    """A heading, the folders that it is about, what yes means, and the two answers; no is the default."""

    def __init__(
        self, title: str, texts: tuple[str, str, str], answers: tuple[str, str], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        heading, folders, body = (plain_label(text) for text in texts)
        heading.setProperty("heading", True)
        folders.setProperty("muted", True)
        buttons = QDialogButtonBox()
        self.yes: QPushButton = buttons.addButton(answers[0], QDialogButtonBox.ButtonRole.AcceptRole)
        no = buttons.addButton(answers[1], QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 22, 16)
        layout.setSpacing(10)
        for part in (heading, folders, body):
            part.setWordWrap(True)
            layout.addWidget(part)
        layout.addSpacing(6)
        layout.addWidget(buttons)
        no.setDefault(True)  # only once it is in the dialog: before, Qt makes the first answer the default
        self.setMinimumWidth(480)


class TrustDialog(_Question):
    """Says what trust means and lets the person choose. Open it with ``open()``."""

    def __init__(self, project: ProjectSpec, trusted: Callable[[], object], parent: QWidget) -> None:
        script = Path(project.script).name if project.script else "the checkpoints"
        body = (
            f"Losses, saturation and surfaces need {script}, and a script can do anything on this computer. "
            "Only trust folders whose author you know.\n\n"
            "Without trust Landscope reads the tensors only, which is safe, and shows distances. "
            "You are asked once; Analysis ▸ Revoke trust takes it back."
        )
        folders = "\n".join([*code_folders(project), *_how_it_runs(project)])
        super().__init__(
            "Trust this folder?",
            (f"Do you trust “{Path(project.root).name}”?", folders, body),
            ("Trust and run", "Distances only"),
            parent,
        )
        self.yes.setProperty("primary", True)
        self.accepted.connect(trusted)


def _how_it_runs(project: ProjectSpec) -> list[str]:
    """What a project names beside its folders and what decides, too, which code runs."""
    python, arguments = project.engine.python, shlex.join(project.arguments)
    return [f"Interpreter: {python}"] * bool(python) + [f"Arguments: {arguments}"] * bool(arguments)


class RevokeDialog(_Question):
    """Says what taking the trust back means. Open it with ``open()``."""

    def __init__(self, project: ProjectSpec, revoked: Callable[[], object], parent: QWidget) -> None:
        body = (
            "You said that you trust this folder. Taken back, what runs of its code is ended at once, and it "
            "does not run any more. What was measured stays; files and distances need no trust."
        )
        super().__init__(
            "Take the trust back?",
            (f"The script of “{Path(project.root).name}” may run", "\n".join(code_folders(project)), body),
            ("Take the trust back", "Leave it trusted"),
            parent,
        )
        self.accepted.connect(revoked)
