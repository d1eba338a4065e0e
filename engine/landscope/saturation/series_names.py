"""Names of the series that writers are given, as the original has them: ``train-saturation_fc1``."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from landscope.saturation.spectra import SPECTRUM

SERIES = {
    "lsat": "saturation",
    "idim": "intrinsic-dimensionality",
    "cov": "covariance-matrix",
    "det": "covariance-determinant",
    "trc": "covariance-trace",
    "dtrc": "diagonal-trace",
    "embed": "embedded-samples",
    "spectrum": SPECTRUM.strip("-_"),
    "logdet": "covariance-log-determinant",
    "participation_ratio": "participation-ratio",
    "effective_rank": "effective-rank",
}
"""What a statistic is called in the names of its series."""

LABELS = "_labels"
"""After the name of a series of embedded samples: the labels of those."""

_NAME = re.compile(f"(train|eval)-({'|'.join(SERIES.values())})_(.*)", re.DOTALL)
_AVERAGE = "average-train-sat"


class Named(NamedTuple):
    """The parts of a name."""

    mode: str
    series: str
    layer: str


def series_name(mode: str, stat: str, layer: str) -> str:
    """The name of a statistic of a layer in a mode."""
    return f"{mode}-{SERIES[stat]}_{layer}"


def parts(name: str) -> Named | None:
    """The parts of the name of a statistic of a layer; None for other series."""
    found = _NAME.fullmatch(name)
    return Named(*found.groups()) if found else None


def eval_partner(name: str) -> str | None:
    """The series of evaluation that belongs to a tracker's series of training; None for other series."""
    if name == _AVERAGE or (name.startswith("train-") and parts(name)):
        return name.replace("train-", "eval-", 1)
    return None


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it if it is taken."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
