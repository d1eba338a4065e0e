"""From a folder of checkpoints to a project in three steps: script, model and data, test."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt
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

from landscope.contract.errors import LandscopeError, OptionError
from landscope.contract.events import Event, Notice
from landscope.contract.job import CandidatesJob, ProbeJob
from landscope.contract.options import ProjectSpec
from landscope_app.hosts.job_table import JobRow
from landscope_app.state.opening import for_window
from landscope_app.theme.plain import plain_tip
from landscope_app.views.setup_result import SetupResult, probe_text
from landscope_app.work.context import Context
from landscope_app.work.opening import Opener

_NONE = ("none: the default", "")
_MOST_WIDE = 62


class SetupPanel(QDialog):
    """Nothing of the script runs before "Test", which asks for trust by its text. Open it with ``open()``."""

    def __init__(self, project: ProjectSpec, context: Context, opener: Opener, parent: QWidget) -> None:
        super().__init__(parent)
        self._project = project
        self._context = context
        self._opener = opener
        self._tested: ProjectSpec | None = None
        self._job = self._looking = ""
        self._notices: list[str] = []
        self.setWindowTitle("Set up the model script")
        self.setMinimumWidth(640)
        self._script = QLineEdit(project.script, readOnly=True)
        self._script.setAccessibleName("Model script")
        self._choices = {name: _combo(name) for name in ("Model", "Data", "Loss")}
        self.arguments = QLineEdit(shlex.join(project.arguments))
        self.arguments.setPlaceholderText("as on the command line: --depth 20 --width 2")
        self.arguments.setAccessibleName("Arguments of the script")
        self.found = SetupResult()
        self._test = QPushButton("Trust and test")
        self._test.setToolTip("Runs the script: one batch through a fresh model")
        self._use = QPushButton("Use it")
        self._use.setProperty("primary", True)
        self._lay_out()
        self._connect()
        self._allow()
        self.look(project.script)

    def look(self, script: str) -> None:
        """Step one: look, without running it, for what in a script and beside it could be model and data.

        ``script`` empty: the likeliest of the folder.
        """
        self._script.setText(script)
        self._use.setEnabled(False)
        self._test.setEnabled(False)
        self.found.say("Looking…")
        looked_at = for_window(replace(self._project, script=script))
        self._looking = self._context.engines.submit("look", CandidatesJob(project=looked_at), front=True)

    def test(self) -> None:
        """Step three: write ``landscope_project.py`` if one is needed, trust the folder, run one batch."""
        try:
            arguments = tuple(shlex.split(self.arguments.text()))
        except ValueError as error:
            self._fail(OptionError(f"The arguments cannot be split into words: {error}."))
            return
        picked = {name: box.currentData() or "" for name, box in self._choices.items()}
        self.found.say("Running one batch…")
        self._test.setEnabled(False)
        project = replace(self._project, arguments=arguments, trusted=True)
        script = self._script.text()
        self._context.background.run(
            lambda: _made_ready(project, Path(script), picked), self._probe, self._fail
        )

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
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("1  Script", script)
        form.addRow("2  Model", self._choices["Model"])
        form.addRow("    Data", self._choices["Data"])
        form.addRow("    Loss", self._choices["Loss"])
        form.addRow("    Arguments", self.arguments)
        test = QHBoxLayout()
        test.addWidget(self._test)
        test.addStretch(1)
        form.addRow("3  Test", test)
        buttons = QDialogButtonBox()
        buttons.addButton("Close", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.addButton(self._use, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(22, 20, 22, 16)
        layout.setSpacing(12)
        layout.addWidget(heading)
        layout.addLayout(form)
        layout.addWidget(self.found)
        layout.addWidget(buttons)

    def _connect(self) -> None:
        self._test.clicked.connect(lambda _checked=False: self.test())
        self._use.clicked.connect(lambda _checked=False: self._finish())
        self._context.engines.events.connect(self._hear)
        self._context.engines.ended.connect(self._ended)
        for box in self._choices.values():
            box.currentIndexChanged.connect(lambda _row: self._allow())

    def _choose(self) -> None:
        dialog = QFileDialog(self, "Choose the model script", self._project.root, "Python files (*.py)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.look)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show_candidates(self, found: dict[str, Any]) -> None:
        script = found["script"]
        self._script.setText(script)
        for (name, box), kind in zip(self._choices.items(), ("models", "data", "losses"), strict=True):
            items = [(label(one), one["name"]) for one in found[kind]]
            _fill(box, ([_NONE] if name == "Loss" else []) + items)
        self._prefer_own_loss()
        missing = [name for name in ("Model", "Data") if not self._choices[name].count()]
        if not script:
            self.found.say("No script was found in this folder: choose one.", "warning")
        elif missing:
            self.found.say(_missing(missing, self._project.root), "warning")
        else:
            self.found.say("The likeliest are chosen; look at them, then test.")
        self._allow()

    def _prefer_own_loss(self) -> None:
        """A ``loss`` of the script's own is meant for us; any other is for the person to choose."""
        own = self._choices["Loss"].findData("loss")
        self._choices["Loss"].setCurrentIndex(max(own, 0))

    def _probe(self, tested: ProjectSpec) -> None:
        self._tested, self._notices = tested, []
        self._job = self._context.engines.submit("test", ProbeJob(project=for_window(tested)), front=True)

    def _hear(self, batch: list[Event]) -> None:
        said = (event.body for event in batch if self._job and event.job == self._job)
        self._notices += [body.sentence for body in said if isinstance(body, Notice)]

    def _ended(self, row: JobRow) -> None:
        if row.id == self._looking and row.id:
            self._looking = ""
            self._show_candidates(row.answer) if row.state == "done" else self._told(row)
        if not self._job or row.id != self._job:
            return
        self._job = ""
        self._allow()
        if row.state == "done":
            self.found.say("\n".join([probe_text(row.answer), *self._notices]))
            self._use.setEnabled(True)
        else:
            self._told(row)

    def _told(self, row: JobRow) -> None:
        self.found.say(row.sentence, "error", row.detail)
        if row.error == "ScriptArgumentsError":
            self.arguments.setFocus(Qt.FocusReason.OtherFocusReason)

    def _finish(self) -> None:
        if self._tested is not None:
            self._opener.use_script(self._tested)
        self.accept()

    def _allow(self) -> None:
        self._test.setEnabled(all(self._choices[name].currentData() for name in ("Model", "Data")))

    def _fail(self, error: LandscopeError) -> None:
        self.found.say(error.sentence, "error", error.detail)
        self._allow()


