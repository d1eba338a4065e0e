"""A table of thousands of files that only ever looks at the rows in sight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from landscope.session.model import Run
from landscope_app.plots.numbers import percent, short, whole
from landscope_app.state.checkpoint_rows import FileRow, common_suffix, file_rows, names_say_steps
from landscope_app.theme.colors import Theme
from landscope_app.theme.plain import plain_tip
from landscope_app.views.checkpoint_details import details_of

COLUMNS = ("Checkpoint", "Step", "Loss", "Acc.")
_WIDEST = ("", "000 000", "0.000e-0", "100.0 %")
_ROW_HEIGHT, _INDENT = 25, "    "
_MOST_SPANS = 500
"""Rows of runs and of files that are left out use the whole width; beyond so many the table would be slow."""
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
Index = QModelIndex | QPersistentModelIndex
_TOP = QModelIndex()


class CheckpointModel(QAbstractTableModel):
    """The rows; what stands in them is looked up when it is painted."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.rows: list[FileRow] = []
        self.folded: set[str] = set()
        self._runs: dict[str, Run] = {}
        self._files: list[tuple[str, object, object]] = []
        self._suffixes: dict[str, str] = {}
        self._split = ""

    def show(self, runs: Iterable[Run], split: str) -> bool:
        """Take the runs as they are now; whether there are other rows than before."""
        self._runs, self._split = {run.name: run for run in runs}, split
        files: list[tuple[str, object, object]] = [
            (run.name, run.checkpoints, run.others) for run in self._runs.values()
        ]
        if files == self._files:
            return False
        self._files = files
        self._suffixes = {name: common_suffix(run) for name, run in self._runs.items()}
        self.rebuild()
        return True

    def rebuild(self) -> None:
        """Make the rows anew: no row is looked at before it is in sight."""
        self.beginResetModel()
        self.rows = file_rows(self._runs.values(), self.folded)
        self.endResetModel()

    def run_of(self, row: FileRow) -> Run:
        """The run that a row belongs to."""
        return self._runs[row.run]

    @property
    def names_say_steps(self) -> bool:
        """Whether the column of steps can be left out."""
        return all(names_say_steps(run) for run in self._runs.values())

    def rowCount(self, parent: Index = _TOP) -> int:
        """All runs and their files."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _TOP) -> int:
        """Name, step, loss, accuracy."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles of the columns."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section else _LEFT
        return COLUMNS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = 0) -> Any:
        """What one cell shows."""
        row, column = self.rows[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(details_of(self._runs[row.run], row.info))
        if role == Qt.ItemDataRole.ForegroundRole:
            return None if row.info is None or row.is_ready else QBrush(QColor(self.theme.muted))
        return _font(row, column) if role == Qt.ItemDataRole.FontRole else None

    def _text(self, row: FileRow, column: int) -> str:
        if row.info is None:
            mark = "▸" if row.run in self.folded else "▾"
            return f"{mark} {row.run}" if not column else ""
        if not row.is_ready:
            return (f"{_INDENT}{row.info.name} · {row.info.reason}", "", row.info.state, "")[column]
        if column == 0:
            return _INDENT + row.info.name.removesuffix(self._suffixes[row.run])
        return whole(row.step) if column == 1 else self._value(row, column)

    def _value(self, row: FileRow, column: int) -> str:
        measured = self._runs[row.run].measured
        split = self._split if self._split in measured else next(iter(measured), "")
        one = measured.get(split, {}).get(row.key[1])
        if one is None:
            return ""
        if column == 2:
            return short(one.loss)
        accuracy = one.metrics.get("accuracy")
        return percent(accuracy, 1) if accuracy is not None else ""


def _font(row: FileRow, column: int) -> QFont | None:
    font = QFont()
    if row.info is None:
        font.setBold(True)
    elif not row.is_ready and column:
        font.setItalic(True)
    else:
        return None
    return font


class CheckpointTable(QTableView):
    """The list itself; runs fold by a click or the arrow keys.

    Signals:
        picked(FileRow): another row is current, by the person's doing.
    """

    picked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.files = CheckpointModel(theme)
        self.setModel(self.files)
        self.setAccessibleName("Checkpoints")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._fit_columns()
        self.clicked.connect(self._clicked)
        self.selectionModel().currentRowChanged.connect(self._moved)

    def show_runs(self, runs: Iterable[Run], split: str) -> None:
        """Bring rows and values up to date; the current row and what is in sight stay."""
        here, above = self.current_row, self.verticalScrollBar().value()
        with QSignalBlocker(self.selectionModel()):
            if self.files.show(runs, split):
                self._after_reset(here, above)
        self.viewport().update()

    @property
    def current_row(self) -> FileRow | None:
        """The row that is marked."""
        at = self.currentIndex().row()
        return self.files.rows[at] if 0 <= at < len(self.files.rows) else None

    def mark(self, run: str, name: str, *, in_sight: bool = True) -> bool:
        """Mark a row without telling; whether it is there."""
        at = self.place(run, name)
        if at < 0:
            return False
        if at != self.currentIndex().row():
            with QSignalBlocker(self.selectionModel()):
                self.selectRow(at)
            if in_sight:
                self.scrollTo(self.files.index(at, 0))
            self.viewport().update()
        return True

    def place(self, run: str, name: str) -> int:
        """Number of a row; -1 = not there (or folded away)."""
        return next((k for k, row in enumerate(self.files.rows) if row.key == (run, name)), -1)

    def fold(self, run: str, folded: bool) -> None:
        """Hide or show the files of a run."""
        if (run in self.files.folded) != folded:
            self.files.folded ^= {run}
            here, above = self.current_row, self.verticalScrollBar().value()
            with QSignalBlocker(self.selectionModel()):
                self.files.rebuild()
                self._after_reset(here, above)
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right fold and unfold the run of the current row."""
        row = self.current_row
        if row is not None and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.fold(row.run, event.key() == Qt.Key.Key_Left)
            self.mark(row.run, "") if event.key() == Qt.Key.Key_Left else None
            return
        super().keyPressEvent(event)

    def _after_reset(self, here: FileRow | None, above: int) -> None:
        self.executeDelayedItemsLayout()  # or the scroll bar does not reach to the new rows
        self.clearSpans()
        wide = [k for k, row in enumerate(self.files.rows) if not row.is_ready]
        for place in wide[:_MOST_SPANS]:
            self.setSpan(place, 0, 1, len(COLUMNS))
        self.setColumnHidden(1, self.files.names_say_steps)
        if here is not None:
            self.mark(*here.key, in_sight=False)
        self.verticalScrollBar().setValue(above)

    def _clicked(self, index: QModelIndex) -> None:
        row = self.files.rows[index.row()]
        if row.info is None:
            self.fold(row.run, row.run not in self.files.folded)

    def _moved(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid():
            self.picked.emit(self.files.rows[current.row()])

    def _fit_columns(self) -> None:
        """Widths for the longest usual values: measuring thousands of rows would stop the window."""
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(40)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        metrics = QFontMetrics(self.font())
        for column, text in enumerate(_WIDEST):
            if text:
                header.resizeSection(column, metrics.horizontalAdvance(text) + 14)
