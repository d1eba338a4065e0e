"""The statistics of a layer that can be shown, and how their values are written."""

from __future__ import annotations

from dataclasses import dataclass

from landscope_app.plots.numbers import percent, short


@dataclass(frozen=True)
class Statistic:
    """A statistic of a layer: its field in ``LayerSaturation``, its title, whether it is a share of 1."""

    key: str
    title: str
    share: bool = False


STATISTICS = (
    Statistic("lsat", "Saturation", share=True),
    Statistic("idim", "Intrinsic dimension"),
    Statistic("participation_ratio", "Participation ratio"),
    Statistic("effective_rank", "Effective rank"),
    Statistic("trace", "Total variance"),
)


def written(value: float, statistic: Statistic) -> str:
    """A value as it stands beside a bar."""
    return percent(value) if statistic.share else short(value)


def exact(value: float, statistic: Statistic) -> str:
    """A value as it is told when asked for."""
    return percent(value, 1) if statistic.share else short(value)
