"""``landscope run``: the jobs of the window, one after the other, into a session file."""

from __future__ import annotations

import argparse
import contextlib
import shlex
from pathlib import Path
from typing import Any

from landscope.checkpoints.wording import counted, some
from landscope.cli.chosen import chosen_project
from landscope.cli.interrupt import interruptible
from landscope.cli.listed import Listings
from landscope.cli.output import check_output
from landscope.cli.progress import Face, face
from landscope.cli.warned import warnings_logged
from landscope.contract.deltas import RunListed
from landscope.contract.errors import OptionError, SessionError
from landscope.contract.events import Cancelled, Event, Failed, Level, Notice, Partial
from landscope.contract.job import AnyJob, CancelToken, ListJob
from landscope.contract.options import ProjectSpec
from landscope.contract.plan import ANALYSES, ON_REQUEST, needed_checkpoints, plan
from landscope.project.find import find_scripts
from landscope.project.spec import run_names
from landscope.runner.bench import Bench
from landscope.runner.catalogue import title
from landscope.runner.run import run_job
from landscope.session.model import Session
from landscope.session.recorder import Recorder

_UNTRUSTED = (
    "{script} was not run, because this folder is not trusted: only distances can be had. "
    "If you trust its code, add --trust."
)
_NO_SCRIPT = (
    "{root} holds no script with build_model() and build_data(): only distances can be had. "
    "Name the script itself (--script), or run landscope new-script {folder}."
)
_SEVERAL = (
    "{root} holds {scripts} that could be meant ({names}): only distances can be had. "
    "Choose one, such as --script {first}."
)
_KEPT = "Nothing is lost: landscope recover -o FILE saves what was measured."


def run(options: argparse.Namespace) -> int:
    """Do all the jobs; returns the exit code."""
    spec = chosen_project(options)
    only = _only(options.only)
    runs = _runs(spec, options.run)
    check_output(options.output)
    token = CancelToken()
    recorder = Recorder(Session(title=Path(spec.root).name, project=spec), options.output)
    failed = False
    try:
        with (
            contextlib.suppress(KeyboardInterrupt),
            interruptible(token),
            face(options.quiet, options.verbose) as shown,
            warnings_logged(recorder, shown=options.verbose),
        ):
            work = _Work(spec, recorder, shown, token, runs)
            failed = work.do(plan(spec, runs, only))
            failed |= work.say_what_is_missing(asked=bool(options.only or options.trust), only=only)
    finally:  # whatever went wrong: what was found is saved
        _save(recorder, options.output)
    if token.cancelled:
        return 130
    return 2 if failed else 0


def _save(recorder: Recorder, path: Path) -> None:
    try:
        recorder.save()
    except SessionError as error:
        raise SessionError(f"{error.sentence} {_KEPT}", error.detail) from error
    finally:
        recorder.close()
    print(f"Session: {path}")


class _Work:
    """Runs jobs one after the other, records and shows what they say."""

    def __init__(
        self, spec: ProjectSpec, recorder: Recorder, shown: Face, token: CancelToken, runs: tuple[str, ...]
    ) -> None:
        self._spec, self._recorder, self._shown, self._token = spec, recorder, shown, token
        self._runs = runs
        self._bench = Bench(remember_failures=True)
        self._listings = Listings()
        self._failures: set[str] = set()
        self._warned: set[str] = set()

    def do(self, jobs: list[tuple[str, AnyJob]]) -> bool:
        """Run every job, a failing one does not stop the rest; True if any failed."""
        failed = False
        for name, job in [("list", ListJob(project=self._spec, runs=self._runs)), *jobs]:
            if self._token.cancelled:
                break
            reason = too_few(job, self._recorder.session)
            if reason:
                self._say(Notice(level="info", sentence=reason))
            else:
                failed |= self._one(name, job)
        return failed

    def say_what_is_missing(self, *, asked: bool, only: tuple[str, ...]) -> bool:
        """Say why there are only distances; True if more was ``asked`` for or the script may not run."""
        if only == ("distance",) or (self._spec.script and self._spec.trusted):
            return False
        wanted = asked or bool(self._spec.script)
        level: Level = "error" if wanted else "warning"
        self._say(Notice(level=level, sentence=_why_only_distances(self._spec)))
        return wanted

    def _one(self, name: str, job: AnyJob) -> bool:
        ending: Any = None
        for event in run_job(name, job, self._bench, self._token):
            self._tell(event)
            ending = event.body
            if isinstance(ending, Partial) and isinstance(ending.delta, RunListed):
                for notice in self._listings.news(ending.delta):
                    self._tell(Event(name, notice))
        return isinstance(ending, Failed | Cancelled)

    def _tell(self, event: Event) -> None:
        """Record and show an event; a warning in the same words only once."""
        body = event.body
        if isinstance(body, Notice) and body.level == "warning":
            if body.sentence in self._warned:
                return
            self._warned.add(body.sentence)
        self._recorder.take(event)
        self._shown.show(self._shorter(event))

    def _shorter(self, event: Event) -> Event:
        """A failure that was told before is told in a few words."""
        if not isinstance(event.body, Failed):
            return event
        if event.body.sentence in self._failures:
            return Event(event.job, Failed(sentence="not made, for the same reason."))
        self._failures.add(event.body.sentence)
        return event

    def _say(self, notice: Notice) -> None:
        self._tell(Event("", notice))


def _why_only_distances(spec: ProjectSpec) -> str:
    if spec.script:
        return _UNTRUSTED.format(script=spec.script)
    scripts = find_scripts(spec.root)
    if not scripts:
        return _NO_SCRIPT.format(root=spec.root, folder=shlex.quote(spec.root))
    names = some([str(Path(script).relative_to(spec.root)) for script in scripts])
    first = shlex.quote(scripts[0])
    return _SEVERAL.format(root=spec.root, scripts=counted(len(scripts), "script"), names=names, first=first)


def too_few(job: AnyJob, session: Session) -> str:
    """Why a job of the plan is left out: its run has too few checkpoints for it; empty if it is not.

    A run without any is no reason: the job itself then says what is wrong.
    """
    needed = needed_checkpoints(job)
    run = session.runs.get(getattr(job, "run", ""))
    there = len(run.checkpoints) if run else 0
    if not 0 < there < needed:
        return ""
    are = f"is {there}" if there == 1 else f"are {there}"
    return f"{title(job)}: left out, it needs {needed} checkpoints and there {are}."


def _runs(spec: ProjectSpec, wanted: list[str]) -> tuple[str, ...]:
    known = tuple(run_names(spec))
    for name in wanted:
        if name not in known:
            raise OptionError(f"There is no run called “{name}”; known runs: {', '.join(known) or 'none'}.")
    if not known:
        raise OptionError(f"No checkpoints were found in {spec.root} or up to five levels below it.")
    return tuple(wanted) or known


def _only(text: str) -> tuple[str, ...]:
    if not text:
        return ANALYSES
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    known = (*ANALYSES, *ON_REQUEST)
    for word in words:
        if word not in known:
            raise OptionError(f"--only does not know “{word}”; it takes {', '.join(known)}.")
    return words
