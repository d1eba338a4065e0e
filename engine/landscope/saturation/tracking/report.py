"""What a tracker tells of one layer after a report: values, flags, and the sentences of the flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from landscope.contract.errors import LandscopeError
from landscope.contract.intrinsic import IdimRule
from landscope.saturation.covariance import Covariance
from landscope.saturation.series_names import LABELS, series_name
from landscope.saturation.statistics import ENOUGH_SAMPLES, flags_of
from landscope.saturation.tracking.labels import embedded
from landscope.saturation.tracking.statistics import Value, statistics_of
from landscope.saturation.tracking.sums import Mode, Series, log


@dataclass(frozen=True)
class LayerReport:
    """One layer in one mode.

    Attributes:
        lsat: its saturation. values: by the names that writers are given. samples: likewise, those that are
        embedded and their labels. flags: what keeps the values from being trusted, with the sentence of each.
    """

    dimension: int
    lsat: float
    values: dict[str, Value]
    samples: dict[str, Value]
    flags: dict[str, str]


def report_of(
    mode: Mode, name: str, series: Series, stats: Sequence[str], threshold: float, rule: IdimRule
) -> LayerReport | None:
    """The report of what came since the last one; None where nothing came."""
    covariance = series.covariance
    if not series.fresh or covariance is None:
        return None
    rows = series.rows if "embed" in stats and covariance.samples else None
    spectrum, directions = covariance.decomposed(0 if rows is None else 2)
    found = statistics_of(covariance, spectrum, tuple(dict.fromkeys((*stats, "lsat"))), threshold, rule)
    values = {series_name(mode, stat, name): found[stat] for stat in stats if stat in found}
    samples: dict[str, Value] = {}
    if rows is not None and rows.kept:
        placed, labels = embedded(rows.rows(), directions)
        samples = {series_name(mode, "embed", name): placed}
        if not np.isnan(labels).all():
            samples[series_name(mode, "embed", name) + LABELS] = labels
    flags = {flag: _sentence(flag, covariance) for flag in flags_of(covariance, spectrum)}
    return LayerReport(covariance.dimension, float(found["lsat"]), values, samples, flags)


class FlagLog:
    """Tells each flag of each layer once."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def tell(self, mode: Mode, name: str, flags: dict[str, str]) -> None:
        """Log the sentences of the flags that are new for the layer ``name``."""
        new = {flag: told for flag, told in flags.items() if (name, flag) not in self._told}
        self._told.update((name, flag) for flag in new)
        if new:
            log.warning("%s %s: %s.", mode, name, "; ".join(new.values()))


def tell_failure(writer: str, method: str, error: Exception) -> None:
    """Log that a writer failed: in a sentence if the error is one, else with all that Python knows."""
    known = isinstance(error, LandscopeError)
    notes = [str(error), *getattr(error, "__notes__", ())] if known else []
    told = f": {' '.join(notes)}" if known else "."
    log.error("The writer %s failed in %s%s", writer, method, told, exc_info=None if known else error)


def _sentence(flag: str, covariance: Covariance) -> str:
    rows, features = covariance.samples, covariance.dimension
    return {
        "dead": f"its outputs are the same in all {rows} rows",
        "too_few_samples": (
            f"{rows} rows are too few to trust the values of {features} features, "
            f"{ENOUGH_SAMPLES * features} would do"
        ),
        "nonfinite": f"{covariance.nonfinite} rows held NaN or inf and were left out",
        "sampled": f"its values rest on {rows} rows drawn at random",
    }[flag]
