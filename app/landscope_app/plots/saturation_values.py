"""The statistics of a layer that can be shown, and how their values are written."""

from __future__ import annotations

from dataclasses import dataclass

from landscope.contract.deltas import LayerSaturation
from landscope_app.plots.numbers import percent, short, whole


@dataclass(frozen=True)
class Statistic:
    """A statistic of a layer: its field in ``LayerSaturation``, its title, whether share or count."""

    key: str
    title: str
    share: bool = False
    counted: bool = False


STATISTICS = (
    Statistic("lsat", "Saturation", share=True),
    Statistic("idim", "Intrinsic dimension", counted=True),
    Statistic("participation_ratio", "Participation ratio"),
    Statistic("effective_rank", "Effective rank"),
    Statistic("trace", "Total variance"),
)


def written(value: float, statistic: Statistic) -> str:
    """A value as it stands beside a bar."""
    return percent(value) if statistic.share else _number(value, statistic)


def exact(value: float, statistic: Statistic) -> str:
    """A value as it is told when asked for."""
    return percent(value, 1) if statistic.share else _number(value, statistic)


def without_spectrum(layer: LayerSaturation) -> str:
    """Why nothing of a layer varies, as a sentence without its end; empty = something does."""
    if float(layer.spectrum.sum()) > 0.0:
        return ""
    if not layer.samples:
        return f"{'No finite row' if layer.nonfinite else 'No row'} of {layer.layer} was seen here"
    if layer.samples == 1:
        return f"{layer.layer} has a single row here, which cannot vary"
    return f"The output of {layer.layer} never varies here"


def _number(value: float, statistic: Statistic) -> str:
    """Directions are whole numbers; their mean need not be."""
    return whole(value) if statistic.counted and value.is_integer() else short(value)
