"""All quantities of a checkpoint as a table, a row per layer or parameter; also beside another run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from landscope.session.comparison import counterpart
from landscope.session.model import Distances, Session
from landscope_app.plots.distance_chart import EMPTY
from landscope_app.plots.distance_rows import Owner, layers, parameters
from landscope_app.plots.numbers import short
from landscope_app.plots.quantities import Quantity, offered, quantity_title, rows_of
from landscope_app.plots.table_text import lines, number

TOTAL = "all parameters"


@dataclass(frozen=True)
class Column:
    """A quantity of a run.

    Attributes:
        values: (R,), NaN = undefined. broken: (R,) rows whose weights are not finite: they have no norm.
    """

    quantity: Quantity
    title: str
    run: str
    values: NDArray[np.float64]
    broken: NDArray[np.bool_]

    def text(self, row: int) -> str:
        """A value as written: “–” where it is undefined, “NaN” where weights are not finite."""
        nothing = bool(self.broken[row]) and not np.isfinite(self.values[row])
        return "NaN" if nothing else short(float(self.values[row]))


@dataclass(frozen=True)
class DistanceTable:
    """Rows and columns.

    Attributes:
        rows: the total first, then layers or parameters in model order, then what only the other run has.
        notes: (R) what is to be known about each. columns: quantities. title: of what.
        note: what it is compared with. empty: sentence where there is nothing.
    """

    title: str
    rows: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    note: str = ""
    empty: str = ""


def distance_table(
    session: Session, run: str, checkpoint: str, *, by_parameter: bool = False, other: str = ""
) -> DistanceTable:
    """All quantities that a run has at a checkpoint."""
    distances = session.distances.get(run) or session.gradients.get(run)
    if distances is None or not distances.measured:
        return DistanceTable("", empty=EMPTY)
    there, note = _counterpart(session, run, checkpoint, other)
    owners = _owners(distances, by_parameter)
    beside = rows_of(session, other, "distance") if there else None
    theirs = _owners(beside, by_parameter) if beside is not None else ()
    rows, notes = _rows(owners, theirs, other)
    columns = []
    for quantity in offered(session, run):
        for name, at in ((run, checkpoint), (other, there)):
            if at:
                columns.append(_column(session, quantity, name, at, rows, by_parameter, two=bool(there)))
    return DistanceTable(f"{run} · {checkpoint}", rows, notes, tuple(columns), note)


def table_text(table: DistanceTable, order: list[int] | None = None) -> str:
    """Tab-separated lines with a head; undefined cells are empty."""
    kept = range(len(table.rows)) if order is None else order
    head = ("name", *(column.title for column in table.columns), "note")
    return lines(
        head,
        ((table.rows[k], *(number(float(c.values[k])) for c in table.columns), table.notes[k]) for k in kept),
    )


def _owners(distances: Distances, by_parameter: bool) -> tuple[Owner, ...]:
    found = (parameters if by_parameter else layers)(distances.opened)
    return (Owner(TOTAL), *found)


def _rows(
    owners: tuple[Owner, ...], theirs: tuple[Owner, ...], other: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ours, there = {one.name for one in owners}, {one.name for one in theirs}
    rows, notes = [], []
    for one in owners:
        missing = bool(theirs) and one.name not in there
        rows.append(one.name)
        notes.append("; ".join(filter(None, (one.note, f"not in {other}" if missing else ""))))
    for one in theirs:
        if one.name not in ours:
            rows.append(one.name)
            notes.append("; ".join(filter(None, (one.note, f"only in {other}"))))
    return tuple(rows), tuple(notes)


def _column(
    session: Session,
    quantity: Quantity,
    run: str,
    checkpoint: str,
    rows: tuple[str, ...],
    by_parameter: bool,
    *,
    two: bool,
) -> Column:
    found = rows_of(session, run, quantity.key)
    title = quantity_title(quantity, found)
    values = _values(found, checkpoint, quantity.key, rows, by_parameter)
    norms = _values(session.distances.get(run), checkpoint, "norm", rows, by_parameter)
    broken = np.isnan(norms) & _has(session.distances.get(run), rows, by_parameter)
    return Column(quantity, f"{title}, {run}" if two else title, run, values, broken)


def _values(
    found: Distances | None, checkpoint: str, key: str, rows: Sequence[str], by_parameter: bool
) -> NDArray[np.float64]:
    """(R,) the values of the rows that a run has, NaN for others."""
    measured = found.measured.get(checkpoint) if found is not None else None
    if found is None or measured is None:
        return np.full(len(rows), np.nan)
    names = found.opened.parameters if by_parameter else found.opened.layers
    there = (measured.parameters if by_parameter else measured.layers).get(key)
    known = {} if there is None else dict(zip(names, map(float, there), strict=True))
    known[TOTAL] = measured.total.get(key, float("nan"))
    return np.array([known.get(name, np.nan) for name in rows], float)


def _has(found: Distances | None, rows: Sequence[str], by_parameter: bool) -> NDArray[np.bool_]:
    """(R,) which rows a run has at all."""
    if found is None:
        return np.zeros(len(rows), bool)
    names = {TOTAL, *(found.opened.parameters if by_parameter else found.opened.layers)}
    return np.array([name in names for name in rows], bool)


def _counterpart(session: Session, run: str, checkpoint: str, other: str) -> tuple[str, str]:
    """The checkpoint of the other run that corresponds, and why it is that one; empty where there is none."""
    runs = session.runs
    if not other or other == run or not {run, other} <= runs.keys() or other not in session.distances:
        return "", ""
    found = counterpart(runs[run], checkpoint, runs[other])
    return (found.checkpoint, f"{other}: {found.checkpoint}, {found.how}") if found else ("", "")
