"""The table of jobs, without Qt: what was asked for, how far it is, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from landscope.contract import events as e
from landscope.contract.job import AnyJob, EvaluateJob, LineJob, PlaneJob, ProbeJob, SaturationJob
from landscope_app.state.preview import preview_evaluations

JobState = Literal["queued", "running", "paused", "stopping", "done", "failed", "cancelled"]
ENDED: tuple[JobState, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True)
class JobRow:
    """One job.

    Attributes:
        id: unique name. queue: name of the host it runs on. title: what a person reads.
        done, total: units of work, total 0 = not known yet. eta_s: seconds left at ``told``, None = unknown.
        what: what is being done just now. sentence: how it ended. answer: of ``Done``.
        began, ended, asked_to_stop: ``time.monotonic()``, 0 = not yet. lost: its host died.
        budget_s: seconds after which it stops by itself at the next good place, 0 = goes to its end.
        because: why it was told to stop although nobody cancelled it.
        error: of ``Failed``.
    """

    id: str
    queue: str
    title: str
    job: AnyJob
    state: JobState = "queued"
    done: float = 0.0
    total: float = 0.0
    eta_s: float | None = None
    what: str = ""
    sentence: str = ""
    detail: str = ""
    answer: dict[str, object] = field(default_factory=dict)
    began: float = 0.0
    ended: float = 0.0
    asked_to_stop: float = 0.0
    lost: bool = False
    budget_s: float = 0.0
    because: str = ""
    error: str = ""

    @property
    def runs_script(self) -> bool:
        """Whether it waits for the script (import, model, data): nothing is measured yet, no token asked."""
        return self.active and self.total <= 0 and self.what == e.SCRIPT_RUNS

    @property
    def may_run_script(self) -> bool:
        """Whether the script may be running or about to: nothing is measured yet that could be lost."""
        return self.active and self.total <= 0 and self.needs_script

    @property
    def needs_script(self) -> bool:
        """Whether it cannot be done without running the script."""
        return isinstance(self.job, (EvaluateJob, SaturationJob, LineJob, PlaneJob, ProbeJob))

    @property
    def share(self) -> float:
        """Done part in [0, 1]."""
        if self.state == "done":
            return 1.0
        return min(1.0, self.done / self._goal) if self.total > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds until it ends by itself: of the whole work, or of its preview."""
        if self.eta_s is None or self.total <= self.done:
            return self.eta_s
        return max(0.0, self._goal - self.done) * self.eta_s / (self.total - self.done)

    @property
    def _goal(self) -> float:
        """Units of work after which it ends by itself."""
        if not self.budget_s or not self.eta_s or self.total <= self.done:
            return self.total
        return preview_evaluations(self.eta_s / (self.total - self.done), self.total, self.budget_s)

    @property
    def active(self) -> bool:
        """Whether it occupies its host."""
        return self.state in ("running", "paused", "stopping")


class JobTable:
    """All jobs of a window, in the order they were asked for."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._rows: dict[str, JobRow] = {}
        self._clock = clock

    def __getitem__(self, name: str) -> JobRow:
        """The job called ``name``; KeyError where there is none."""
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        """Whether a job has this name."""
        return name in self._rows

    def find(self, name: str) -> JobRow | None:
        """The job called ``name``, None where there is none."""
        return self._rows.get(name)

    @property
    def rows(self) -> tuple[JobRow, ...]:
        """All jobs, oldest first."""
        return tuple(self._rows.values())

    def add(
        self,
        name: str,
        queue: str,
        title: str,
        job: AnyJob,
        *,
        front: bool = False,
        budget_s: float = 0.0,
    ) -> JobRow:
        """Put a job into its queue; a name that is taken gets a number. ``front``: before all that wait."""
        unique, number = name, 2
        while unique in self._rows:
            unique, number = f"{name}~{number}", number + 1
        row = JobRow(id=unique, queue=queue, title=title, job=job, budget_s=budget_s)
        self._rows = {unique: row, **self._rows} if front else {**self._rows, unique: row}
        return row

    def next_queued(self, queue: str) -> JobRow | None:
        """The job to send to a host now: None while one occupies it or nothing waits."""
        mine = [row for row in self._rows.values() if row.queue == queue]
        if any(row.active for row in mine):
            return None
        return next((row for row in mine if row.state == "queued"), None)

    def active(self, queue: str) -> JobRow | None:
        """The job that occupies a host."""
        return next((r for r in self._rows.values() if r.queue == queue and r.active), None)

    def sent(self, name: str) -> None:
        """The job was given to its host."""
        self._change(name, state="running", began=self._clock())

    def take(self, event: e.Event) -> None:
        """Follow one event; events of jobs that ended or were never asked for change nothing."""
        row = self._rows.get(event.job)
        if row is None or row.state in ENDED:
            return
        body = event.body
        if isinstance(body, e.Started):
            self._change(row.id, began=self._clock())
        elif isinstance(body, e.Progress):
            self._change(row.id, done=body.done, total=body.total, eta_s=body.eta_s, what=body.what)
        elif isinstance(body, e.Paused) and row.state == "running":
            self._change(row.id, state="paused")
        elif isinstance(body, e.Resumed) and row.state == "paused":
            self._change(row.id, state="running")
        elif isinstance(body, e.ENDINGS):
            self._end(row, body)

    def _end(self, row: JobRow, body: e.AnyBody) -> None:
        if isinstance(body, e.Done):
            self._finish(row.id, "done", body.summary, answer=dict(body.answer))
        elif row.because:
            self._finish(row.id, "done", row.because)
        elif isinstance(body, e.Failed):
            self._finish(row.id, "failed", body.sentence, detail=body.detail, error=body.error)
        else:
            self._finish(row.id, "cancelled", "Cancelled; what was measured stays.")

    def _finish(self, name: str, state: JobState, sentence: str, **more: object) -> None:
        self._change(name, state=state, sentence=sentence, ended=self._clock(), eta_s=None, **more)

    def stopping(self, name: str, because: str = "") -> None:
        """Somebody asked the job to stop: a queued one ends now, a running one at its next safe point.

        ``because``: it has done what it was to do; then it ends as done, with this sentence.
        """
        row = self._rows[name]
        if because:
            self._change(name, because=because)
        if row.state == "queued":
            self._finish(name, "cancelled", "Cancelled before it began.")
        elif row.state in ("running", "paused"):
            self._change(name, state="stopping", asked_to_stop=self._clock(), eta_s=None)

    def overdue(self, seconds: float = 2.0) -> tuple[str, ...]:
        """Jobs that were asked to stop and have not answered for ``seconds``."""
        now = self._clock()
        return tuple(r.id for r in self.rows if r.state == "stopping" and now - r.asked_to_stop >= seconds)

    def lost(self, queue: str, sentence: str, detail: str = "") -> JobRow | None:
        """The host of ``queue`` is gone: its active job ends with ``sentence``; that job as it now is."""
        row = self.active(queue)
        if row is None:
            return None
        state: JobState = "cancelled" if row.state == "stopping" else "failed"
        self._finish(row.id, state, sentence, detail=detail, lost=True)
        return self._rows[row.id]

    def drop_ended(self) -> None:
        """Forget the jobs that have ended."""
        self._rows = {name: row for name, row in self._rows.items() if row.state not in ENDED}

    def clear(self) -> None:
        """Forget all jobs (another project is opened)."""
        self._rows = {}

    def _change(self, name: str, **changes: object) -> None:
        self._rows[name] = replace(self._rows[name], **changes)  # type: ignore[arg-type]
