"""How saturation will be measured next, without Qt: its options, its job, what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from landscope.contract import events as e
from landscope.contract.deltas import SaturationMeasured
from landscope.contract.errors import OptionError
from landscope.contract.job import SaturationJob
from landscope.contract.limits import check
from landscope.contract.options import ProjectSpec, SaturationOptions
from landscope.session.model import Session
from landscope_app.state.cost import Cost
from landscope_app.state.opening import for_window


class SaturationChoices(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the next measurement; ``samples`` of the data, 0 = all."""

    options: SaturationOptions = SaturationOptions()
    samples: int = 2048


def from_project(project: ProjectSpec) -> SaturationChoices:
    """What the project says."""
    return SaturationChoices(options=project.saturation or SaturationOptions(), samples=project.data.samples)


def from_view(kept: object, project: ProjectSpec) -> SaturationChoices:
    """What a session kept; what the project says where that is nothing usable."""
    try:
        choices = msgspec.convert(kept, SaturationChoices)
        check(_with(choices, project))
    except (msgspec.ValidationError, OptionError):
        return from_project(project)
    return choices


def for_view(choices: SaturationChoices) -> dict[str, Any]:
    """Plain data for a session."""
    plain: dict[str, Any] = msgspec.to_builtins(choices)
    return plain


def job_of(choices: SaturationChoices, project: ProjectSpec, run: str) -> SaturationJob:
    """The job that the choices ask for."""
    return SaturationJob(project=for_window(_with(choices, project)), run=run, options=choices.options)


def _with(choices: SaturationChoices, project: ProjectSpec) -> ProjectSpec:
    data = replace(project.data, samples=choices.samples)
    return replace(project, data=data, saturation=choices.options)


def names_in(text: str) -> tuple[str, ...]:
    """Names between commas, each once."""
    return tuple(dict.fromkeys(filter(None, (part.strip() for part in text.split(",")))))


def known_names(session: Session, run: str) -> tuple[str, ...]:
    """Modules and classes of a run's model that results have told of, sorted.

    Layers that were observed or not, every module with weights, and the modules that hold them.
    """
    found: set[str] = set()
    for saturation in (s for s in session.saturation.values() if s.run == run):
        for measured in saturation.measured.values():
            found.update(one.layer.partition("#")[0] for one in measured.layers)
            found.update(one.kind for one in measured.layers)
            found.update(one.layer for one in measured.not_observed)
    if run in session.distances:
        found.update(session.distances[run].opened.layers)
    for name in tuple(found):
        parts = name.split(".")
        found.update(".".join(parts[:k]) for k in range(1, len(parts)))
    return tuple(sorted(filter(None, found)))


@dataclass
class _Clock:
    began: float
    checkpoints: int = 0


class SaturationPace:
    """Seconds per checkpoint and sample of each run, from the results of a job as they arrive."""

    def __init__(self) -> None:
        self._pace: dict[str, float] = {}
        self._clocks: dict[str, _Clock] = {}

    def take(self, event: e.Event, now: float) -> None:
        """Take in an event that came at ``now`` seconds: the time between complete checkpoints counts."""
        body = event.body
        if isinstance(body, (e.Paused, *e.ENDINGS)):
            self._clocks.pop(event.job, None)
        elif isinstance(body, e.Partial) and isinstance(body.delta, SaturationMeasured):
            self._measured(event.job, body.delta, now)

    def expect(self, run: str, checkpoints: int, samples: int) -> Cost:
        """What so many checkpoints will take; seconds None = nothing like it was measured yet."""
        pace = self._pace.get(run)
        known = pace is not None and samples > 0
        return Cost(checkpoints, pace * checkpoints * samples if pace is not None and known else None)

    def _measured(self, job: str, delta: SaturationMeasured, now: float) -> None:
        samples = delta.settings.get("samples")
        if delta.settings.get("partial") or not isinstance(samples, int) or samples <= 0:
            return
        clock = self._clocks.setdefault(job, _Clock(now, -1))
        clock.checkpoints += 1
        if clock.checkpoints and now > clock.began:
            self._pace[delta.run] = (now - clock.began) / clock.checkpoints / samples
