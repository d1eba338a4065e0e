"""All quantities of a checkpoint as a table that can be sorted and copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QBrush, QColor, QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from landscope_app.plots.distance_table import DistanceTable, table_text
from landscope_app.plots.quantities import with_unit
from landscope_app.theme.colors import Theme
from landscope_app.theme.plain import plain_tip

_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_ROW_HEIGHT, _NAME_WIDTH, _WIDEST = 23, 128, 130  # pixels
_UNSORTED = -1
Index = QModelIndex | QPersistentModelIndex
_TOP = QModelIndex()


class DistanceModel(QAbstractTableModel):
    """Names, values and notes; what stands in a cell is made when it is painted."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme, self.table = theme, DistanceTable("")
        self.order: list[int] = []
        self._by, self._down = _UNSORTED, False

    def show(self, table: DistanceTable) -> None:
        """Take another table, sorted as the one before."""
        self.beginResetModel()
        self.table = table
        self._arrange()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; undefined values come last. −1 = as the model has them."""
        self.layoutAboutToBeChanged.emit()
        self._by, self._down = column, order == Qt.SortOrder.DescendingOrder
        kept = [(one, self.order[one.row()]) for one in self.persistentIndexList()]
        self._arrange()
        place = {row: k for k, row in enumerate(self.order)}
        for one, row in kept:
            self.changePersistentIndex(one, self.index(place[row], one.column()))
        self.layoutChanged.emit()

    def _arrange(self) -> None:
        table = self.table
        self.order = list(range(len(table.rows)))
        if self._by == 0 or self._by == len(table.columns) + 1:
            texts = table.notes if self._by else table.rows
            self.order.sort(key=lambda k: texts[k].casefold(), reverse=self._down)
        elif 0 < self._by <= len(table.columns):
            values = table.columns[self._by - 1].values
            finite = np.where(np.isfinite(values), -values if self._down else values, np.inf)
            self.order = [int(k) for k in np.argsort(finite, kind="stable")]

    def rowCount(self, parent: Index = _TOP) -> int:
        """The total, layers or parameters."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = _TOP) -> int:
        """Name, every quantity, note."""
        return 0 if parent.isValid() or not self.table.rows else len(self.table.columns) + 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles of the columns; the formula in the tip."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if 0 < section <= len(self.table.columns) else _LEFT
        ends = {0: "Name", len(self.table.columns) + 1: "Note"}
        if role == Qt.ItemDataRole.DisplayRole:
            return ends.get(section) or self.table.columns[section - 1].title
        if role == Qt.ItemDataRole.ToolTipRole and section not in ends:
            column = self.table.columns[section - 1]
            return plain_tip(f"{column.title}\n{with_unit(column.quantity)}")
        return None

    def data(self, index: Index, role: int = 0) -> Any:
        """What one cell shows."""
        row, column = self.order[index.row()], index.column()
        is_value = 0 < column <= len(self.table.columns)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            if is_value:
                return self.table.columns[column - 1].text(row)
            return self.table.notes[row] if column else self.table.rows[row]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if is_value else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and not is_value:
            return plain_tip(self.table.notes[row] if column else self.table.rows[row])
        muted = role == Qt.ItemDataRole.ForegroundRole and bool(self.table.notes[row])
        return QBrush(QColor(self.theme.muted)) if muted else None


class DistanceTableWidget(QTableView):
    """The table itself.

    Signals:
        picked: names of all rows that are chosen, and of the current one.
    """

    picked = Signal(tuple, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.values = DistanceModel(theme)
        self.setModel(self.values)
        self.setAccessibleName("Distances at the current checkpoint")
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names differ at their ends
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicator(_UNSORTED, Qt.SortOrder.AscendingOrder)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.selectionModel().selectionChanged.connect(self._changed)

    def show_table(self, table: DistanceTable, chosen: tuple[str, ...], current: str) -> None:
        """Draw another table; what is in sight stays."""
        across, down = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        titles = [column.title for column in table.columns]
        before = [column.title for column in self.values.table.columns]
        with QSignalBlocker(self.selectionModel()):
            self.values.show(table)
        if titles != before:
            self._fit_columns()
        self.choose(chosen, current)
        self.horizontalScrollBar().setValue(across)
        self.verticalScrollBar().setValue(down)

    def choose(self, chosen: tuple[str, ...], current: str) -> None:
        """Mark rows without telling."""
        place = {self.values.table.rows[row]: k for k, row in enumerate(self.values.order)}
        model = self.selectionModel()
        flags = QItemSelectionModel.SelectionFlag
        with QSignalBlocker(model):
            model.clearSelection()
            for name in dict.fromkeys((*chosen, current)):
                if name in place:
                    model.select(self.values.index(place[name], 0), flags.Select | flags.Rows)
            if current in place:
                model.setCurrentIndex(self.values.index(place[current], 0), flags.NoUpdate)
        self.viewport().update()

    def text(self) -> str:
        """The table in the order that is shown, for a spreadsheet."""
        return table_text(self.values.table, self.values.order)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.values.theme = theme
        self.viewport().update()

    def _changed(self, *_: object) -> None:
        table, order = self.values.table, self.values.order
        chosen = sorted(order[one.row()] for one in self.selectionModel().selectedRows())
        here = self.currentIndex().row()
        current = order[here] if 0 <= here < len(order) else -1
        self.picked.emit(
            tuple(table.rows[k] for k in chosen), table.rows[current] if current in chosen else ""
        )

    def _fit_columns(self) -> None:
        """Widths for title and usual values: measuring every row would stop the window."""
        metrics = QFontMetrics(self.font())
        self.setColumnWidth(0, _NAME_WIDTH)
        for k, column in enumerate(self.values.table.columns, 1):
            self.setColumnWidth(k, min(_WIDEST, metrics.horizontalAdvance(column.title) + 30))
