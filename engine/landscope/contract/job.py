"""What an engine can be asked: the jobs, the commands that carry them, and the token that stops them.

An analysis is a function ``(subject, job, token) -> Iterator[Update]``: it yields ``Progress``, ``Partial``
and ``Notice`` bodies, calls ``token.check()`` at least once per batch, and leaves the model as it was, also
on error and on cancel.
"""

from __future__ import annotations

import threading
import time

import msgspec

from landscope.contract.deltas import Floats, Integers
from landscope.contract.errors import JobCancelled
from landscope.contract.options import (
    DistanceOptions,
    FunctionOptions,
    LandscapeOptions,
    PlaneKind,
    ProjectSpec,
    SaturationOptions,
)


class Job(msgspec.Struct, frozen=True, kw_only=True, tag_field="job", tag=True):
    """Base of all jobs; ``project`` says on what."""

    project: ProjectSpec


class ListJob(Job, frozen=True, kw_only=True):
    """List the checkpoints of the runs of the project. Needs no script.

    ``runs``: names of the runs to list; empty = all.
    """

    runs: tuple[str, ...] = ()


class ProbeJob(Job, frozen=True, kw_only=True):
    """Run one batch through the freshly built model and report loss and shapes in ``Done.answer``."""


class CandidatesJob(Job, frozen=True, kw_only=True):
    """Find, without running anything, what in the script and beside it could be model, data and loss.

    ``Done.answer``: the ``script`` (the project's, else the likeliest of its folder; empty = none) and lists
    of ``models``, ``data`` and ``losses``, each with ``name`` as ``write_adapter`` takes it, ``signature``,
    ``kind``, ``file`` and ``line``.
    """


class EvaluateJob(Job, frozen=True, kw_only=True):
    """Loss and metrics of every checkpoint of a run, on every split."""

    run: str


class SaturationJob(Job, frozen=True, kw_only=True):
    """Saturation of every observed layer at every checkpoint of a run (last first, then outwards in time).

    ``checkpoints``: names to measure; empty = all.
    """

    run: str
    options: SaturationOptions = SaturationOptions()
    checkpoints: tuple[str, ...] = ()


class DistanceJob(Job, frozen=True, kw_only=True):
    """Distance quantities of a run, from its files alone. Needs no script."""

    run: str
    options: DistanceOptions = DistanceOptions()


class GradientJob(Job, frozen=True, kw_only=True):
    """Norm of the gradient of the mean loss at every checkpoint of a run, per parameter."""

    run: str
    options: FunctionOptions = FunctionOptions()


class SimilarityJob(Job, frozen=True, kw_only=True):
    """Predictions and layers of a run's checkpoints compared on the same samples.

    ``other``: the run whose checkpoints are the columns; empty = the same run.
    """

    run: str
    other: str = ""
    options: FunctionOptions = FunctionOptions()


class LineJob(Job, frozen=True, kw_only=True):
    """Loss along the line from one checkpoint to another. Empty names: first and last of the run."""

    id: str
    run: str
    start: str = ""
    end: str = ""
    options: LandscapeOptions = LandscapeOptions()


class KnownPoints(msgspec.Struct, frozen=True, kw_only=True):
    """Points of a plane that an earlier, interrupted job has measured: they are not measured again."""

    rows: Integers
    columns: Integers
    values: dict[str, Floats]


class PlaneJob(Job, frozen=True, kw_only=True):
    """Loss over a plane through a checkpoint. ``base`` empty: the last checkpoint of the run."""

    id: str
    run: str
    kind: PlaneKind = "random"
    base: str = ""
    options: LandscapeOptions = LandscapeOptions()
    known: KnownPoints | None = None


class ReadSessionJob(msgspec.Struct, frozen=True, kw_only=True, tag_field="job", tag=True):
    """Read a foreign session file in the reader process: its content is sent as deltas, then the rest.

    ``Done.answer`` is what ``Session.adopt`` takes.
    """

    path: str


AnyJob = (
    ListJob
    | ProbeJob
    | CandidatesJob
    | EvaluateJob
    | SaturationJob
    | DistanceJob
    | GradientJob
    | SimilarityJob
    | LineJob
    | PlaneJob
    | ReadSessionJob
)


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="command", tag=True):
    """Base of what a window says to a host."""


class RunJob(Command, frozen=True, kw_only=True):
    """Queue a job under a name of the caller's."""

    id: str
    job: AnyJob


class CancelJob(Command, frozen=True, kw_only=True):
    """Stop the job at its next safe point; a queued one leaves the queue."""

    id: str


class PauseJob(Command, frozen=True, kw_only=True):
    """Let the job wait at its next safe point."""

    id: str


class ResumeJob(Command, frozen=True, kw_only=True):
    """Let a paused job go on."""

    id: str


class Shutdown(Command, frozen=True, kw_only=True):
    """Cancel everything and exit."""


AnyCommand = RunJob | CancelJob | PauseJob | ResumeJob | Shutdown


class CancelToken:
    """Told from one thread, asked from another: stop, wait, or go on.

    ``check()`` costs about 50 ns while nobody has said anything.
    """

    def __init__(self) -> None:
        self._cancelled = False
        self._held = False
        self._go = threading.Event()
        self._go.set()
        self.waited_s = 0.0

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to stop."""
        return self._cancelled

    def cancel(self) -> None:
        """Ask the job to stop; a paused job stops too."""
        self._cancelled = True
        self._go.set()

    def pause(self) -> None:
        """Ask the job to wait at its next check."""
        self._held = True
        self._go.clear()

    def resume(self) -> None:
        """Let a waiting job go on."""
        self._held = False
        self._go.set()

    def check(self) -> None:
        """Wait while paused.

        Raises:
            JobCancelled: somebody asked to stop.
        """
        if self._held and not self._cancelled:
            began = time.monotonic()
            self._go.wait()
            self.waited_s += time.monotonic() - began
        if self._cancelled:
            raise JobCancelled


class Pace:
    """Estimates the time left and says when the next partial result may leave (at most every 50 ms)."""

    def __init__(self, total: float, token: CancelToken, interval_s: float = 0.05) -> None:
        self._total = total
        self._token = token
        self._interval_s = interval_s
        self._began = time.monotonic()
        self._last = 0.0

    def due(self) -> bool:
        """Whether enough time has passed since the last partial result."""
        now = time.monotonic()
        if now - self._last < self._interval_s:
            return False
        self._last = now
        return True

    def eta_s(self, done: float) -> float | None:
        """Seconds left, from the mean speed so far without pauses; None before anything is done."""
        if done <= 0:
            return None
        worked = time.monotonic() - self._began - self._token.waited_s
        return max(0.0, worked / done * (self._total - done))
