"""Opening a project: what it is, whether it is trusted, and the first jobs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from landscope.contract.errors import LandscopeError, OptionError
from landscope.contract.job import PlaneJob
from landscope.contract.options import ProjectSpec
from landscope.session.model import Session
from landscope_app.state.endings import SESSION_ENDINGS
from landscope_app.state.opening import opening_jobs
from landscope_app.state.preview import BUDGET_S
from landscope_app.work.context import Context

SAMPLE = "sample"
_LEVELS = 3
"""How far above a folder of checkpoints its project may lie."""


class Opener(QObject):
    """Opens projects.

    Signals:
        opened(): another project is in the document.
        trust_wanted(ProjectSpec): its script may only run once the person says so.
        script_wanted(ProjectSpec): it has no model script, or one that lacks what is needed: distances only,
            until the three steps are done.
    """

    opened = Signal()
    trust_wanted = Signal(object)
    script_wanted = Signal(object)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context

    def open(self, path: str) -> None:
        """Open a folder, a script, a ``landscope.toml`` or the word ``sample``; returns at once."""
        self._context.background.run(lambda: load(path), lambda spec: self.show(spec, path))

    def show(self, project: ProjectSpec, path: str = "") -> None:
        """Put a project into the window and start its first jobs."""
        context = self._context
        context.engines.restart(python_of(project))
        project = with_device(project, context.settings.device)
        context.document.replace(Session(title=project_title(project), project=project))
        if path != SAMPLE:
            context.settings.remember(path or project.root, "project", time.time())
            context.save_settings()
        self.opened.emit()
        self._begin(project)

    def trust(self, project: ProjectSpec) -> None:
        """The person trusts the folder: remember it and run what waits for it."""
        self._context.background.run(lambda: _remember_trust(project), lambda _done: self._trusted(project))

    def revoke(self) -> None:
        """The person no longer trusts the folder: stop its code and forget the trust."""
        project = self._context.document.session.project
        if project is None:
            return
        self._context.engines.restart()
        self._context.document.set_project(replace(project, trusted=False))
        self._context.background.run(
            lambda: _forget_trust(project),
            lambda lost: self._context.tell("info", f"No longer trusted: {', '.join(lost) or project.root}."),
        )

    def use_script(self, project: ProjectSpec) -> None:
        """Open the project with the script and the arguments that the person has set up, also next time."""
        self.show(project, project.root)
        self._keep(project)

    def use_weights(self, name: str) -> None:
        """Measure another set of weights (empty: the plain ones); numbers of two sets never meet."""
        project = self._context.document.session.project
        if project is None or project.weights == name:
            return
        changed = replace(project, weights=name)
        self.show(changed, project.root)
        said = f"the weights “{name}”" if name else "the plain weights"
        self._context.tell("info", f"Measuring {said} now; what was measured with the others is not shown.")
        self._keep(changed)

    def _keep(self, project: ProjectSpec) -> None:
        """Remember the person's choices beside the script, for the next time and for the command line."""
        self._context.background.run(
            lambda: _keep_choices(project),
            lambda _done: None,
            lambda error: self._context.tell("warning", error.sentence, error.detail),
        )

    def change(self, change: Callable[[ProjectSpec], ProjectSpec]) -> None:
        """Change the project's options; later jobs use them."""
        project = self._context.document.session.project
        if project is not None:
            self._context.document.set_project(change(project))

    def analyse_again(self) -> None:
        """Run the first jobs again."""
        project = self._context.document.session.project
        if project is not None:
            self._submit(project)

    def _begin(self, project: ProjectSpec) -> None:
        self._submit(project)
        if not project.script:
            self.script_wanted.emit(project)
        elif not project.trusted:
            self._context.background.run(
                lambda: may_serve(project.script),
                lambda yes: (self.trust_wanted if yes else self.script_wanted).emit(project),
            )

    def _submit(self, project: ProjectSpec) -> None:
        for name, job in opening_jobs(project, run_names(project)):
            budget = BUDGET_S if isinstance(job, PlaneJob) else 0.0
            self._context.engines.submit(name, job, budget_s=budget)

    def _trusted(self, project: ProjectSpec) -> None:
        project = replace(project, trusted=True)
        if project.engine.python:
            self._context.engines.restart(project.engine.python)
        self._context.document.set_project(project)
        self._begin(project)


def load(path: str) -> ProjectSpec:
    """The project at ``path``, trusted if its folder is.

    Raises:
        LandscopeError: there is no project.
    """
    import landscope.session.recorder  # noqa: F401
    from landscope.project.spec import load_project

    # The recorder brings HDF5 along: loaded here, so that the GUI thread need not wait for it.

    file = Path(path).resolve()
    alone = file.is_file() and file.suffix not in (".py", ".toml")
    project = load_project(file.parent if alone else path)
    if alone and str(file.parent) not in project.runs:
        raise OptionError(f"{file.name} is no session, model script or landscope.toml, and no checkpoint.")
    above = _project_above(project) if not project.script else None
    if above is not None and (outer := load_project(above)).script:
        project = replace(outer, runs=project.runs)
    return replace(project, trusted=_may_run(project))


def _project_above(project: ProjectSpec) -> Path | None:
    """The folder of the project that a single run belongs to, where one above it says so."""
    folders = Path(project.root).parents[:_LEVELS]
    marks = ("landscope.toml", "landscope_project.py", "project.py", "model.py")
    return next((folder for folder in folders if any((folder / mark).is_file() for mark in marks)), None)


def may_serve(script: str) -> bool:
    """Whether a script's text shows all that is needed; nobody need trust one that cannot serve."""
    from landscope.project.adapting.candidates import may_serve

    return may_serve(script)


def _may_run(project: ProjectSpec) -> bool:
    from landscope.project.trust import may_run

    return may_run(project)


def still_trusted(project: ProjectSpec) -> bool:
    """Whether the code of a project that a session names may run.

    The person's list says which folders are trusted; the folder itself, never the session, says with which
    interpreter and arguments its script runs.
    """
    if not _may_run(project):
        return False
    if not (project.engine.python or project.arguments):
        return True
    from landscope.project.spec import load_project

    try:
        here = load_project(project.root)
    except LandscopeError:
        return False
    return (here.engine.python, here.arguments) == (project.engine.python, project.arguments)


def python_of(project: ProjectSpec) -> str:
    """The interpreter that the project names: a program of its choice runs only once it is trusted."""
    return project.engine.python if project.trusted else ""


def run_names(project: ProjectSpec) -> tuple[str, ...]:
    """The runs' names, in the order shown."""
    from landscope.project import spec

    return tuple(spec.run_names(project))


def project_title(project: ProjectSpec) -> str:
    """The folder's name."""
    return Path(project.root).name or project.root


def with_device(project: ProjectSpec, device: str) -> ProjectSpec:
    """The project on the device chosen in the window, unless it names one itself."""
    if project.engine.device != "auto" or device == "auto":
        return project
    return replace(project, engine=replace(project.engine, device=device))


def is_session(path: str) -> bool:
    """Whether a path looks like a session file."""
    return Path(path).suffix.lower() in SESSION_ENDINGS


def _keep_choices(project: ProjectSpec) -> None:
    from landscope.project.keep import keep_choices

    keep_choices(project)


def _remember_trust(project: ProjectSpec) -> None:
    from landscope.project.trust import code_folders, trust

    trust(*code_folders(project))


def _forget_trust(project: ProjectSpec) -> tuple[str, ...]:
    from landscope.project.trust import code_folders, revoke

    return revoke(*code_folders(project))
