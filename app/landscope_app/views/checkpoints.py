"""The checkpoints of every run with their loss and accuracy, and what is known of the one that is marked."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPlainTextEdit, QSplitter, QVBoxLayout

from landscope.contract.deltas import AnyDelta, CheckpointMeasured, RunListed
from landscope_app.state.checkpoint_rows import FileRow, weight_sets
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.checkpoint_details import details_of
from landscope_app.views.checkpoint_header import CheckpointHeader
from landscope_app.views.checkpoint_slider import CheckpointSlider
from landscope_app.views.checkpoint_table import CheckpointTable
from landscope_app.views.choosing import choose
from landscope_app.views.labels import Hint
from landscope_app.views.live import LiveView

__all__ = ["CheckpointList", "CheckpointSlider"]

EMPTY = "The checkpoints of the project appear here, in training order, with their loss and accuracy."


class CheckpointList(LiveView):
    """Runs and their files in training order, then the files that are left out, each with its reason."""

    follows = frozenset({"run", "checkpoint", "split"})

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.header = CheckpointHeader()
        self.table = CheckpointTable(theme)
        self.details = QPlainTextEdit(readOnly=True)
        self.details.setAccessibleName("About the marked checkpoint")
        self.hint = Hint(theme, EMPTY)
        self._marked = ("", "")
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.addWidget(self.table)
        self._split.addWidget(self.details)
        self._split.setStretchFactor(0, 1)
        self._split.setSizes([300, 112])
        self._split.setCollapsible(0, False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.header)
        layout.addWidget(self._split, 1)
        layout.addWidget(self.hint, 1)
        self.table.picked.connect(self._picked)
        leave = document.listen_state(self.invalidate)
        self.destroyed.connect(lambda *_: leave())

    def sizeHint(self) -> QSize:
        """Wide enough for names and values."""
        return QSize(306, 420)

    def minimumSizeHint(self) -> QSize:
        """Below it names could not be told apart."""
        return QSize(220, 120)

    @property
    def current_name(self) -> str:
        """Name of the file that is marked; empty for a run."""
        row = self.table.current_row
        return row.key[1] if row is not None else ""

    def concerns(self, delta: AnyDelta) -> bool:
        """New files and new losses."""
        return isinstance(delta, RunListed | CheckpointMeasured)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.hint.apply_theme(theme)
        self.table.files.theme = theme
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Bring rows, values and the marked file up to date."""
        session = self.document.session
        runs = session.runs.values()
        self._split.setVisible(bool(runs))
        self.hint.setVisible(not runs)
        self.header.show_project(session.project, weight_sets(runs))
        self.table.show_runs(runs, self.selection.split)
        self._mark_selected()
        self._show_details()

    def _mark_selected(self) -> None:
        """Follow the selection when it changed; until then a file that is no checkpoint may stay marked."""
        wanted = (self.selection.run, self.selection.checkpoint)
        if wanted != self._marked and self.table.mark(*wanted):
            self._marked = wanted

    def _picked(self, row: FileRow) -> None:
        if row.info is not None and row.is_ready:
            self._marked = row.key
            choose(self.selection, self.document.session, *row.key)
        self._show_details()

    def _show_details(self) -> None:
        row = self.table.current_row
        text = details_of(self.table.files.run_of(row), row.info) if row is not None else ""
        if text != self.details.toPlainText():
            self.details.setPlainText(text)