def _made_ready(project: ProjectSpec, script: Path, picked: dict[str, str]) -> ProjectSpec:
    """The project with a script that can be run: the chosen one itself where it is made for Landscope."""
    from landscope.project.adapting.candidates import write_adapter
    from landscope.project.trust import code_folders, trust

    root = Path(project.root)
    if (
        picked["Model"] != "build_model"
        or picked["Data"] != "build_data"
        or picked["Loss"] not in ("", "loss")
    ):
        script = write_adapter(root, script, picked["Model"], picked["Data"], picked["Loss"] or None)
    ready = replace(project, script=str(script))
    trust(*code_folders(ready))
    return ready


def _missing(kinds: list[str], root: str) -> str:
    """What is not found, and the two ways on."""
    what = " or ".join({"Model": "a model", "Data": "data"}[kind] for kind in kinds)
    return (
        f"No function or class here looks like {what}. Choose another script; where all is done in main(), "
        f"landscope new-script {shlex.quote(root)} writes a landscope_project.py with places to fill in."
    )


def label(candidate: dict[str, Any]) -> str:
    """A line of a list of candidates: name and parameters, kind, and where it is."""
    what = candidate["signature"]
    what = what if len(what) <= _MOST_WIDE else f"{what[:_MOST_WIDE]}…"
    where = " ".join(filter(None, (candidate["file"], f"line {candidate['line']}")))
    return f"{what}   ({candidate['kind']}, {where})"


def _combo(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(40)
    return box


def _fill(box: QComboBox, items: list[tuple[str, str]]) -> None:
    box.clear()
    for text, value in items:
        box.addItem(text, value)
        box.setItemData(box.count() - 1, plain_tip(text), Qt.ItemDataRole.ToolTipRole)
