"""The middle of the window: notices, the bar of choices, the picture, the checkpoint slider."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from landscope.contract.deltas import RunListed
from landscope_app.state.choices import Choices, cost_of, from_project, job_of
from landscope_app.theme.colors import Theme
from landscope_app.views.checkpoints import CheckpointSlider
from landscope_app.views.choices import ChoiceBar
from landscope_app.views.landscape import LandscapeView
from landscope_app.views.losses import LossView
from landscope_app.views.pictured import Pictured
from landscope_app.work.analyses import Analyses
from landscope_app.work.context import Context


class Workspace(QWidget):
    """What stands between the docks.

    Signals:
        view_changed(): something of the view changed that undo and the session keep.
    """

    view_changed = Signal()

    def __init__(self, context: Context, analyses: Analyses, theme: Theme) -> None:
        super().__init__()
        self._context = context
        self._analyses = analyses
        made = (context.document, context.selection, theme)
        self.choices = ChoiceBar()
        self.landscape = LandscapeView(*made)
        self.losses = LossView(*made)
        self.slider = CheckpointSlider(*made)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.landscape)
        self._stack.addWidget(self.losses)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.choices)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.slider)
        self._later = QTimer(self, singleShot=True, interval=100)
        self._later.timeout.connect(self._refresh)
        self._connect()
        self.show_document()

    def show_document(self) -> None:
        """Another document: begin with what its project says."""
        project = self._context.document.session.project
        self._context.selection.settle(self._context.document.session)
        if project is not None:
            self.choices.show_choices(from_project(project))
        self._refresh()

    def show_kind(self, kind: str) -> None:
        """Surface, contour, line or losses."""
        self.choices.show_kind(kind)
        self._show_kind(kind)

    @property
    def shown(self) -> Pictured:
        """The panel that is in front: the landscape or the losses."""
        return self.losses if self._stack.currentWidget() is self.losses else self.landscape

    def apply_theme(self, theme: Theme) -> None:
        """Redraw in other colours."""
        for view in (self.landscape, self.losses, self.slider):
            view.apply_theme(theme)

    def _connect(self) -> None:
        context, bar = self._context, self.choices
        bar.kind_chosen.connect(self._show_kind)
        bar.changed.connect(self._show_cost)
        bar.run_wanted.connect(self._run)
        bar.refine_wanted.connect(lambda: self._analyses.refine(self.landscape.plane_id))
        self._analyses.previews_changed.connect(self._soon)
        self.landscape.camera_changed.connect(lambda _camera: self.view_changed.emit())
        self.landscape.kind_changed.connect(self._kind_shown)
        self.landscape.notice.connect(lambda sentence: context.tell("info", str(sentence)))
        context.selection.listen(self._selected)
        context.document.listen(lambda delta: self._soon() if isinstance(delta, RunListed) else None)
        context.document.listen_state(self._soon)
        context.engines.hello.connect(lambda hello: bar.show_devices(hello.devices))

    def _show_kind(self, kind: str) -> None:
        if kind == "losses":
            self._stack.setCurrentWidget(self.losses)
        else:
            self._stack.setCurrentWidget(self.landscape)
            self.landscape.show_kind(kind)  # type: ignore[arg-type]
        self._refresh()
        self.view_changed.emit()

    def _kind_shown(self, kind: str) -> None:
        """Without OpenGL a surface is shown as a map: the bar says what is there."""
        if self.choices.kind != "losses":
            self.choices.show_kind(kind)

    def _selected(self, _changed: frozenset[str]) -> None:
        self._soon()
        self.view_changed.emit()

    def _soon(self) -> None:
        if not self._later.isActive():
            self._later.start()

    def _refresh(self) -> None:
        """Bring the bar up to date with document and selection."""
        context = self._context
        run = context.document.session.runs.get(context.selection.run)
        self.choices.show_checkpoints(run.names if run is not None else ())
        project = context.document.session.project
        self.choices.allow(project is not None and bool(project.script) and project.trusted)
        self.choices.show_refinement(self._analyses.refinement(self.landscape.plane_id))
        self._show_cost(self.choices.choices())

    def _show_cost(self, choices: Choices) -> None:
        project = self._context.document.session.project
        if project is not None:
            cost = cost_of(choices, project, self._context.selection.run, self._context.cost)
            self.choices.show_cost(cost)

    def _run(self, choices: Choices) -> None:
        session, run = self._context.document.session, self._context.selection.run
        if session.project is None or not run:
            return
        job = job_of(choices, session.project, run, session)
        self._analyses.run(job)
        chosen = self._context.selection.chosen
        field = "line" if choices.shape == "line" else "plane"
        self._context.selection.restore(replace(chosen, **{field: job.id}))
