"""Choosing a checkpoint so that plane and line follow to its run, of the same kind where there is one."""

from __future__ import annotations

from dataclasses import replace

from landscope.session.model import Session
from landscope_app.state.selection import Selection, settled


def choose(selection: Selection, session: Session, run: str, checkpoint: str) -> None:
    """Select a checkpoint; in another run also that run's plane of the same kind and its line.

    Going to the run that was compared with compares it with the one that was left.
    """
    chosen = replace(selection.chosen, run=run, checkpoint=checkpoint)
    if run != selection.run:
        chosen = replace(chosen, plane=matching_plane(session, selection.plane, run), line="")
        if chosen.against == run:
            chosen = replace(chosen, against=selection.run)
    selection.restore(settled(chosen, session))


def matching_plane(session: Session, plane: str, run: str) -> str:
    """The id of a plane of ``run`` of the same kind as ``plane``; empty = none."""
    kind = session.planes[plane].opened.kind if plane in session.planes else ""
    return next(
        (name for name, p in session.planes.items() if p.opened.run == run and p.opened.kind == kind), ""
    )


def step(selection: Selection, session: Session, by: int) -> bool:
    """Go ``by`` checkpoints further within the run; False at its ends."""
    run = session.runs.get(selection.run)
    if run is None or selection.checkpoint not in run.names:
        return False
    there = run.names.index(selection.checkpoint) + by
    if not 0 <= there < len(run.names):
        return False
    choose(selection, session, run.name, run.names[there])
    return True
