"""Which analyses exist: one entry per kind of job. A new analysis is one function and one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landscope.contract import job as j
from landscope.contract.deltas import Provenance, RunListed
from landscope.contract.errors import CheckpointError
from landscope.contract.events import SCRIPT_RUNS, Done, Notice, Partial, Progress, Update
from landscope.contract.options import ProjectSpec

if TYPE_CHECKING:
    from landscope.project.subject import Subject
    from landscope.runner.bench import Bench

Updates = Iterator[Update | Done]


def updates(job: j.AnyJob, bench: Bench, token: j.CancelToken) -> Updates:
    """Everything the job has to say, lazily. Raises as the analysis does."""
    return _ANALYSES[type(job)](job, bench, token)


def title(job: j.AnyJob) -> str:
    """What a person reads in the list of jobs."""
    run = getattr(job, "run", "")
    return f"{_TITLES[type(job)](job)}{' · ' + run if run else ''}"


def _list(job: j.ListJob, _bench: Bench, token: j.CancelToken) -> Updates:
    from landscope.checkpoints.discover import list_growing
    from landscope.project.spec import run_names

    for name, folder in run_names(job.project).items():
        if job.runs and name not in job.runs:
            continue
        token.check()
        for listed in list_growing(Path(folder), run=name, wanted=job.project.weights, token=token):
            yield Partial(delta=listed)


def _probe(job: j.ProbeJob, bench: Bench, token: j.CancelToken) -> Updates:
    from landscope.project.measuring.probe import probe

    yield Progress(done=0, total=0, what=SCRIPT_RUNS)
    subject = yield from bench.opening(job.project, _first_run(job.project), token)
    token.check()
    yield from subject.notices
    yield Done(summary="One batch ran.", answer=probe(subject))


def _first_run(project: ProjectSpec) -> str:
    from landscope.project.spec import run_names

    return next(iter(run_names(project)), "")


def _candidates(job: j.CandidatesJob, _bench: Bench, _token: j.CancelToken) -> Updates:
    from landscope.project.adapting.survey import as_answer, survey

    found = survey(job.project.root, job.project.script or None)
    yield Done(answer=as_answer(found, Path(job.project.root)))


def _on_subject(load: Callable[[], Callable[..., Iterator[Update]]]) -> Callable[..., Updates]:
    """An analysis over a subject: says the subject's notices and facts first, then what it finds."""

    def run(job: Any, bench: Bench, token: j.CancelToken) -> Updates:
        from landscope.runner.facts import facts

        analyse = load()
        if not bench.holds(job.project, job.run):
            yield Progress(done=0, total=0, what=SCRIPT_RUNS)
        subject = yield from bench.opening(job.project, job.run, token)
        token.check()
        yield from _first_time(subject.notices)
        listed = subject.listed
        yield Partial(delta=listed)
        if not listed.checkpoints:
            raise CheckpointError(_none_fits(listed))
        yield Partial(delta=Provenance(facts=facts(subject)))
        yield from analyse(subject, job, token)
        if subject.listed.others != listed.others:  # some could not be read when they were needed
            yield Partial(delta=subject.listed)

    return run


def _none_fits(listed: RunListed) -> str:
    """Why nothing can be measured at any file, by the first of them."""
    why = next((f" ({info.name}: {info.reason})" for info in listed.others if info.reason), "")
    return f"The run “{listed.run}” has no checkpoint that can be used{why}."


def _first_time(notices: list[Notice]) -> list[Notice]:
    """A subject's notices are said once, by the first job that uses it."""
    said, notices[:] = list(notices), []
    return said


def _evaluate() -> Callable[..., Iterator[Update]]:
    from landscope.project.measuring.evaluate import analyse

    return analyse


def _saturation() -> Callable[..., Iterator[Update]]:
    from landscope.saturation.analysis import analyse

    return analyse


def _line() -> Callable[..., Iterator[Update]]:
    from landscope.landscape.analysis import analyse_line

    return analyse_line


def _plane() -> Callable[..., Iterator[Update]]:
    from landscope.landscape.analysis import analyse_plane

    return analyse_plane


def _distance(job: j.DistanceJob, _bench: Bench, token: j.CancelToken) -> Updates:
    from landscope.distance.analysis import analyse_files
    from landscope.project.spec import run_folder

    folder = Path(run_folder(job.project, job.run))
    yield from analyse_files(folder, job.run, job, token)


def _gradients() -> Callable[..., Iterator[Update]]:
    from landscope.distance.functions.gradients import analyse

    return analyse


def _similarity(job: j.SimilarityJob, bench: Bench, token: j.CancelToken) -> Updates:
    """Over the subjects of one run, or of two."""
    from landscope.distance.functions.similarity import analyse

    def compare(subject: Subject, job: j.SimilarityJob, token: j.CancelToken) -> Iterator[Update]:
        other = subject
        if job.other not in ("", job.run):
            other = yield from bench.opening(job.project, job.other, token)
            yield Partial(delta=other.listed)
        yield from analyse(subject, other, job, token)

    yield from _on_subject(lambda: compare)(job, bench, token)


def _read_session(job: j.ReadSessionJob, _bench: Bench, token: j.CancelToken) -> Updates:
    from landscope.session.deltas import as_deltas
    from landscope.session.read import read

    session = read(Path(job.path))
    for delta in as_deltas(session):
        token.check()
        yield Partial(delta=delta)
    yield Done(answer=session.remainder())


_ANALYSES: dict[type, Callable[..., Updates]] = {
    j.ListJob: _list,
    j.ProbeJob: _probe,
    j.CandidatesJob: _candidates,
    j.EvaluateJob: _on_subject(_evaluate),
    j.SaturationJob: _on_subject(_saturation),
    j.DistanceJob: _distance,
    j.GradientJob: _on_subject(_gradients),
    j.SimilarityJob: _similarity,
    j.LineJob: _on_subject(_line),
    j.PlaneJob: _on_subject(_plane),
    j.ReadSessionJob: _read_session,
}
_TITLES: dict[type, Callable[[Any], str]] = {
    j.ListJob: lambda _job: "Checkpoints",
    j.ProbeJob: lambda _job: "Test of the script",
    j.CandidatesJob: lambda _job: "Look at the script",
    j.EvaluateJob: lambda _job: "Losses",
    j.SaturationJob: lambda _job: "Saturation",
    j.DistanceJob: lambda _job: "Distances",
    j.GradientJob: lambda _job: "Gradient norms",
    j.SimilarityJob: lambda job: f"Similarity to {job.other}" if job.other else "Similarity",
    j.LineJob: lambda _job: "Line",
    j.PlaneJob: lambda job: f"{job.kind.capitalize()} plane",
    j.ReadSessionJob: lambda _job: "Open session",
}
