"""The checkpoints of every run with their loss and accuracy, and the bar that steps through them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout

from landscope.contract.deltas import AnyDelta, CheckpointInfo, CheckpointMeasured, RunListed
from landscope.session.model import Run
from landscope_app.plots.loss_chart import splits_of
from landscope_app.plots.numbers import count, percent, short, whole
from landscope_app.state.document import Document
from landscope_app.state.selection import Selection
from landscope_app.theme.colors import Theme
from landscope_app.views.checkpoint_slider import CheckpointSlider
from landscope_app.views.choosing import choose
from landscope_app.views.labels import Hint
from landscope_app.views.live import LiveView

__all__ = ["CheckpointList", "CheckpointSlider"]

COLUMNS = ("Checkpoint", "Step", "Loss", "Acc.")
_RUN, _NAME = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
EMPTY = "The checkpoints of the project appear here, in training order, with their loss and accuracy."


class CheckpointList(LiveView):
    """A tree: run, its checkpoints in training order, then the files that are not ready, with the reason."""

    follows = frozenset({"run", "checkpoint", "split"})

    def __init__(self, document: Document, selection: Selection, theme: Theme) -> None:
        super().__init__(document, selection, theme)
        self.tree = _tree()
        self.hint = Hint(theme, EMPTY)
        self._shown: tuple[object, ...] = ()
        self._items: dict[tuple[str, str], QTreeWidgetItem] = {}
        self._written: dict[tuple[str, str], tuple[object, ...]] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tree)
        layout.addWidget(self.hint)
        self.tree.currentItemChanged.connect(self._clicked)

    def sizeHint(self) -> QSize:
        """Wide enough for names and values."""
        return QSize(306, 420)

    def minimumSizeHint(self) -> QSize:
        """Below it names could not be told apart."""
        return QSize(220, 120)

    @property
    def current_name(self) -> str:
        """Name of the checkpoint that is marked."""
        item = self.tree.currentItem()
        return str(item.data(0, _NAME) or "") if item is not None else ""

    def item(self, run: str, checkpoint: str) -> QTreeWidgetItem | None:
        """The row of a checkpoint."""
        return self._items.get((run, checkpoint))

    def concerns(self, delta: AnyDelta) -> bool:
        """New files and new losses."""
        return isinstance(delta, RunListed | CheckpointMeasured)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours and fonts."""
        self.hint.apply_theme(theme)
        self._shown = ()
        super().apply_theme(theme)

    def refresh(self) -> None:
        """Rebuild the rows if the files changed, write their values, mark the current one."""
        runs = self.document.session.runs
        self.tree.setVisible(bool(runs))
        self.hint.setVisible(not runs)
        files = tuple(_rows(run) for run in runs.values())
        blocked = self.tree.blockSignals(True)
        if files != self._shown:
            self._shown = files
            self._rebuild()
        written = [self._write_values(run) for run in runs.values()]
        if any(written):
            for column in (1, 2, 3):
                self.tree.resizeColumnToContents(column)
        self._mark_current()
        self.tree.blockSignals(blocked)

    def _rebuild(self) -> None:
        folded = {
            item.data(0, _RUN)
            for item in (self.tree.topLevelItem(k) for k in range(self.tree.topLevelItemCount()))
            if item is not None and not item.isExpanded()
        }
        self.tree.clear()
        self._items, self._written = {}, {}
        runs = self.document.session.runs.values()
        for run in runs:
            self._add_run(run, run.name not in folded)
        self.tree.setColumnHidden(1, all(_names_say_steps(run) for run in runs))

    def _add_run(self, run: Run, expanded: bool) -> None:
        top = QTreeWidgetItem(self.tree, [run.name])
        top.setData(0, _RUN, run.name)
        top.setToolTip(0, f"{run.folder}\n{count(len(run.checkpoints))} checkpoints")
        top.setFirstColumnSpanned(True)
        font = QFont(self.tree.font())
        font.setBold(True)
        top.setFont(0, font)
        suffix = common_suffix(run)
        for info, step in zip(run.checkpoints, run.steps, strict=True):
            self._items[run.name, info.name] = self._add_checkpoint(
                top, run.name, info, suffix, whole(float(step))
            )
        for info in run.others:
            self._add_other(top, run, info)
        top.setExpanded(expanded)

    def _add_checkpoint(
        self, top: QTreeWidgetItem, run: str, info: CheckpointInfo, suffix: str, step: str
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem(top, [info.name.removesuffix(suffix), step])
        item.setData(0, _RUN, run)
        item.setData(0, _NAME, info.name)
        for column in (1, 2, 3):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return item

    def _add_other(self, top: QTreeWidgetItem, run: Run, info: CheckpointInfo) -> None:
        item = QTreeWidgetItem(top, [info.name, "", info.state])
        item.setData(0, _RUN, run.name)
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        for column in range(len(COLUMNS)):
            item.setForeground(column, QBrush(QColor(self.theme.muted)))
            item.setToolTip(column, info.reason or info.state)
        font = QFont(self.tree.font())
        font.setItalic(True)
        item.setFont(2, font)

    def _write_values(self, run: Run) -> bool:
        """Write the rows whose values are new; whether there were any."""
        split = self.selection.split if self.selection.split in run.measured else next(iter(run.measured), "")
        changed = False
        for info in run.checkpoints:
            key = (run.name, info.name)
            known = (split, info, *(found.get(info.name) for found in run.measured.values()))
            if not _same(known, self._written.get(key, ())):
                self._written[key] = known
                changed = True
                self._write_row(self._items[key], run, info, run.measured.get(split, {}).get(info.name))

        return changed

    def _write_row(
        self, item: QTreeWidgetItem, run: Run, info: CheckpointInfo, measured: CheckpointMeasured | None
    ) -> None:
        item.setText(2, short(measured.loss) if measured is not None else "")
        accuracy = measured.metrics.get("accuracy") if measured is not None else None
        item.setText(3, percent(accuracy, 1) if accuracy is not None else "")
        tip = _tip(run, info)
        for column in range(len(COLUMNS)):
            item.setToolTip(column, tip)

    def _mark_current(self) -> None:
        item = self._items.get((self.selection.run, self.selection.checkpoint))
        if item is not None and item is not self.tree.currentItem():
            self.tree.setCurrentItem(item)
            self.tree.scrollToItem(item)

    def _clicked(self, item: QTreeWidgetItem | None, _before: QTreeWidgetItem | None = None) -> None:
        if item is None:
            return
        run, name = item.data(0, _RUN), item.data(0, _NAME)
        if name:
            choose(self.selection, self.document.session, run, name)


def _tree() -> QTreeWidget:
    tree = QTreeWidget()
    tree.setAccessibleName("Checkpoints")
    tree.setHeaderLabels(COLUMNS)
    tree.setRootIsDecorated(True)
    tree.setIndentation(12)
    tree.setUniformRowHeights(True)
    tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    tree.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    header = tree.header()
    header.setStretchLastSection(False)
    header.setMinimumSectionSize(40)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    for column in (1, 2, 3):
        # Not ResizeToContents: that measures every row again at each new value.
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        tree.headerItem().setTextAlignment(
            column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
    return tree


def _rows(run: Run) -> tuple[object, ...]:
    """What decides which rows a run has; hashes and notes may change without a rebuild."""
    steps = tuple((info.name, step) for info, step in zip(run.checkpoints, run.steps, strict=True))
    return run.name, steps, tuple((info.name, info.state, info.reason) for info in run.others)


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Whether two rows show the same measurements; the same object may hold NaN, which equals nothing."""
    return len(one) == len(other) and all(a is b or a == b for a, b in zip(one, other, strict=True))


def common_suffix(run: Run) -> str:
    """The ending that all checkpoints share (``.pt``), which says nothing in a list."""
    endings = {PurePosixPath(info.name).suffix for info in run.checkpoints}
    return endings.pop() if len(endings) == 1 else ""


def _names_say_steps(run: Run) -> bool:
    """Whether a column of steps would only repeat the numbers in the names."""
    numbers = ([int(n) for n in re.findall(r"\d+", info.name)] for info in run.checkpoints)
    return all(int(s) in found for s, found in zip(run.steps, numbers, strict=True))


def _tip(run: Run, info: CheckpointInfo) -> str:
    lines = [info.name]
    for split in splits_of(run):
        one = run.measured[split].get(info.name)
        if one is not None:
            values = [f"loss {short(one.loss, 4)} ± {short(one.loss_se, 2)}"]
            values += [f"{name} {short(value, 4)}" for name, value in one.metrics.items()]
            lines.append(f"{split}: {', '.join(values)} (n = {count(one.samples)})")
    if info.aliases:
        lines.append(f"the same as {', '.join(info.aliases)}")
    return "\n".join([*lines, *info.notes])
