"""Round tick positions and their texts, for linear and for log10 axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Ticks:
    """Positions on the displayed axis, increasing, and one text for each."""

    positions: npt.NDArray[np.float64]
    texts: tuple[str, ...]


def nice_step(span: float, count: int) -> float:
    """Return the smallest of 1, 2, 2.5, 5 × 10ⁿ that cuts `span` into at most `count` parts."""
    raw = span / max(count, 1)
    unit = 10.0 ** np.floor(np.log10(raw))
    return float(next(step * unit for step in STEPS if step * unit >= raw * (1 - 1e-9)))


@lru_cache(maxsize=128)
def axis_ticks(low: float, high: float, count: int, log_scale: bool = False) -> Ticks:
    """Return about `count` ticks within [low, high]; with `log_scale` the axis is log10 of the value.

    Kept, because a turning picture asks for the same ticks at every frame; the positions are read-only.
    """
    ticks = _log_ticks(low, high, count) if log_scale else _linear_ticks(low, high, count)
    ticks.positions.setflags(write=False)
    return ticks


def _linear_ticks(low: float, high: float, count: int) -> Ticks:
    step = nice_step(high - low, count)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    positions = np.arange(first, last + 0.5) * step
    positions[np.abs(positions) < step * 1e-9] = 0.0
    return Ticks(positions, _linear_texts(positions, step))


def _linear_texts(positions: npt.NDArray[np.float64], step: float) -> tuple[str, ...]:
    largest = float(np.abs(positions).max(initial=step))
    if largest >= 1e5 or step < 1e-4:
        return tuple(scientific(float(p)) for p in positions)
    mantissa = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
    extra = 1 if abs(mantissa - 2.5) < 1e-6 else 0
    decimals = max(0, int(-np.floor(np.log10(step) + 1e-9)) + extra)
    return tuple(_signed(f"{p:.{decimals}f}") for p in positions)


def _log_ticks(low: float, high: float, count: int) -> Ticks:
    decades = high - low
    if decades >= max(count, 2):
        every = int(np.ceil(decades / count))
        exponents = np.arange(np.ceil(low / every - 1e-9) * every, high + 1e-9, every)
        return Ticks(exponents, tuple(power_text(float(e)) for e in exponents))
    for parts in ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        marks = _marks(low, high, parts)
        if marks.size >= min(count, 4):
            return Ticks(marks, tuple(power_text(float(m)) for m in marks))
    values = _linear_ticks(10.0**low, 10.0**high, count)
    positive = values.positions > 0
    texts = tuple(t for t, keep in zip(values.texts, positive, strict=True) if keep)
    return Ticks(np.log10(values.positions[positive]), texts)


def _marks(low: float, high: float, parts: tuple[float, ...]) -> npt.NDArray[np.float64]:
    decades = np.arange(np.floor(low), np.ceil(high) + 1)
    marks = (decades[:, None] + np.log10(np.asarray(parts))[None, :]).ravel()
    return np.asarray(marks[(marks >= low - 1e-9) & (marks <= high + 1e-9)])


def power_text(exponent: float) -> str:
    """Write 10^exponent briefly: plain between 0.001 and 10,000, as a power outside."""
    value = 10.0**exponent
    if 0.999e-3 <= value < 1e4:
        return f"{value:.6g}" if value >= 1 else f"{value:.2g}"
    return scientific(value)


def scientific(value: float) -> str:
    """Write a value as mantissa × 10ⁿ, without the mantissa where it is 1."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.3e}".split("e")
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPT)
    short = f"{float(mantissa):g}"
    return power if short == "1" else _signed(f"{short}×{power}")


def _signed(text: str) -> str:
    return text.replace("-", "−")
