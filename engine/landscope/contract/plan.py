"""Which jobs a project gets when nobody asks for anything special, and in which order.

Window and command line share it: cheap and telling first (bars, losses, distances), then surfaces.
"""

from __future__ import annotations

from landscope.contract.job import (
    AnyJob,
    DistanceJob,
    EvaluateJob,
    GradientJob,
    LineJob,
    PlaneJob,
    SaturationJob,
    SimilarityJob,
)
from landscope.contract.options import (
    DistanceOptions,
    LandscapeOptions,
    PlaneKind,
    ProjectSpec,
    SaturationOptions,
)

ANALYSES = ("losses", "saturation", "distance", "line", "plane")
ON_REQUEST = ("gradients", "similarity")
"""What is measured only when it is asked for: each takes about as long as the losses, or three times."""
PLANES: tuple[PlaneKind, ...] = ("trajectory", "random")


def plan(
    project: ProjectSpec, runs: tuple[str, ...], only: tuple[str, ...] = ANALYSES
) -> list[tuple[str, AnyJob]]:
    """(name, job) in order; without a trusted script only distances can be had.

    ``runs`` are run names; ``only`` names some of ANALYSES and ON_REQUEST. The name of a line's or plane's
    job is also the id of its result.
    """
    if not (project.script and project.trusted):
        only = tuple(name for name in only if name == "distance")
    jobs: list[tuple[str, AnyJob]] = []
    for analysis in (*ANALYSES, *ON_REQUEST):
        if analysis in only:
            for run in runs:
                jobs += _jobs(analysis, project, run)
    return jobs


def needed_checkpoints(job: AnyJob) -> int:
    """How many checkpoints its run must have for a job to mean something; 0 = the job itself says."""
    if isinstance(job, LineJob):
        return 2
    return 3 if isinstance(job, PlaneJob) and job.kind == "trajectory" else 0


def _jobs(analysis: str, project: ProjectSpec, run: str) -> list[tuple[str, AnyJob]]:
    landscape = project.landscape or LandscapeOptions()
    if analysis == "losses":
        return [(f"{run}-losses", EvaluateJob(project=project, run=run))]
    if analysis == "saturation":
        options = project.saturation or SaturationOptions()
        return [(f"{run}-saturation", SaturationJob(project=project, run=run, options=options))]
    if analysis == "distance":
        distance = project.distance or DistanceOptions()
        return [(f"{run}-distance", DistanceJob(project=project, run=run, options=distance))]
    if analysis == "gradients":
        return [(f"{run}-gradients", GradientJob(project=project, run=run))]
    if analysis == "similarity":
        return [(f"{run}-similarity", SimilarityJob(project=project, run=run))]
    if analysis == "line":
        name = f"{run}-line"
        return [(name, LineJob(project=project, id=name, run=run, options=landscape))]
    return [
        (
            f"{run}-{kind}",
            PlaneJob(project=project, id=f"{run}-{kind}", run=run, kind=kind, options=landscape),
        )
        for kind in PLANES
    ]
