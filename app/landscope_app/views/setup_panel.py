"""From a folder of checkpoints to a project in three steps: script, model and data, test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from landscope.contract.errors import LandscopeError
from landscope.contract.job import ProbeJob
from landscope.contract.options import ProjectSpec
from landscope_app.hosts.job_table import JobRow
from landscope_app.state.opening import for_window
from landscope_app.work.context import Context
from landscope_app.work.opening import Opener

_NONE = ("none: the default", "")


class SetupPanel(QDialog):
    """Nothing of the script runs before "Test", which asks for trust by its text. Open it with ``open()``."""

    def __init__(self, project: ProjectSpec, context: Context, opener: Opener, parent: QWidget) -> None:
        super().__init__(parent)
        self._project = project
        self._context = context
        self._opener = opener
        self._adapter = ""
        self._job = ""
        self.setWindowTitle("Set up the model script")
        self.setMinimumWidth(560)
        self._script = QLineEdit(project.script, readOnly=True)
        self._script.setAccessibleName("Model script")
        self._choices = {name: _combo(name) for name in ("Model", "Data", "Loss")}
        self._said = QLabel()
        self._said.setWordWrap(True)
        self._said.setAccessibleName("Result of the test")
        self._test = QPushButton("Trust and test")
        self._test.setToolTip("Runs the script: one batch through a fresh model")
        self._use = QPushButton("Use it")
        self._use.setProperty("primary", True)
        self._lay_out()
        self._connect()
        self._allow()
        if project.script:
            self.look(project.script)

    def look(self, script: str) -> None:
        """Step one: a script was chosen; look, without running it, for what could be model and data."""
        self._script.setText(script)
        self._use.setEnabled(False)

        def work() -> Any:
            from landscope.project.candidates import find_candidates

            return find_candidates(Path(script))

        self._context.background.run(work, self._show_candidates, self._fail)

    def test(self) -> None:
        """Step three: write ``landscope_project.py``, trust the folder, run one batch."""
        picked = {name: box.currentData() for name, box in self._choices.items()}
        root, script = Path(self._project.root), Path(self._script.text())
        self._say("Running one batch…")
        self._test.setEnabled(False)

        def work() -> str:
            from landscope.project.candidates import write_adapter
            from landscope.project.trust import trust

            made = write_adapter(root, script, picked["Model"], picked["Data"], picked["Loss"] or None)
            trust(root)
            return str(made)

        self._context.background.run(work, self._probe, self._fail)

    def _lay_out(self) -> None:
        heading = QLabel(
            "Distances need only the files. Losses, saturation and surfaces need the model script."
        )
        heading.setWordWrap(True)
        heading.setProperty("muted", True)
        choose = QPushButton("Choose…")
        choose.setAccessibleName("Choose the model script")
        choose.clicked.connect(lambda _checked=False: self._choose())
        script = QHBoxLayout()
        script.addWidget(self._script, 1)
        script.addWidget(choose)
        form = QFormLayout()
        form.addRow("1  Script", script)
        form.addRow("2  Model", self._choices["Model"])
        form.addRow("    Data", self._choices["Data"])
        form.addRow("    Loss", self._choices["Loss"])
        form.addRow("3  Test", self._test)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self._use, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 22, 16)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addLayout(form)
        layout.addWidget(self._said)
        layout.addWidget(buttons)

    def _connect(self) -> None:
        self._test.clicked.connect(lambda _checked=False: self.test())
        self._use.clicked.connect(lambda _checked=False: self._finish())
        self._context.engines.ended.connect(self._ended)
        for box in self._choices.values():
            box.currentIndexChanged.connect(lambda _row: self._allow())

    def _choose(self) -> None:
        dialog = QFileDialog(self, "Choose the model script", self._project.root, "Python files (*.py)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.look)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show_candidates(self, found: Any) -> None:
        _fill(self._choices["Model"], found.models)
        _fill(self._choices["Data"], found.data)
        _fill(self._choices["Loss"], found.losses, optional=True)
        missing = [name for name in ("Model", "Data") if not self._choices[name].count()]
        if missing:
            self._say(
                f"No function or class in this script looks like a {' or '.join(missing).lower()}.", "warning"
            )
        else:
            self._say("Pick what builds the model and the data, then test.")
        self._allow()

    def _probe(self, adapter: str) -> None:
        self._adapter = adapter
        tested = replace(self._project, script=adapter, trusted=True)
        self._job = self._context.engines.submit("test", ProbeJob(project=for_window(tested)), front=True)

    def _ended(self, row: JobRow) -> None:
        if not self._job or row.id != self._job:
            return
        self._job = ""
        self._allow()
        if row.state == "done":
            self._say(probe_text(row.answer))
            self._use.setEnabled(True)
        else:
            self._say(row.sentence, "error")

    def _finish(self) -> None:
        self._opener.show(replace(self._project, script=self._adapter, trusted=True), self._project.root)
        self.accept()

    def _allow(self) -> None:
        self._test.setEnabled(
            bool(self._choices["Model"].currentData() and self._choices["Data"].currentData())
        )

    def _fail(self, error: LandscopeError) -> None:
        self._say(error.sentence, "error")
        self._allow()

    def _say(self, sentence: str, level: str = "") -> None:
        self._said.setText(sentence)
        self._said.setProperty("level", level)
        self._said.style().unpolish(self._said)
        self._said.style().polish(self._said)


def probe_text(answer: dict[str, Any]) -> str:
    """What the test found: one line per split, with loss, metrics and the shapes of a batch."""
    lines = [f"It works: {answer.get('parameters', 0):,} parameters on {answer.get('device', 'cpu')}."]
    for split, found in answer.get("splits", {}).items():
        values = {"loss": found["loss"], **found["metrics"]}
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        lines.append(f"{split}: {found['samples']:,} samples, {numbers}, a batch is {found['shapes']}.")
    return "\n".join(lines)


def _combo(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    return box


def _fill(box: QComboBox, found: Any, optional: bool = False) -> None:
    box.clear()
    if optional:
        box.addItem(*_NONE)
    for one in found:
        box.addItem(f"{one.name}{one.signature}   ({one.kind}, line {one.line})", one.name)
