"""What maps of one run are made of and what stays the same from threshold to threshold."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import SaturationMeasured
from landscope.contract.intrinsic import IdimRule
from landscope.session.comparison import saturation_of
from landscope.session.model import Session
from landscope_app.plots.against import Against, against
from landscope_app.plots.saturation_columns import Column, column_of

UNSEEN = "–"
"""The sign of a cell without a value: not observed, or not in the other run."""


@dataclass(frozen=True)
class Cells:
    """(R, C) signs, features D and rows n of one run; 0 where there is nothing."""

    marks: NDArray[np.str_]
    dimensions: NDArray[np.int64]
    samples: NDArray[np.int64]


@dataclass(frozen=True)
class Frame:
    """Rows and columns of a map, without its values.

    Attributes:
        rows: R layers. ours: C columns. beside: C checkpoints that these are compared with, or none.
        theirs: their columns, None where nothing was measured there.
        ours_cells, theirs_cells: what is in them.
    """

    rows: tuple[str, ...]
    ours: tuple[Column, ...]
    beside: tuple[Against, ...]
    theirs: tuple[Column | None, ...]
    ours_cells: Cells
    theirs_cells: Cells


Steps = Generator[None, None, "Frame"]


class Frames:
    """The frame that was made last, kept as long as nothing in it is measured anew."""

    def __init__(self) -> None:
        self._columns: dict[int, Column] = {}
        self._places: dict[tuple[tuple[str, ...], tuple[str, ...]], NDArray[np.int64]] = {}
        self._sources: tuple[object, ...] = ()
        self._frame: Frame | None = None

    def frame(self, session: Session, run: str, mode: str, other: str) -> Steps:
        """The frame of a run in steps of a few milliseconds, at once where it is there already."""
        sources = _sources(session, run, mode, other)
        if self._frame is None or not _same(sources, self._sources):
            frame = yield from self._made(session, run, mode, other)
            self._frame, self._sources = frame, sources
        return self._frame

    def place(self, layers: tuple[str, ...], rows: tuple[str, ...]) -> NDArray[np.int64]:
        """(K,) the row of each layer."""
        if (layers, rows) not in self._places:
            row = {name: k for k, name in enumerate(rows)}
            self._places[layers, rows] = np.array([row[name] for name in layers], np.int64)
        return self._places[layers, rows]

    def values(
        self,
        columns: Sequence[Column | None],
        rows: tuple[str, ...],
        key: str,
        shares: Sequence[float | None],
        rules: Sequence[IdimRule | None],
    ) -> Generator[None, None, NDArray[np.float64]]:
        """(R, C) a statistic, each column at its own threshold and by its own rule, in steps."""
        found = np.full((len(columns), len(rows)), np.nan)
        for k, (column, share, rule) in enumerate(zip(columns, shares, rules, strict=True)):
            if column is not None:
                found[k, self.place(column.layers, rows)] = column.values(key, share, rule)
                yield
        return found.T

    def _made(self, session: Session, run: str, mode: str, other: str) -> Steps:
        measured, beside = _pairs(session, run, mode, other)
        yield
        theirs = [one.measured for one in beside]
        there = {id(one) for one in (*measured, *theirs)}
        self._columns = {key: column for key, column in self._columns.items() if key in there}
        ours_made = yield from self._made_columns(measured)
        theirs_made = yield from self._made_columns(theirs)
        rows = _rows([*ours_made, *theirs_made])
        self._places = {}
        yield
        ours_cells = yield from self._cells(ours_made, rows)
        theirs_cells = yield from self._cells(theirs_made, rows)
        ours = tuple(one for one in ours_made if one is not None)
        return Frame(rows, ours, tuple(beside), tuple(theirs_made), ours_cells, theirs_cells)

    def _made_columns(
        self, measured: Sequence[SaturationMeasured | None]
    ) -> Generator[None, None, list[Column | None]]:
        made: list[Column | None] = []
        for one in measured:
            if one is not None and id(one) not in self._columns:
                self._columns[id(one)] = column_of(one)
                yield
            made.append(self._columns[id(one)] if one is not None else None)
        return made

    def _cells(self, columns: Sequence[Column | None], rows: tuple[str, ...]) -> Generator[None, None, Cells]:
        shape = (len(columns), len(rows))
        marks, sizes = np.full(shape, UNSEEN), np.zeros((2, *shape), np.int64)
        for k, column in enumerate(columns):
            if column is not None:
                place = self.place(column.layers, rows)
                marks[k, place] = column.marks
                sizes[0, k, place], sizes[1, k, place] = column.dimensions, column.samples
                yield
        return Cells(marks.T, sizes[0].T, sizes[1].T)


def _pairs(
    session: Session, run: str, mode: str, other: str
) -> tuple[list[SaturationMeasured], list[Against]]:
    """Every measured checkpoint of a run in training order, and what each is compared with (or nothing)."""
    saturation = saturation_of(session, run, mode)
    names = session.runs[run].names if run in session.runs else ()
    found = [] if saturation is None else [saturation.measured[n] for n in names if n in saturation.measured]
    beside = [against(session, run, one.checkpoint, other, one.mode) for one in found]
    return found, [one for one in beside if one is not None]


def _sources(session: Session, run: str, mode: str, other: str) -> tuple[object, ...]:
    """Everything that a frame is made of; each of it is replaced, never changed."""
    found: list[object] = [session]
    for name in (run, other):
        saturation = saturation_of(session, name, mode)
        found += saturation.measured.values() if saturation is not None else ()
        found.append(session.runs[name].checkpoints if name in session.runs else None)
    return tuple(found)


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _rows(columns: Sequence[Column | None]) -> tuple[str, ...]:
    """Observed layers in forward order, then those that were observed nowhere."""
    made = [column for column in columns if column is not None]
    different = dict.fromkeys(column.layers for column in made)
    seen = dict.fromkeys(layer for layers in different for layer in layers)
    seen.update(dict.fromkeys(m.layer for column in made for m in column.measured.not_observed))
    return tuple(seen)
