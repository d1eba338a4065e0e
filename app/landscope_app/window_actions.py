"""What the actions of the main window do: dialogs, opened and never executed, and calls of its parts."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFileDialog, QMessageBox

import landscope
from landscope.contract.job import GradientJob
from landscope.contract.options import ProjectSpec
from landscope_app.hosts.job_table import JobRow
from landscope_app.views import closing
from landscope_app.work.analyses import SCRIPT_ERRORS
from landscope_app.work.opening import SAMPLE

if TYPE_CHECKING:
    from landscope_app.views.checkpoints import CheckpointList
    from landscope_app.views.pictured import Pictured
    from landscope_app.window import MainWindow
    from landscope_app.workspace import Workspace

SMALLEST_COPY = QSize(1280, 860)
SESSIONS = "Landscope sessions (*.h5 *.hdf5)"


class WindowActions:
    """Handlers by action id."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def handlers(self) -> dict[str, Callable[..., object]]:
        """What each action does."""
        window = self._window
        return {
            "file.open_project": self.open_project,
            "file.open_script": self.open_script,
            "file.open_session": self.open_session,
            "file.sample": lambda: window.open_path(SAMPLE),
            "file.start": window.show_start,
            "file.save": self.save,
            "file.save_as": self.save_as,
            "file.export_picture": self.export_picture,
            "file.export_data": self.export_data,
            "file.quit": window.close,
            "help.palette": self.show_palette,
            "help.shortcuts": self.show_shortcuts,
            "help.about": self.about,
            **self._analysis_handlers(),
            **self._view_handlers(),
        }

    def _analysis_handlers(self) -> dict[str, Callable[..., object]]:
        window = self._window
        return {
            "analysis.run": lambda: self._space.choices.run_wanted.emit(self._space.choices.choices()),
            "analysis.measure": self.measure,
            "analysis.gradients": lambda: self._with_project(self.measure_gradients),
            "analysis.refine": lambda: window.analyses.refine(self._space.landscape.plane_id),
            "analysis.again": window.opener.analyse_again,
            "analysis.pause": self.pause_or_resume,
            "analysis.cancel": lambda: self._for_active(window.context.engines.cancel),
            "analysis.cancel_all": window.context.engines.cancel_all,
            "analysis.stop": lambda: self._for_active(window.context.engines.stop_now),
            "analysis.setup": lambda: self._with_project(self.offer_setup),
            "analysis.trust": lambda: self._with_project(self.ask_trust),
            "analysis.revoke": window.opener.revoke,
        }

    def connect_checkpoints(self, view: CheckpointList) -> None:
        """What the panel of checkpoints asks for."""
        view.header.trust_pressed.connect(lambda: self._with_project(self.ask_about_trust))
        view.header.weights_wanted.connect(self._window.opener.use_weights)

    def measure(self) -> None:
        """Choose how saturation is measured, in its panel."""
        docks, measuring = self._window.docks, self._window.measuring
        if docks is not None and measuring is not None:
            docks.all["saturation"].show()
            docks.all["saturation"].raise_()
            measuring.open_form()

    def measure_gradients(self, project: ProjectSpec) -> None:
        """Norms of the gradient at every checkpoint of the selected run."""
        run = self._window.context.selection.run
        self._window.analyses.run(GradientJob(project=project, run=run))

    def _view_handlers(self) -> dict[str, Callable[..., object]]:
        window = self._window

        def kind(name: str) -> Callable[[], object]:
            return lambda: self._show_kind(name)

        def preset(name: str) -> Callable[[], object]:
            return lambda: self._space.landscape.show_preset(name)

        def theme(name: str) -> Callable[[bool], object]:
            return lambda _checked: window.use_theme(name)

        return {
            **{f"view.{name}": kind(name) for name in ("surface", "contour", "line", "losses")},
            **{f"view.{name}": preset(name) for name in ("front", "side", "top", "diagonal")},
            **{f"view.theme_{name}": theme(name) for name in ("system", "dark", "light")},
            "view.reset_camera": preset("reset"),
            "view.orthographic": lambda: self._space.landscape.toggle_projection(),
            "view.options": lambda: self._space.choices.toggle_options(),
            "view.undo": window.history.undo,
            "view.redo": window.history.redo,
            "view.copy_picture": self.copy_picture,
            "view.reset_panels": lambda: window.docks.reset() if window.docks is not None else None,
            "checkpoints.play": lambda: self._space.slider.toggle(),
            "checkpoints.next": lambda: self._space.slider.step(1),
            "checkpoints.previous": lambda: self._space.slider.step(-1),
            "checkpoints.first": lambda: self._space.slider.go_first(),
            "checkpoints.last": lambda: self._space.slider.go_last(),
        }

    def _show_kind(self, name: str) -> None:
        self._space.show_kind(name)
        if self._window.in_use is not None:
            self._window.in_use.use_centre()

    # Files.

    def open_project(self) -> None:
        """Ask for a folder."""
        dialog = QFileDialog(self._window, "Open a project: its folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        self._ask(dialog, self._window.open_path)

    def open_script(self) -> None:
        """Ask for a model script."""
        dialog = QFileDialog(self._window, "Open a model script", "", "Python files (*.py)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        self._ask(dialog, self._window.open_path)

    def open_session(self) -> None:
        """Ask for a session file."""
        dialog = QFileDialog(self._window, "Open a session", "", SESSIONS)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        self._ask(dialog, self._window.open_path)

    def save(self) -> None:
        """Save where the session lies, or ask."""
        if self._window.context.document.path is None:
            self.save_as()
        else:
            self._window.files.save()

    def save_as(self) -> None:
        """Ask where to save."""
        dialog = QFileDialog(self._window, "Save the session", "", SESSIONS)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("h5")
        dialog.selectFile(f"{self._window.context.document.session.title}.h5")
        self._ask(dialog, lambda path: self._window.files.save(Path(path)))

    def export_data(self) -> None:
        """Ask for a folder and write all results as CSV and NPZ."""
        dialog = QFileDialog(self._window, "Export all results into a folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        self._ask(dialog, self._export_data)

    def export_picture(self) -> None:
        """Choose size and file of a picture of the panel that was used last."""
        from landscope_app.views.export_picture import PictureDialog

        PictureDialog(self._window.context, self._pictured, self._window).open()

    def copy_picture(self) -> None:
        """Put a picture of the panel that was used last on the clipboard, at least twice as large."""
        from PySide6.QtGui import QGuiApplication

        from landscope.contract.errors import LandscopeError

        view = self._pictured
        size = (view.size() * 2).expandedTo(SMALLEST_COPY)
        try:
            image = view.picture(size.width(), size.height())
        except LandscopeError as error:
            self._window.context.tell("warning", error.sentence, error.detail)
            return
        QGuiApplication.clipboard().setImage(image)
        self._window.statusBar().showMessage(f"Copied a picture of {view.picture_title}.", 4000)

    # Jobs.

    def pause_or_resume(self) -> None:
        """Pause what runs; resume if all that is active is paused."""
        engines = self._window.context.engines
        active = [row for row in engines.busy if row.active]
        if active and all(row.state == "paused" for row in active):
            self._for_active(engines.resume)
        else:
            self._for_active(engines.pause)

    def ask_trust(self, project: ProjectSpec) -> None:
        """Ask whether the folder's code may run."""
        from landscope_app.views.trust import TrustDialog

        TrustDialog(project, lambda: self._window.opener.trust(project), self._window).open()

    def ask_about_trust(self, project: ProjectSpec) -> None:
        """What the state of trust offers: to give it, to take it back, or to name a script first."""
        from landscope_app.views.trust import RevokeDialog

        if not project.script:
            self.offer_setup(project)
        elif project.trusted:
            RevokeDialog(project, self._window.opener.revoke, self._window).open()
        else:
            self.ask_trust(project)

    def offer_help(self, row: JobRow) -> None:
        """Beside the error of a script: the way to what helps."""
        text = SCRIPT_ERRORS[row.error]
        act = self.ask_about_trust if row.error == "TrustError" else self.offer_setup
        self._window.notice.offer(text, lambda: self._with_project(act))

    def offer_setup(self, project: ProjectSpec) -> None:
        """Show the three steps from a folder of checkpoints to a project."""
        from landscope_app.views.setup_panel import SetupPanel

        SetupPanel(project, self._window.context, self._window.opener, self._window).open()

    def ask_to_close(self, running: int) -> None:
        """Ask what to do with unsaved results and running work."""
        window = self._window

        def save() -> None:
            window.files.saved.connect(lambda _path: window.close_now())
            self.save()

        dirty = window.context.document.dirty
        closing.ask(dirty, running, save, lambda: window.close_now(discard=True), window)

    # Help.

    def show_palette(self) -> None:
        """The command palette."""
        from landscope_app.actions.palette import CommandPalette

        CommandPalette(self._window.registry, self._window).show_over(self._window)

    def show_shortcuts(self) -> None:
        """The sheet of shortcuts."""
        from landscope_app.actions.sheet import ShortcutSheet

        ShortcutSheet(self._window.registry, self._window.theme, self._window).open()

    def about(self) -> None:
        """Versions and what the program is."""
        from PySide6 import __version__ as qt

        box = QMessageBox(self._window)
        box.setWindowTitle("About Landscope")
        box.setText(f"Landscope {landscope.__version__}")
        box.setInformativeText(
            "Shows how a PyTorch network trained: saturation, distances and the loss landscape of its "
            f"checkpoints.\n\nPython {platform.python_version()} · PySide6 {qt} · MIT licence"
        )
        box.open()

    def name_picture(self) -> None:
        """Say in the actions what a picture would be of."""
        title = self._pictured.picture_title
        self._window.registry.rename("file.export_picture", f"Export picture of {title}…")
        self._window.registry.rename("view.copy_picture", f"Copy picture of {title}")

    @property
    def _pictured(self) -> Pictured:
        assert self._window.in_use is not None, "these actions are only enabled with a workspace"
        return self._window.in_use.view

    @property
    def _space(self) -> Workspace:
        assert self._window.workspace is not None, "these actions are only enabled with a workspace"
        return self._window.workspace

    def _ask(self, dialog: QFileDialog, chosen: Callable[[str], object]) -> None:
        dialog.fileSelected.connect(chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _with_project(self, act: Callable[[ProjectSpec], object]) -> None:
        project = self._window.context.document.session.project
        if project is not None:
            act(project)

    def _for_active(self, act: Callable[[str], object]) -> None:
        rows: list[JobRow] = [row for row in self._window.context.engines.busy if row.active]
        for row in rows:
            act(row.id)

    def _export_data(self, folder: str) -> None:
        context = self._window.context
        session = context.document.snapshot()

        def work() -> int:
            from landscope.export.data import export_csv, export_npz

            return len(export_csv(session, Path(folder))) + len(export_npz(session, Path(folder)))

        context.background.run(
            work, lambda files: context.tell("info", f"Wrote {files} files of data into {folder}.")
        )
