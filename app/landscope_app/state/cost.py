"""What a plane or line will cost before it is run, without Qt: learnt from those that ran."""

from __future__ import annotations

from dataclasses import dataclass

from landscope.contract.options import LandscapeOptions

RECALIBRATION_FACTOR = 2.3  # one forward more over the data, and 30 % for the statistics
Policy = str


@dataclass(frozen=True)
class Cost:
    """Evaluations and seconds (None = nothing like it has run yet)."""

    evaluations: int
    seconds: float | None


class CostModel:
    """Remembers seconds per evaluation and sample for each run and BatchNorm policy."""

    def __init__(self) -> None:
        self._pace: dict[tuple[str, Policy], float] = {}

    def learn(self, run: str, policy: Policy, samples: int, evaluations: float, seconds: float) -> None:
        """Take in how long ``evaluations`` over ``samples`` took; too short a time says nothing."""
        if evaluations >= 3 and seconds > 0.05:
            self._pace[run, policy] = seconds / evaluations / max(1, samples)

    def expect(self, run: str, policy: Policy, samples: int, evaluations: int) -> Cost:
        """What ``evaluations`` over ``samples`` will take."""
        pace = self._pace.get((run, policy))
        if pace is None:
            other = self._pace.get((run, "recalibrated" if policy == "frozen" else "frozen"))
            factor = 1 / RECALIBRATION_FACTOR if policy == "frozen" else RECALIBRATION_FACTOR
            pace = other * factor if other is not None else None
        return Cost(evaluations, None if pace is None else pace * evaluations * samples)


def policy_of(options: LandscapeOptions, kind: str) -> Policy:
    """What ``auto`` means: frozen for random planes, recalibrated between checkpoints."""
    if options.batchnorm != "auto":
        return options.batchnorm
    return "frozen" if kind == "random" else "recalibrated"
