"""``landscope run``: the jobs of the window, one after the other, into a session file."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from landscope.cli.progress import Face, face
from landscope.contract.errors import OptionError
from landscope.contract.events import Cancelled, Event, Failed, Notice
from landscope.contract.job import AnyJob, CancelToken, ListJob
from landscope.contract.options import LandscapeOptions, ProjectSpec
from landscope.contract.plan import ANALYSES, plan
from landscope.project.spec import load_project, run_names
from landscope.project.trust import is_trusted, trust
from landscope.runner.bench import Bench
from landscope.runner.run import run_job
from landscope.session.model import Session
from landscope.session.recorder import Recorder

_UNTRUSTED = (
    "{script} was not run, because this folder is not trusted: only distances were measured. "
    "If you trust its code, add --trust."
)


def run(options: argparse.Namespace) -> int:
    """Do all the jobs; returns the exit code."""
    spec = _spec(options)
    only = _only(options.only)
    _check_output(options.output)
    token = CancelToken()
    recorder = Recorder(Session(title=Path(spec.root).name, project=spec), options.output)
    with _interruptible(token), face(options.quiet) as shown:
        failed = _all_jobs(spec, only, options.run, recorder, shown, token)
    recorder.save()
    recorder.close()
    print(f"Session: {options.output}")
    if token.cancelled:
        return 130
    return 2 if failed else 0


def _all_jobs(
    spec: ProjectSpec,
    only: tuple[str, ...],
    wanted: list[str],
    recorder: Recorder,
    shown: Face,
    token: CancelToken,
) -> bool:
    """Run every job, a failing one does not stop the rest; True if any failed."""
    bench = Bench()
    failed = False
    for name, job in [("list", ListJob(project=spec)), *plan(spec, _runs(spec, wanted), only)]:
        if token.cancelled:
            break
        failed |= _one_job(name, job, bench, recorder, shown, token)
    return failed or _said_untrusted(spec, only, recorder, shown)


def _one_job(
    name: str, job: AnyJob, bench: Bench, recorder: Recorder, shown: Face, token: CancelToken
) -> bool:
    ending: Any = None
    for event in run_job(name, job, bench, token):
        recorder.take(event)
        shown.show(event)
        ending = event.body
    return isinstance(ending, Failed | Cancelled)


def _said_untrusted(spec: ProjectSpec, only: tuple[str, ...], recorder: Recorder, shown: Face) -> bool:
    """Whether something asked for was left out because the folder is not trusted; says so."""
    if not spec.script or spec.trusted or only == ("distance",):
        return False
    event = Event("", Notice(level="warning", sentence=_UNTRUSTED.format(script=spec.script)))
    recorder.take(event)
    shown.show(event)
    return True


def _runs(spec: ProjectSpec, wanted: list[str]) -> tuple[str, ...]:
    known = tuple(run_names(spec))
    for name in wanted:
        if name not in known:
            raise OptionError(f"There is no run called “{name}”; known runs: {', '.join(known) or 'none'}.")
    return tuple(wanted) or known


def _spec(options: argparse.Namespace) -> ProjectSpec:
    """The project as its folder says, changed by the flags."""
    spec = load_project(options.project)
    if options.trust:
        trust(spec.root)
    engine = _changed(spec.engine, device=options.device, threads=options.threads)
    data = _changed(spec.data, samples=options.samples)
    landscape = _changed(
        spec.landscape or LandscapeOptions(),
        grid=options.grid,
        points=options.points,
        reach=options.reach,
        seed=options.seed,
        batchnorm=options.batchnorm,
    )
    return msgspec.structs.replace(
        spec, engine=engine, data=data, landscape=landscape, trusted=is_trusted(spec.root)
    )


def _changed(struct: Any, **flags: Any) -> Any:
    return msgspec.structs.replace(struct, **{k: v for k, v in flags.items() if v is not None})


def _only(text: str) -> tuple[str, ...]:
    if not text:
        return ANALYSES
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if word not in ANALYSES:
            raise OptionError(f"--only does not know “{word}”; it takes {', '.join(ANALYSES)}.")
    return words


def _check_output(path: Path) -> None:
    """A typing mistake is better found before an hour of work than after it."""
    if path.is_dir():
        raise OptionError(f"{path} is a folder; name a file such as {path / 'session.h5'}.")
    if not path.absolute().parent.is_dir():
        raise OptionError(f"The folder {path.absolute().parent} does not exist; make it first.")


@contextlib.contextmanager
def _interruptible(token: CancelToken) -> Iterator[None]:
    """Ctrl+C, or a scheduler's SIGTERM, asks the job to stop at its next safe point; results are saved.

    A second one interrupts at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(_signal: int, _frame: FrameType | None) -> None:
        if token.cancelled:
            raise KeyboardInterrupt
        print("\nStopping; press Ctrl+C again to stop at once.", file=sys.stderr)
        token.cancel()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
