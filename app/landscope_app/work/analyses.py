"""Running analyses: events into the document, previews inside a budget, refining, running again."""

from __future__ import annotations

import time

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from landscope.contract import deltas as d
from landscope.contract import events as e
from landscope.contract.job import AnyJob, LineJob, PlaneJob
from landscope.contract.plan import needed_checkpoints
from landscope_app.hosts.job_table import JobRow
from landscope_app.state.cost import policy_of
from landscope_app.state.preview import Refinement, stops_here
from landscope_app.state.resume import resumed
from landscope_app.work.context import Context

SCRIPT_ERRORS = {
    "ScriptArgumentsError": "Give arguments…",
    "ScriptError": "Set up the script…",
    "DataError": "Set up the script…",
    "TrustError": "Trust…",
}
"""Errors over a script, by their class, and what helps against them."""


class Analyses(QObject):
    """Feeds the document from the engines and decides how far planes go by themselves.

    Signals:
        previews_changed(): a plane reached a level, ended or began: what can be refined is another.
        script_failed(JobRow): a job failed over the script, as it or its project is.
        answered(JobRow): a job that was no analysis ended (probe, candidates, session).
    """

    previews_changed = Signal()
    script_failed = Signal(object)
    answered = Signal(object)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._previewed: dict[str, PlaneJob] = {}
        self._private: set[str] = set()
        self._asked: set[str] = set()
        context.engines.events.connect(self._take)
        context.engines.ended.connect(self._ended)

    def keep_private(self, job_id: str) -> None:
        """Events of this job are no results of the document (a session being read)."""
        self._private.add(job_id)

    def run(self, job: AnyJob) -> str:
        """Run what the person asked for, before all that waits and without a budget."""
        name = job.id if isinstance(job, (LineJob, PlaneJob)) else type(job).__name__
        asked = self._context.engines.submit(name, resumed(job, self._context.document.session), front=True)
        self._asked.add(asked)
        return asked

    def again(self, row: JobRow) -> str:
        """Run a job that ended once more; points of a plane that are known are kept."""
        return self.run(row.job)

    def refinement(self, plane: str) -> Refinement | None:
        """What is left of a plane that stopped after its preview or was cancelled; None = nothing."""
        job = self._previewed.get(plane)
        found = self._context.document.session.planes.get(plane)
        if job is None or found is None or job.options.grid in found.levels:
            return None
        points = max(found.levels, default=0)
        left = Refinement(points, job.options.grid, None)
        samples = job.project.data.samples
        policy = policy_of(job.options, job.kind)
        cost = self._context.cost.expect(job.run, policy, samples, left.evaluations)
        return Refinement(left.points, left.grid, cost.seconds)

    def refine(self, plane: str) -> None:
        """Measure the rest of a plane."""
        job = self._previewed.pop(plane, None)
        if job is not None:
            self.run(job)
            self.previews_changed.emit()

    def forget(self) -> None:
        """Another project is opened."""
        self._previewed, self._private, self._asked = {}, set(), set()

    def _take(self, batch: list[e.Event]) -> None:
        for event in batch:
            if event.job in self._private and not isinstance(event.body, (e.Notice, e.Failed)):
                continue
            if isinstance(event.body, e.Hello):
                self._context.devices = event.body.devices
            if not self._ends_a_preview(event):
                self._context.document.take(event)
            if isinstance(event.body, e.Partial) and isinstance(event.body.delta, d.PlaneLevel):
                self._level(event.job, event.body.delta)

    def _ends_a_preview(self, event: e.Event) -> bool:
        """Nobody cancelled it: the log need not say so."""
        row = self._context.engines.table.find(event.job)
        return isinstance(event.body, e.Cancelled) and row is not None and bool(row.because)

    def _level(self, job_id: str, level: d.PlaneLevel) -> None:
        row = self._context.engines.table.find(job_id)
        if row is None or not isinstance(row.job, PlaneJob) or row.state != "running":
            return
        worked = time.monotonic() - row.began
        self._learn(row.job, level.points**2, worked)
        if row.budget_s and stops_here(level.points, row.job.options.grid, worked, row.budget_s):
            self._previewed[row.job.id] = row.job
            self._context.engines.cancel(job_id, f"Preview of {level.points}×{level.points} points.")
        self.previews_changed.emit()

    def _learn(self, job: PlaneJob, evaluations: int, seconds: float) -> None:
        if job.known is None:
            policy = policy_of(job.options, job.kind)
            self._context.cost.learn(job.run, policy, job.project.data.samples, evaluations, seconds)

    def _could_not_be(self, row: JobRow) -> bool:
        """Whether nobody asked for it and its run is too short: its line among the jobs is enough."""
        run = self._context.document.session.runs.get(getattr(row.job, "run", ""))
        there = len(run.checkpoints) if run is not None else 0
        return row.id not in self._asked and 0 < there < needed_checkpoints(row.job)

    def _ended(self, row: JobRow) -> None:
        if isinstance(row.job, PlaneJob) and row.state != "done":
            self._previewed[row.job.id] = replace(row.job, known=None)
        told = row.lost or self._could_not_be(row)  # a lost host has been told already
        if row.state == "failed" and not told:
            self._context.told.emit("error", row.sentence, row.detail)
            if row.error in SCRIPT_ERRORS:
                self.script_failed.emit(row)
        self._context.selection.settle(self._context.document.session)
        self.answered.emit(row)
        self.previews_changed.emit()
