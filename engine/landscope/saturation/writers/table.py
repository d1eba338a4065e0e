"""Tables of epochs × series as text, ours and those that delve wrote."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from landscope.contract.errors import StatisticsFileError

_DIGITS = 18
"""Most digits of an epoch."""

Row = dict[str, int | float | str]


class Table:
    """Rows by epoch, and the text of each, which is made anew only where something came.

    Columns stand in the order in which their series first came.
    """

    def __init__(self, rows: Mapping[int, Row] | None = None) -> None:
        self.rows: dict[int, Row] = dict(rows or {})
        self._columns = list(dict.fromkeys(name for row in self.rows.values() for name in row))
        self._known = set(self._columns)
        self._lines: dict[int, str] = {}

    def put(self, epoch: int, name: str, value: float | str) -> None:
        """Take the value of a series at an epoch."""
        self.rows.setdefault(epoch, {})[name] = value
        self._lines.pop(epoch, None)
        if name not in self._known:
            self._known.add(name)
            self._columns.append(name)
            self._lines.clear()

    def text(self) -> str:
        """The table as CSV."""
        for epoch, row in self.rows.items():
            if epoch not in self._lines:
                self._lines[epoch] = _line([epoch, *(row.get(name, "") for name in self._columns)])
        return "".join([_line(["", *self._columns]), *(self._lines[epoch] for epoch in sorted(self.rows))])


def _line(cells: Sequence[float | str]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerow(cells)
    return text.getvalue()


def read_csv(path: Path) -> dict[int, Row]:
    """The rows by epoch; empty cells are left out.

    Raises:
        StatisticsFileError: the file cannot be read, or is no such table.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=";") if line]
    except OSError as error:
        raise StatisticsFileError(f"{path} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise _no_table(path, "it is not such a text") from error
    if not lines or len(set(lines[0])) != len(lines[0]):
        raise _no_table(path, "it has no header" if not lines else "two columns have one name")
    return dict(_row(path, number, lines[0], line) for number, line in enumerate(lines[1:], 1))


def _row(path: Path, number: int, names: list[str], cells: list[str]) -> tuple[int, Row]:
    if len(cells) != len(names):
        raise _no_table(path, f"row {number} has {len(cells)} cells and the header {len(names)}")
    if not cells[0].isdecimal() or len(cells[0]) > _DIGITS:
        raise _no_table(path, f"row {number} begins with {cells[0][:20]!r} and not with its epoch")
    return int(cells[0]), {
        name: _value(cell) for name, cell in zip(names[1:], cells[1:], strict=True) if cell
    }


def _value(cell: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _no_table(path: Path, reason: str) -> StatisticsFileError:
    return StatisticsFileError(
        f"{path} is no table of statistics (epochs as rows, columns parted by semicolons): {reason}."
    )
