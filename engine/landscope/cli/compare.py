"""``landscope saturation compare``: two runs of a session, layer by layer, from the session alone."""

from __future__ import annotations

import argparse
import math

from landscope.cli.output import check_table
from landscope.contract.deltas import LayerSaturation, SaturationMeasured
from landscope.contract.errors import OptionError
from landscope.export.data import write_table
from landscope.export.tables import Cell, Table
from landscope.session.comparison import LayerPair, alike, counterpart, missing_reason, paired, saturation_of
from landscope.session.model import Run, Session
from landscope.session.read import read
from landscope.session.threshold import at_threshold

_STATISTICS = ("lsat", "idim", "dimension", "samples", "trace", "participation_ratio", "effective_rank")


def compare(options: argparse.Namespace) -> int:
    """Print the comparison, or write it as CSV; returns the exit code."""
    session = read(options.session)
    run, other = _run(session, options.run), _run(session, options.other)
    if run is other:
        raise OptionError(f"--run and --with are both “{run.name}”; name two runs.")
    here = options.checkpoint or (run.names[-1] if run.names else "")
    there = counterpart(run, here, other)
    if there is None:
        raise OptionError(f"{run.name} has no checkpoint “{here}”, or {other.name} has none at all.")
    first = at_threshold(_measured(session, run.name, here, options.split), options.threshold)
    second = alike(first, first.threshold, _measured(session, other.name, there.checkpoint, options.split))
    if options.csv is not None:
        check_table(options.csv, options.session)
        print(write_table(_table(first, second), options.csv))
        return 0
    print(f"{run.name} · {here} with {other.name} · {there.checkpoint} ({there.how})")
    modes = first.mode if first.mode == second.mode else f"{first.mode} with {second.mode}"
    print(f"{modes} · saturation at {100 * first.threshold:g} % of the variance\n")
    print("\n".join(_aligned(first, second)))
    return 0


def _run(session: Session, name: str) -> Run:
    if name not in session.runs:
        known = ", ".join(session.runs) or "none"
        raise OptionError(f"This session has no run “{name}”; its runs: {known}.")
    return session.runs[name]


def _measured(session: Session, run: str, checkpoint: str, split: str) -> SaturationMeasured:
    found = saturation_of(session, run, split)
    if found is None or checkpoint not in found.measured:
        raise OptionError(
            f"The saturation of {run} at {checkpoint} has not been measured: landscope run with --only "
            f"saturation measures it."
        )
    return found.measured[checkpoint]


def _table(first: SaturationMeasured, second: SaturationMeasured) -> Table:
    names = (first.run, second.run)
    columns = [
        "layer",
        *(f"{key} {name}" for key in _STATISTICS for name in names),
        "difference of lsat",
        "note",
    ]
    rows = [
        [
            pair.layer,
            *(_cell(layer, key) for key in _STATISTICS for layer in (pair.first, pair.second)),
            pair.difference("lsat"),
            _note(pair, first, second),
        ]
        for pair in paired(first, second)
    ]
    return Table(("saturation", *names), tuple(columns), rows)


def _cell(layer: LayerSaturation | None, key: str) -> Cell:
    return None if layer is None else layer.value(key)


def _aligned(first: SaturationMeasured, second: SaturationMeasured) -> list[str]:
    """Columns that stand below each other: names to the left, numbers to the right."""
    rows = [("layer", first.run, second.run, "difference", "D", "n", "")]
    rows += [
        (
            pair.layer,
            _share(pair.first),
            _share(pair.second),
            _signed(pair.difference("lsat")),
            _both(pair, "dimension"),
            _both(pair, "samples"),
            _note(pair, first, second),
        )
        for pair in paired(first, second)
    ]
    widths = [max(len(row[k]) for row in rows) for k in range(6)]
    return ["  ".join(_columns(row, widths)).rstrip() for row in rows]


def _columns(row: tuple[str, ...], widths: list[int]) -> list[str]:
    numbers = [text.rjust(width) for text, width in zip(row[1:6], widths[1:], strict=True)]
    return [row[0].ljust(widths[0]), *numbers, row[6]]


def _share(layer: LayerSaturation | None) -> str:
    return "–" if layer is None else f"{layer.lsat:.3f}"


def _signed(difference: float) -> str:
    return f"{difference:+.3f}".replace("-", "−") if math.isfinite(difference) else "–"


def _both(pair: LayerPair, key: str) -> str:
    """One number where both runs agree, else "8 / 16"."""
    values = [f"{getattr(one, key):,}" for one in (pair.first, pair.second) if one is not None]
    return " / ".join(dict.fromkeys(values)) or "–"


def _note(pair: LayerPair, first: SaturationMeasured, second: SaturationMeasured) -> str:
    notes = []
    for layer, measured in ((pair.first, first), (pair.second, second)):
        if layer is None:
            notes.append(f"{measured.run}: {missing_reason(measured, pair.layer)}")
        elif layer.flags:
            notes.append(f"{measured.run}: {', '.join(layer.flags).replace('_', ' ')}")
    return "; ".join(notes)
