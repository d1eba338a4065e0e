"""The saturation of a run at one checkpoint as a bar chart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from landscope.contract.deltas import LayerSaturation, NotObserved, SaturationMeasured
from landscope.session.model import Saturation, Session
from landscope.session.threshold import at_threshold
from landscope_app.plots.charts import Bar, BarChart
from landscope_app.plots.numbers import count, percent, short


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
EMPTY = "How full each layer is appears here as soon as the first checkpoint has been measured."


def saturation_of(session: Session, run: str, mode: str = "train") -> Saturation | None:
    """The saturation of a run in a mode; in any other where that one was not measured."""
    found = {s.mode: s for s in session.saturation.values() if s.run == run}
    return found.get(mode) or next(iter(found.values()), None)


def saturation_chart(
    session: Session,
    run: str,
    checkpoint: str,
    key: str = "lsat",
    mode: str = "train",
    threshold: float | None = None,
) -> BarChart:
    """One bar per layer in forward order; marks show the run's first measured checkpoint.

    ``threshold``: another share of the variance than the one that was measured with; None = that one.

    Raises:
        KeyError: there is no such statistic.
        OptionError: not 0 < threshold ≤ 1.
    """
    statistic = {s.key: s for s in STATISTICS}[key]
    saturation = saturation_of(session, run, mode)
    if saturation is None or not saturation.measured:
        return BarChart(title=statistic.title, bars=(), empty=EMPTY)
    measured = saturation.measured.get(checkpoint)
    if measured is None:
        return BarChart(title=statistic.title, bars=(), empty=f"“{checkpoint}” has not been measured yet.")
    names = session.runs[run].names if run in session.runs else ()
    first = _first_measured(saturation, names, checkpoint)
    shown = at_threshold(measured, threshold)
    before = at_threshold(first, threshold) if first is not None else None
    bars = _bars(shown, before, statistic)
    return BarChart(
        title=f"{run} · {statistic.title.lower()} at {checkpoint}",
        bars=bars,
        high=1.0 if statistic.share else _highest(saturation, bars, statistic),
        note=_note(shown, statistic, measured.threshold),
        mean=_mean(bars),
        mean_text=_written(_mean(bars), statistic),
        reference_title=f"at {first.checkpoint}" if first is not None else "",
    )


def _first_measured(
    saturation: Saturation, names: tuple[str, ...], checkpoint: str
) -> SaturationMeasured | None:
    first = next((n for n in names if n in saturation.measured), None)
    return saturation.measured[first] if first is not None and first != checkpoint else None


def _bars(
    measured: SaturationMeasured, first: SaturationMeasured | None, statistic: Statistic
) -> tuple[Bar, ...]:
    before = {layer.layer: layer for layer in first.layers} if first is not None else {}
    bars = [_bar(layer, before.get(layer.layer), statistic) for layer in measured.layers]
    return (*bars, *(_unseen(missing) for missing in measured.not_observed))


def _bar(layer: LayerSaturation, before: LayerSaturation | None, statistic: Statistic) -> Bar:
    value = float(getattr(layer, statistic.key))
    text = _written(value, statistic)
    if "dead" in layer.flags:
        text = "dead"
    elif not math.isfinite(value):
        text = "NaN"
    reference = float(getattr(before, statistic.key)) if before is not None else float("nan")
    return Bar(layer.layer, value, text, _detail(layer), reference, layer.flags)


def _unseen(missing: NotObserved) -> Bar:
    return Bar(
        missing.layer,
        float("nan"),
        "not observed",
        f"{missing.layer}: {missing.reason}",
        flags=("not_observed",),
    )


def _detail(layer: LayerSaturation) -> str:
    lines = [
        f"{layer.layer} · {layer.kind}",
        f"{count(layer.idim)} of {count(layer.dimension)} dimensions ({percent(layer.lsat, 1)})",
        f"participation ratio {short(layer.participation_ratio)} · "
        f"effective rank {short(layer.effective_rank)} · variance {short(layer.trace)}",
        f"n = {count(layer.samples)} rows",
    ]
    if "too_few_samples" in layer.flags:
        lines.append("Fewer than 10 rows per dimension: too few for a trustworthy value.")
    if "dead" in layer.flags:
        lines.append("The output never varies: a dead layer.")
    if layer.nonfinite:
        lines.append(f"{count(layer.nonfinite)} rows with NaN or inf were left out.")
    return "\n".join(lines)


def _note(measured: SaturationMeasured, statistic: Statistic, threshold: float) -> str:
    parts = []
    if statistic.key in ("lsat", "idim"):
        other = f" (measured with {_share(threshold)})" if measured.threshold != threshold else ""
        parts.append(f"{_share(measured.threshold)} of the variance{other}")
    samples = measured.settings.get("samples")
    if isinstance(samples, int):
        so_far = " so far" if measured.settings.get("partial") else ""
        parts.append(f"{count(samples)} samples{so_far}")
    parts.append(measured.mode)
    return " · ".join(parts)


def _share(threshold: float) -> str:
    return percent(threshold, 1).replace(".0 %", " %")


def _highest(saturation: Saturation, bars: tuple[Bar, ...], statistic: Statistic) -> float:
    """The largest value over all checkpoints, so that bars keep their scale while stepping."""
    values = [
        float(getattr(layer, statistic.key)) for one in saturation.measured.values() for layer in one.layers
    ]
    finite = [v for v in (*values, *(b.value for b in bars)) if math.isfinite(v)]
    return max(finite, default=1.0) or 1.0


def _mean(bars: tuple[Bar, ...]) -> float:
    values = np.array([b.value for b in bars], float)
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else float("nan")


def _written(value: float, statistic: Statistic) -> str:
    return percent(value) if statistic.share else short(value)
