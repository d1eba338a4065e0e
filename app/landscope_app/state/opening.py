"""Which jobs a project gets when it is opened in the window, without Qt: telling things first."""

from __future__ import annotations

from msgspec.structs import replace

from landscope.contract.job import AnyJob, ListJob
from landscope.contract.options import ProjectSpec
from landscope.contract.plan import plan

_FIRST = ("saturation", "losses", "distance", "plane", "line")


def opening_jobs(project: ProjectSpec, runs: tuple[str, ...]) -> list[tuple[str, AnyJob]]:
    """(name, job) in order: the list of files, then everything about the first run, then the others.

    Statistics and landscape jobs wait in queues of their own, so only the order within each kind counts:
    bars before losses before distances, planes before lines. The first run's random plane comes before all
    other planes, because frozen BatchNorm statistics make it the cheapest; then every run's trajectory plane.
    Without a script, or without trust in it, only distances are asked for.
    """
    project = for_window(project)
    jobs: list[tuple[str, AnyJob]] = [("list", ListJob(project=project))]
    usable = project if project.trusted else replace(project, script="")
    for run in runs:
        for analysis in _FIRST:
            jobs += plan(usable, (run,), (analysis,))
    first = f"{runs[0]}-random" if runs else ""
    return sorted(jobs, key=lambda item: _rank(item[0], first))


def for_window(project: ProjectSpec) -> ProjectSpec:
    """The project with one intra-op thread per worker: drawing keeps its core."""
    return replace(project, engine=replace(project.engine, threads=project.engine.threads or 1))


def _rank(name: str, first: str) -> int:
    if name.endswith("-random"):
        return 0 if name == first else 2
    return 3 if name.endswith("-line") else 1 if name.endswith("-trajectory") else 0
