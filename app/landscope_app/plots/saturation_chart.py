"""The saturation of a run at one checkpoint as a bar chart."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

import numpy as np

from landscope.contract.deltas import SaturationMeasured
from landscope.session.comparison import alike, saturation_of
from landscope.session.model import Saturation, Session
from landscope.session.threshold import at_threshold
from landscope_app.plots.against import against
from landscope_app.plots.charts import Bar, BarChart
from landscope_app.plots.layer_bars import layer_bars
from landscope_app.plots.numbers import count
from landscope_app.plots.saturation_how import newest, options_told, share_told, unlike
from landscope_app.plots.saturation_values import STATISTICS, Statistic, written

EMPTY = "How full each layer is appears here as soon as the first checkpoint has been measured."


def saturation_chart(
    session: Session,
    run: str,
    checkpoint: str,
    key: str = "lsat",
    mode: str = "train",
    threshold: float | None = None,
    other: str = "",
) -> BarChart:
    """One bar per layer in forward order; marks show the run's first measured checkpoint.

    ``threshold``: another share of the variance than the one that was measured with; None = that one.
    ``other``: a run to compare with, at its checkpoint that corresponds and by the same threshold and rule.

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
    before = alike(shown, shown.threshold, first) if first is not None else None
    beside = against(session, run, checkpoint, other, measured.mode)
    bars = layer_bars(shown, before, beside, statistic)
    moved = shown is not measured and key in ("lsat", "idim")
    if moved:
        bars = _marked(bars, measured, key)
    return BarChart(
        title=f"{run} · {statistic.title.lower()} at {checkpoint}",
        bars=bars,
        high=1.0 if statistic.share else _highest(saturation, bars, statistic),
        note=measurement_note(measured, threshold, key),
        mean=_mean(bars),
        mean_text=written(_mean(bars), statistic),
        reference_title=_reference_title(measured, first) if first is not None else "",
        measured_title=f"with {share_told(measured.threshold)}, as measured" if moved else "",
        value_title=statistic.title,
        other_title=beside.run if beside is not None else "",
        other_note=beside.note if beside is not None else "",
        otherwise=_otherwise(measured, newest(session.runs.get(run), saturation)),
    )


def _reference_title(measured: SaturationMeasured, first: SaturationMeasured) -> str:
    otherwise = unlike(first, measured)
    return f"at {first.checkpoint}" + (f" ({otherwise})" if otherwise else "")


def _otherwise(measured: SaturationMeasured, last: SaturationMeasured | None) -> str:
    otherwise = unlike(measured, last, counted=True) if last is not None else ""
    return f"{otherwise} as at {last.checkpoint}" if last is not None and otherwise else ""


def _first_measured(
    saturation: Saturation, names: tuple[str, ...], checkpoint: str
) -> SaturationMeasured | None:
    first = next((n for n in names if n in saturation.measured), None)
    return saturation.measured[first] if first is not None and first != checkpoint else None


def _marked(bars: tuple[Bar, ...], measured: SaturationMeasured, key: str) -> tuple[Bar, ...]:
    """Bars with a mark where they stood with the threshold of the measurement."""
    stood = {layer.layer: float(layer.value(key)) for layer in measured.layers}
    return tuple(replace(bar, as_measured=stood.get(bar.label, float("nan"))) for bar in bars)


def measurement_note(measured: SaturationMeasured, threshold: float | None, key: str) -> str:
    """How a statistic was measured: share of the variance, samples, split, options that are not the defaults.

    ``threshold``: the share as shown; None = as measured.
    """
    parts = []
    if key in ("lsat", "idim"):
        shown = measured.threshold if threshold is None else threshold
        other = f" (measured with {share_told(measured.threshold)})" if shown != measured.threshold else ""
        parts.append(f"{share_told(shown)} of the variance{other}")
    samples = measured.settings.get("samples")
    if isinstance(samples, int):
        so_far = " so far" if measured.settings.get("partial") else ""
        parts.append(f"{count(samples)} samples{so_far}")
    parts += [measured.mode, options_told(measured)]
    return " · ".join(filter(None, parts))


def _highest(saturation: Saturation, bars: tuple[Bar, ...], statistic: Statistic) -> float:
    """The largest value over all checkpoints, so that bars keep their scale while stepping."""
    field = attrgetter(statistic.key)
    values = [
        np.fromiter(map(field, one.layers), float, len(one.layers)) for one in saturation.measured.values()
    ]
    shown = np.concatenate([*values, [bar.value for bar in bars], [bar.other for bar in bars]])
    return float(shown[np.isfinite(shown)].max(initial=0.0)) or 1.0


def _mean(bars: tuple[Bar, ...]) -> float:
    values = np.array([b.value for b in bars], float)
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else float("nan")
