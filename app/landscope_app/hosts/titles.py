"""What a job is called in the window, and which host it runs on."""

from __future__ import annotations

from landscope.contract import job as j

STATISTICS, LANDSCAPE, READER = "statistics", "landscape", "reader"

_TITLES: dict[type, str] = {
    j.ListJob: "Checkpoints",
    j.ProbeJob: "Test of the script",
    j.CandidatesJob: "Look at the script",
    j.EvaluateJob: "Losses",
    j.SaturationJob: "Saturation",
    j.DistanceJob: "Distances",
    j.GradientJob: "Gradient norms",
    j.SimilarityJob: "Similarity",
    j.LineJob: "Line",
    j.PlaneJob: "Plane",
    j.ReadSessionJob: "Open session",
}


def title_of(job: j.AnyJob) -> str:
    """A short name for the list of jobs."""
    title = f"{job.kind.capitalize()} plane" if isinstance(job, j.PlaneJob) else _TITLES[type(job)]
    run = getattr(job, "run", "")
    return f"{title} · {run}" if run else title


def queue_of(job: j.AnyJob) -> str:
    """What only reads files goes to the reader, which is there at once; lines and planes to one engine, all
    else to another.
    """
    if isinstance(job, (j.ReadSessionJob, j.ListJob, j.CandidatesJob)):
        return READER
    return LANDSCAPE if isinstance(job, (j.LineJob, j.PlaneJob)) else STATISTICS
