"""One bar per layer, alone or beside the layer of that name in another run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from landscope.contract.deltas import LayerSaturation, NotObserved, SaturationMeasured
from landscope.session.comparison import LayerPair, alike, missing_reason, paired
from landscope_app.plots.against import Against
from landscope_app.plots.charts import Bar
from landscope_app.plots.numbers import count, percent, short, signed, whole
from landscope_app.plots.saturation_values import Statistic, exact, written


def layer_bars(
    measured: SaturationMeasured,
    first: SaturationMeasured | None,
    beside: Against | None,
    statistic: Statistic,
) -> tuple[Bar, ...]:
    """Bars in forward order, then what was not observed, then what only the compared run has.

    Args:
        measured: the layers. first: where the same values stood at first; None = not known.
        beside: the run to compare with, or None. statistic: what is shown.

    Raises:
        OptionError: not 0 < threshold ≤ 1.
    """
    before = {layer.layer: layer for layer in first.layers} if first is not None else {}
    bars = [_bar(layer, before.get(layer.layer), statistic) for layer in measured.layers]
    bars += [_unseen(missing) for missing in measured.not_observed]
    if beside is None or beside.measured is None:
        return tuple(bars)
    other = alike(measured, measured.threshold, beside.measured)
    ours = {bar.label: bar for bar in bars}
    return tuple(_beside(ours.get(pair.layer), pair, other, statistic) for pair in paired(measured, other))


def _bar(layer: LayerSaturation, before: LayerSaturation | None, statistic: Statistic) -> Bar:
    value = float(layer.value(statistic.key))
    text = written(value, statistic)
    if "dead" in layer.flags:
        text = "dead"
    elif not math.isfinite(value):
        text = "NaN"
    return Bar(
        layer.layer,
        value,
        text,
        partial(_detail, layer),
        float(before.value(statistic.key)) if before is not None else float("nan"),
        layer.flags,
        dimension=layer.dimension,
        samples=layer.samples,
        readout=f"{exact(value, statistic)} · {_size(layer)}",
    )


def _unseen(missing: NotObserved) -> Bar:
    return Bar(
        missing.layer,
        float("nan"),
        "not observed",
        partial(str, f"{missing.layer}: {missing.reason}"),
        flags=("not_observed",),
        readout=missing.reason,
    )


def _beside(bar: Bar | None, pair: LayerPair, other: SaturationMeasured, statistic: Statistic) -> Bar:
    """The bar of a layer with the value of the other run; without a bar, what only that run has."""
    if pair.second is None:
        assert bar is not None, "a pair has at least one side"
        said = f"{other.run}: {missing_reason(other, pair.layer)}"
        flags = bar.flags if "not_observed" in bar.flags else (*bar.flags, "unmatched")
        return replace(
            bar, flags=flags, tell=partial(_joined, bar.tell, said), readout=f"{bar.readout} · {said}"
        )
    value = float(pair.second.value(statistic.key))
    theirs = f"{other.run} {exact(value, statistic)}"
    if bar is None or pair.first is None:
        return _only_there(bar, pair.second, f"only in {theirs}", value)
    change = signed(pair.difference(statistic.key), statistic.share, statistic.counted)
    size = _size(pair.second)
    differs = "" if size == _size(pair.first) else f" ({other.run}: {size})"
    return replace(
        bar,
        other=value,
        tell=partial(_joined, bar.tell, f"{theirs}, difference {change}{differs}"),
        readout=f"{exact(bar.value, statistic)}, {theirs}, {change} · {_size(pair.first)}{differs}",
    )


def _only_there(bar: Bar | None, layer: LayerSaturation, text: str, value: float) -> Bar:
    reason = f"\nNot observed here: {bar.readout}" if bar is not None else ""
    return Bar(
        layer.layer,
        float("nan"),
        text,
        partial(_joined, partial(_detail, layer), f"{text}{reason}"),
        flags=("only_other",),
        other=value,
        readout=f"{text} · {_size(layer)}",
    )


def _joined(tell: Callable[[], str], more: str) -> str:
    return f"{tell()}\n{more}"


def _size(layer: LayerSaturation) -> str:
    return f"n {count(layer.samples)} · D {count(layer.dimension)}"


def _detail(layer: LayerSaturation) -> str:
    lines = [
        f"{layer.layer} · {layer.kind}",
        f"{whole(layer.value('idim'))} of {count(layer.dimension)} dimensions ({percent(layer.lsat, 1)})",
        f"participation ratio {short(layer.participation_ratio)} · "
        f"effective rank {short(layer.effective_rank)} · variance {short(layer.trace)}",
        f"n {count(layer.samples)} rows · D {count(layer.dimension)} features",
    ]
    if "too_few_samples" in layer.flags:
        lines.append("Fewer than 10 rows per dimension: too few for a trustworthy value.")
    if "dead" in layer.flags:
        lines.append("The output never varies: a dead layer.")
    if "sampled" in layer.flags:
        lines.append("Not all rows were taken, but a sample of them.")
    if layer.nonfinite:
        lines.append(f"{count(layer.nonfinite)} rows with NaN or inf were left out.")
    return "\n".join(lines)
