"""A copy of a session at one moment, taken in about a millisecond, to be saved while work goes on."""

from __future__ import annotations

import copy

import msgspec

from landscope.session.model import Distances, Line, Plane, Run, Saturation, Session


def snapshot(session: Session) -> Session:
    """A session that later deltas do not change.

    Deltas are frozen and shared; containers and the arrays that grow in place are copied.
    """
    return msgspec.structs.replace(
        session,
        runs={name: _run(run) for name, run in session.runs.items()},
        saturation={key: _saturation(one) for key, one in session.saturation.items()},
        distances={name: _distances(one) for name, one in session.distances.items()},
        gradients={name: _distances(one) for name, one in session.gradients.items()},
        similarities=dict(session.similarities),
        lines={name: _line(line) for name, line in session.lines.items()},
        planes={name: _plane(plane) for name, plane in session.planes.items()},
        provenance=dict(session.provenance),
        settings=dict(session.settings),
        view=copy.deepcopy(session.view),
        log=list(session.log),
    )


def _run(run: Run) -> Run:
    return msgspec.structs.replace(run, measured={s: dict(found) for s, found in run.measured.items()})


def _saturation(saturation: Saturation) -> Saturation:
    return msgspec.structs.replace(saturation, measured=dict(saturation.measured))


def _distances(distances: Distances) -> Distances:
    return msgspec.structs.replace(distances, measured=dict(distances.measured))


def _line(line: Line) -> Line:
    values = {metric: grid.copy() for metric, grid in line.values.items()}
    return msgspec.structs.replace(line, values=values, state=line.state.copy())


def _plane(plane: Plane) -> Plane:
    return msgspec.structs.replace(
        plane,
        values={metric: grid.copy() for metric, grid in plane.values.items()},
        state=plane.state.copy(),
        levels=dict(plane.levels),
        trajectories=dict(plane.trajectories),
    )
