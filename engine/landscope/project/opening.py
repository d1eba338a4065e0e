"""Opening a project's subject: its script imported, its data drawn, its model built."""

from __future__ import annotations

from collections.abc import Generator
from typing import cast

from landscope.contract.errors import OptionError, TrustError
from landscope.contract.events import SCRIPT_RUNS, Progress
from landscope.contract.job import CancelToken
from landscope.contract.options import ProjectSpec
from landscope.project.data import freeze
from landscope.project.device import choose_device
from landscope.project.prepare import is_half
from landscope.project.script import load_script
from landscope.project.spec import run_folder
from landscope.project.subject import Subject
from landscope.project.trust import may_run


def open_subject(project: ProjectSpec, run: str = "", *, like: Subject | None = None) -> Subject:
    """As ``opening``, without a word about how far it is."""
    steps = opening(project, run, like=like)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(Subject, end.value)


def opening(
    project: ProjectSpec, run: str = "", *, like: Subject | None = None, token: CancelToken | None = None
) -> Generator[Progress, None, Subject]:
    """Build the model, freeze the data and fit the checkpoints of a run.

    Yields how much of the data is drawn.

    Args:
        project: with a script, trusted. run: its name; empty = the model alone, without checkpoints.
        like: a subject of the same project, whose script and data are used again.
        token: checked before every batch that is drawn.

    Raises:
        OptionError: no such device or run. TrustError: the script may not run.
        ScriptError, DataError: it cannot be used. CheckpointError: the folder cannot be read.
        JobCancelled: somebody cancelled.
    """
    if not project.script:
        raise OptionError("The project has no model script: only distances can be measured.")
    if not (project.trusted or may_run(project)):
        raise TrustError(
            f"The script of {project.root} was not run: the folder is not trusted, and a script is code."
        )
    device = choose_device(project.engine.device)
    if run:
        run_folder(project, run)  # a wrong name is told before the script runs
    if like:
        return Subject(project, run, like.script, like.data, device)
    script = load_script(
        project.script, seed=project.data.seed, arguments=project.arguments, project=project.root
    )
    half = is_half(script.build_model(run))
    data = yield from freeze(script, project.data, device, as_float32=half, token=token)
    yield Progress(done=0, total=0, what=SCRIPT_RUNS)
    subject = Subject(project, run, script, data, device)
    subject.notices[:0] = [*script.notices, *data.notices]
    return subject
