"""How values are written: few digits, one sign for what is not defined, thousands apart."""

from __future__ import annotations

import math

UNDEFINED = "–"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(value: float | None, digits: int = 3) -> str:
    """A value with about ``digits`` significant digits; NaN and None are "–", infinities "∞"."""
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size != 0 and (size >= 10 ** (digits + 3) or size < 1e-3):
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}·10{str(int(exponent)).translate(_SUPERSCRIPT)}".replace("-", "−")
    if size == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return f"{value:,.{decimals}f}".replace("-", "−")


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage: 0.4567 → "46 %"; NaN is "–"."""
    return f"{100 * share:.{digits}f} %" if math.isfinite(share) else short(share)


def signed(difference: float, share: bool, counted: bool = False) -> str:
    """A difference with its sign, that of shares in percentage points, of counts whole; NaN is "–"."""
    if not math.isfinite(difference):
        return UNDEFINED
    size = abs(difference)
    written = f"{100 * size:.1f} points" if share else whole(size) if counted else short(size)
    return f"{'−' if difference < 0 else '+'}{written}"


def whole(value: float) -> str:
    """A step: without decimals where it is a whole number."""
    return f"{value:,.0f}" if math.isfinite(value) and value == round(value) else short(value, 4)


def count(number: int) -> str:
    """A whole number with thousands apart."""
    return f"{number:,}"


def logarithmic_label(exponent: float) -> str:
    """The tick label of 10 to the ``exponent``: plain from 0.001 to 9,999, else a power of ten."""
    value = 10.0**exponent
    if 1e-3 <= value < 1e4:
        return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
    if abs(exponent - round(exponent)) < 1e-9:
        return f"10{str(round(exponent)).translate(_SUPERSCRIPT)}"
    return short(value, 1)
