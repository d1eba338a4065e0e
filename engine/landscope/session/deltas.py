"""A session as the deltas that rebuild its results: for the reader process and the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.contract import deltas as d
from landscope.session.model import SAMPLED, Distances, Line, Plane, Run, Session


def as_deltas(session: Session) -> Iterator[d.AnyDelta]:
    """Applied to an empty session, they give all runs, results and provenance of this one."""
    for run in session.runs.values():
        yield from _run(run)
    for saturation in session.saturation.values():
        yield from saturation.measured.values()
    for distances in (*session.distances.values(), *session.gradients.values()):
        yield from _distances(distances)
    yield from session.similarities.values()
    for line in session.lines.values():
        yield from _line(line)
    for plane in session.planes.values():
        yield from _plane(plane)
    if session.provenance:
        yield d.Provenance(facts=dict(session.provenance))


def _run(run: Run) -> Iterator[d.AnyDelta]:
    yield d.RunListed(run=run.name, folder=run.folder, checkpoints=run.checkpoints, others=run.others)
    for measured in run.measured.values():
        yield from measured.values()


def _distances(distances: Distances) -> Iterator[d.AnyDelta]:
    yield distances.opened
    yield from distances.measured.values()
    if distances.matrices is not None:
        yield distances.matrices


def _line(line: Line) -> Iterator[d.AnyDelta]:
    yield line.opened
    for where, values in _points(line.values, line.state):
        yield d.LinePoints(id=line.opened.id, indices=where[0], values=values)


def _plane(plane: Plane) -> Iterator[d.AnyDelta]:
    yield plane.opened
    for where, values in _points(plane.values, plane.state):
        yield d.PlanePoints(id=plane.opened.id, rows=where[0], columns=where[1], values=values)
    for points, surplus in plane.levels.items():
        yield d.PlaneLevel(id=plane.opened.id, points=points, surplus=surplus)
    yield from plane.trajectories.values()


def _points(
    values: dict[str, NDArray[np.float64]], state: NDArray[np.uint8]
) -> Iterator[tuple[tuple[NDArray[np.intp], ...], dict[str, Any]]]:
    """Where something was measured, and what: the sampled points, then metrics known without a loss.

    A metric is sent even where it has no points, so that it exists afterwards.
    """
    sampled = state == SAMPLED
    where = np.nonzero(sampled)
    if values:
        yield where, {metric: grid[where] for metric, grid in values.items()}
    for metric, grid in values.items():
        alone = np.nonzero(~sampled & ~np.isnan(grid))
        if metric != "loss" and len(alone[0]):
            yield alone, {metric: grid[alone]}
