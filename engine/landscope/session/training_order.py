"""Results in the order of training, for those who read files: analyses visit the last checkpoint first."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from landscope.session.model import Distances, Run, Session

T = TypeVar("T")


def in_training_order(session: Session) -> Session:
    """The same results with every checkpoint in its place of its run; those not listed come last."""
    return replace(
        session,
        runs={
            name: replace(run, measured={split: _ordered(one, run) for split, one in run.measured.items()})
            for name, run in session.runs.items()
        },
        saturation={
            key: replace(one, measured=_ordered(one.measured, session.runs.get(one.run)))
            for key, one in session.saturation.items()
        },
        distances=_distances(session, session.distances),
        gradients=_distances(session, session.gradients),
    )


def _distances(session: Session, found: dict[str, Distances]) -> dict[str, Distances]:
    return {
        key: replace(one, measured=_ordered(one.measured, session.runs.get(one.opened.run)))
        for key, one in found.items()
    }


def _ordered(measured: dict[str, T], run: Run | None) -> dict[str, T]:
    place = {name: k for k, name in enumerate(run.names if run is not None else ())}
    return dict(sorted(measured.items(), key=lambda item: place.get(item[0], len(place))))
