"""What a run is compared with: the checkpoint of another run that corresponds, and what it measured."""

from __future__ import annotations

from dataclasses import dataclass

from landscope.contract.deltas import SaturationMeasured
from landscope.session.comparison import counterpart, saturation_of
from landscope.session.model import Session
from landscope_app.plots.saturation_how import unlike


@dataclass(frozen=True)
class Against:
    """Another run at the checkpoint that corresponds.

    Attributes:
        run: its name. checkpoint, how: as in ``Counterpart``; empty where there is none.
        measured: its saturation there; None = not measured. unlike: how that was measured otherwise.
    """

    run: str
    checkpoint: str = ""
    how: str = ""
    measured: SaturationMeasured | None = None
    unlike: str = ""

    @property
    def note(self) -> str:
        """Which checkpoint of which run, or why there is none, in one line."""
        if not self.checkpoint:
            return f"{self.run}: no checkpoint corresponds"
        if self.measured is None:
            return f"{self.run}: {self.checkpoint} ({self.how}) has not been measured yet"
        otherwise = f", {self.unlike}" if self.unlike else ""
        return f"{self.run}: {self.checkpoint}, {self.how}{otherwise}"


def against(session: Session, run: str, checkpoint: str, other: str, mode: str) -> Against | None:
    """What to compare a checkpoint with; None where no other run is named."""
    if not other or other == run or not {run, other} <= session.runs.keys():
        return None
    found = counterpart(session.runs[run], checkpoint, session.runs[other])
    if found is None:
        return Against(other)
    saturation = saturation_of(session, other, mode)
    measured = saturation.measured.get(found.checkpoint) if saturation is not None else None
    ours = saturation_of(session, run, mode)
    mine = ours.measured.get(checkpoint) if ours is not None else None
    otherwise = unlike(measured, mine) if measured is not None and mine is not None else ""
    return Against(other, found.checkpoint, found.how, measured, otherwise)
