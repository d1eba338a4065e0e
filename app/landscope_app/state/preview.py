"""How far a plane goes by itself, without Qt: a preview inside a budget, the rest when asked for."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = (5, 9, 17, 33, 65, 129)
BUDGET_S = 30.0


@dataclass(frozen=True)
class Refinement:
    """What is left of a plane: from ``points`` to ``grid`` per axis, about ``seconds`` (None = unknown)."""

    points: int
    grid: int
    seconds: float | None

    @property
    def evaluations(self) -> int:
        """How many points are still to be measured."""
        return self.grid**2 - self.points**2


def next_level(points: int, grid: int) -> int:
    """The nested grid after ``points`` on the way to ``grid``; ``grid`` itself at the end."""
    return next((level for level in LEVELS if points < level <= grid), grid)


def stops_here(points: int, grid: int, worked_s: float, budget_s: float = BUDGET_S) -> bool:
    """Whether a preview ends with this level: the next would not fit into the budget any more.

    The time of a level is proportional to the points it adds; ``worked_s`` was spent on ``points``².
    """
    if points >= grid or points < LEVELS[1]:
        return False
    following = next_level(points, grid)
    return worked_s * following**2 / points**2 > budget_s


def preview_evaluations(seconds_each: float, all_of_them: float, budget_s: float = BUDGET_S) -> float:
    """How many points a preview will measure, at most ``all_of_them``: as ``stops_here`` decides."""
    wanted = [level**2 for level in LEVELS[1:] if level == LEVELS[1] or level**2 * seconds_each <= budget_s]
    return min(float(wanted[-1]), all_of_them)


def duration(seconds: float | None) -> str:
    """``seconds`` as a person says it: "8 s", "3 min", "1 h 20 min"; empty when unknown."""
    if seconds is None or seconds != seconds or seconds == float("inf"):
        return ""
    if seconds < 59.5:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
