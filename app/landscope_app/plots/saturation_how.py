"""How saturation was measured, in words, and what makes two measurements unlike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from landscope.contract.deltas import SaturationMeasured
from landscope.contract.options import SaturationOptions, Setting
from landscope.session.model import Run, Saturation
from landscope_app.plots.numbers import count, percent

_DEFAULTS = SaturationOptions()


def options_told(measured: SaturationMeasured) -> str:
    """The options that are not the defaults; empty where all are."""
    named = ("conv_method", "timeseries_method", "idim_rule", "row_share")
    usual = {name: getattr(_DEFAULTS, name) for name in named}
    mine = {name: _setting(measured, name) for name in named}
    return " · ".join(_told(mine, name) for name in named if mine[name] != usual[name])


def unlike(measured: SaturationMeasured, other: SaturationMeasured, *, counted: bool = False) -> str:
    """How one was measured where another was not, such as "maps mean, not channelwise"; empty = alike.

    ``counted``: both are shown as they were counted then, so that the rule and the threshold matter, too.
    """
    return " · ".join(_differences(measured, other, counted))


def share_told(share: float) -> str:
    """A share in per cent, to a tenth where it is not whole."""
    return percent(share, 1).replace(".0 %", " %")


def newest(run: Run | None, saturation: Saturation) -> SaturationMeasured | None:
    """What was measured at the run's last checkpoint: every measurement begins there."""
    names = run.names if run is not None else ()
    found = next((name for name in reversed(names) if name in saturation.measured), None)
    return saturation.measured[found] if found is not None else None


def _differences(one: SaturationMeasured, other: SaturationMeasured, counted: bool) -> Iterator[str]:
    names = ["conv_method", "timeseries_method", "row_share"]
    names += ["idim_rule", "threshold"] if counted else []
    whole = not (one.settings.get("partial") or other.settings.get("partial"))
    if whole and {"samples"} <= one.settings.keys() & other.settings.keys():
        names.append("samples")
    mine = {name: _setting(one, name) for name in names}
    theirs = {name: _setting(other, name) for name in names}
    for name in names:
        if mine[name] != theirs[name]:
            yield f"{_told(mine, name)}, not {_told(theirs, name, short=True)}"
    if one.mode != other.mode:
        yield f"{one.mode}, not {other.mode}"


def _setting(measured: SaturationMeasured, name: str) -> Setting:
    """A setting; files from before there was a choice were measured with the default."""
    if name == "threshold":
        return measured.threshold
    return measured.settings.get(name, getattr(_DEFAULTS, name, None))


def _told(settings: Mapping[str, Setting], name: str, *, short: bool = False) -> str:
    value = settings[name]
    if name == "conv_method":
        return str(value) if short else f"maps {value}"
    if name == "timeseries_method":
        return "every step" if value == "timestepwise" else "last step"
    if name == "idim_rule":
        return "delve's rule" if value == "delve" else "fewest directions"
    if name == "threshold":
        return f"{share_told(float(value or 0))} of the variance"
    if name == "samples":
        return f"{count(int(value or 0))} samples"
    share = float(value or 0)
    return "all rows" if share == 1.0 else f"{share_told(share)} of the rows"
