"""Measuring saturation with options that a person chose in its panel."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QObject, QTimer

from landscope.contract import events as e
from landscope.contract.deltas import AnyDelta, SaturationMeasured
from landscope.contract.job import SaturationJob
from landscope_app.hosts.job_table import JobRow
from landscope_app.plots.loss_chart import splits_of
from landscope_app.state.saturation_choices import (
    SaturationChoices,
    SaturationPace,
    for_view,
    from_view,
    job_of,
    known_names,
)
from landscope_app.views.saturation import SaturationView
from landscope_app.work.analyses import Analyses
from landscope_app.work.context import Context

SUPERSEDED = "Measured anew with other options."


class Measuring(QObject):
    """Keeps the form of the saturation panel up to date and runs what it asks for."""

    def __init__(
        self, context: Context, analyses: Analyses, view: SaturationView, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._analyses, self._view, self._form = context, analyses, view, view.form
        self._pace = SaturationPace()
        self._asked: set[str] = set()
        self._fresh: set[str] = set()
        self._later = QTimer(self, singleShot=True, interval=100)
        self._later.timeout.connect(self._refresh)
        view.measure.toggled.connect(lambda _on: self._refresh())
        self._form.changed.connect(self._show_cost)
        self._form.run_wanted.connect(self._run)
        context.selection.listen(lambda _changed: self._soon())
        context.document.listen(lambda _delta: self._soon())
        context.document.listen_state(self._soon)
        context.engines.events.connect(self._hear)
        context.engines.ended.connect(self._ended)

    def show_document(self, view: dict[str, Any]) -> None:
        """Begin with what a session kept or the project says."""
        project = self._context.document.session.project
        self._view.measure.setChecked(False)
        self._asked.clear()
        self._fresh.clear()
        if project is not None:
            self._form.show_choices(from_view(view.get("measure"), project))

    def open_form(self) -> None:
        """Show the form and let it take the keyboard."""
        self._view.measure.setChecked(True)
        self._form.setFocus()

    def view_state(self) -> dict[str, Any]:
        """What a session keeps of the form."""
        return for_view(self._form.choices())

    def _soon(self) -> None:
        if self._form.isVisible() and not self._later.isActive():
            self._later.start()

    def _refresh(self) -> None:
        session, run = self._context.document.session, self._context.selection.run
        splits = splits_of(session.runs[run]) if run in session.runs else ()
        self._form.offer(splits, known_names(session, run))
        project = session.project
        runnable = project is not None and bool(project.script) and project.trusted and run in session.runs
        self._form.allow(runnable)
        self._show_cost(self._form.choices())

    def _show_cost(self, choices: SaturationChoices) -> None:
        run = self._context.document.session.runs.get(self._context.selection.run)
        if run is not None:
            cost = self._pace.expect(run.name, len(run.names), choices.samples)
            self._form.show_cost(cost, choices.samples)

    def _hear(self, batch: list[e.Event]) -> None:
        now = time.monotonic()
        for event in batch:
            self._pace.take(event, now)
            body = event.body
            if isinstance(body, e.Partial) and event.job in self._fresh:
                self._show_first(event.job, body.delta)

    def _show_first(self, job: str, delta: AnyDelta) -> None:
        """Show the split that was asked for as soon as there is something of it."""
        if isinstance(delta, SaturationMeasured):
            self._fresh.discard(job)
            self._context.selection.set(split=delta.mode)

    def _run(self, choices: SaturationChoices) -> None:
        session, run = self._context.document.session, self._context.selection.run
        if session.project is None or run not in session.runs:
            return
        self._supersede(run, choices.options.split)
        job = self._analyses.run(job_of(choices, session.project, run))
        self._asked.add(job)
        self._fresh.add(job)
        self._view.measure.setChecked(False)

    def _supersede(self, run: str, split: str) -> None:
        """End measurements whose results the new one replaces, those that wait first."""
        for row in sorted(self._context.engines.busy, key=lambda row: row.active):
            job = row.job
            if isinstance(job, SaturationJob) and (job.run, job.options.split) == (run, split):
                self._context.engines.cancel(row.id, SUPERSEDED)

    def _ended(self, row: JobRow) -> None:
        """Options that were refused come back with the reason."""
        if row.id in self._asked and row.state == "failed":
            self._view.measure.setChecked(True)
            self._form.refuse(row.sentence)
        self._asked.discard(row.id)
