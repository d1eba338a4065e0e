"""The layers of a checkpoint as arrays, so that a threshold can be dragged over thousands of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import Integers, LayerSaturation, SaturationMeasured
from landscope.contract.intrinsic import IdimRule, check_threshold
from landscope.session.threshold import idim_rule
from landscope_app.plots.charts import Floats

KEYS = ("lsat", "idim", "participation_ratio", "effective_rank", "trace")
MARKS = {"dead": "×", "nonfinite": "!", "too_few_samples": "*", "sampled": "~"}
"""Signs in the cells of a map, the gravest first."""


@dataclass(frozen=True)
class Column:
    """All observed layers at one checkpoint, in forward order.

    Attributes:
        measured: what it was made of. layers: (K) names. samples, dimensions: (K,).
        marks: (K,) signs of what is wrong. statistics: (K,) by the names of ``KEYS``, as measured.
        shares: all spectra one after the other, each added up to 1 (to 0 where nothing varies).
        starts, ends: (K,) where they lie in ``shares``, equal where a layer has none.
    """

    measured: SaturationMeasured
    layers: tuple[str, ...]
    samples: Integers
    dimensions: Integers
    marks: NDArray[np.str_]
    statistics: dict[str, NDArray[np.float64]]
    shares: NDArray[np.float64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def values(self, key: str, threshold: float | None, rule: IdimRule | None = None) -> Floats:
        """(K,) a statistic at a threshold (None = as measured), as ``at_threshold`` gives it.

        Raises:
            OptionError: not 0 < threshold ≤ 1.
        """
        as_measured, was = self.statistics[key], idim_rule(self.measured)
        share, rule = self.measured.threshold if threshold is None else threshold, rule or was
        if key not in ("lsat", "idim") or (share, rule) == (self.measured.threshold, was):
            return as_measured
        check_threshold(share)
        counted, varies = self.ends > self.starts, self.shares.take(self.ends - 1, mode="clip") > 0.0
        below = np.minimum(self._below(share), self.ends - self.starts - 1)
        idim = (below + (rule == "smallest_k")) * varies
        return np.where(counted, idim / (self.dimensions if key == "lsat" else 1), as_measured)

    def _below(self, share: float) -> NDArray[np.int64]:
        """(K,) how many sums stay below a share: a search by halves in all spectra at once."""
        place = self.starts.copy()
        step = 1 << int((self.ends - self.starts).max(initial=1)).bit_length() - 1
        while step:
            there = place + step
            place += step * ((there <= self.ends) & (self.shares.take(there - 1, mode="clip") < share))
            step >>= 1
        return place - self.starts


def column_of(measured: SaturationMeasured) -> Column:
    """The arrays of one checkpoint."""
    layers = measured.layers
    spectra = [layer.spectrum if math.isfinite(layer.lsat) else layer.spectrum[:0] for layer in layers]
    ends = np.cumsum([len(one) for one in spectra], dtype=np.int64)
    starts = np.concatenate([[0], ends])[:-1]
    shares = np.zeros(max(1, int(ends.max(initial=0))))
    for start, end, spectrum in zip(starts, ends, spectra, strict=True):
        total = spectrum.sum()
        if total > 0.0:
            np.divide(np.cumsum(spectrum), total, out=shares[start:end])
    return Column(
        measured=measured,
        layers=tuple(layer.layer for layer in layers),
        samples=np.array([layer.samples for layer in layers], np.int64),
        dimensions=np.array([layer.dimension for layer in layers], np.int64),
        marks=np.array([_mark(layer) for layer in layers], "<U1"),
        statistics={key: np.array([layer.value(key) for layer in layers], float) for key in KEYS},
        shares=shares,
        starts=starts,
        ends=ends,
    )


def _mark(layer: LayerSaturation) -> str:
    if not math.isfinite(layer.lsat):
        return MARKS["nonfinite"]
    return next((sign for flag, sign in MARKS.items() if flag in layer.flags), "")
