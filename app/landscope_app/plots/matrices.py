"""The matrices of checkpoints that a session holds: of weights, of predictions, of layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from landscope.contract.deltas import DistanceMatrices, SimilarityMeasured
from landscope.session.model import Session
from landscope_app.plots.charts import Floats, MapChart
from landscope_app.plots.loss_chart import step_title
from landscope_app.plots.matrix_chart import Side, matrix_chart
from landscope_app.plots.numbers import whole

EMPTY = "The matrix of this run appears here as soon as all its checkpoints have been read."
GONE = "This matrix has not been measured yet."


@dataclass(frozen=True)
class Kind:
    """A kind of matrix: title, formula, unit, limits of its colours, how it is read, its source."""

    title: str
    formula: str
    unit: str
    limits: tuple[float, float] | None
    reading: str
    source: str


_SAMPLES = "model and data, on request (landscope run --only similarity)"
KINDS = {
    "distance": Kind(
        "Distance",
        "‖θᵢ − θⱼ‖",
        "",
        None,
        "Blocks of dark cells are times in which the weights hardly moved.",
        "the weights in the checkpoint files, over all parameters but buffers",
    ),
    "cosine": Kind(
        "Cosine",
        "cos ∠(θᵢ, θⱼ)",
        "",
        (-1.0, 1.0),
        "1: the same direction, 0: at right angles.",
        "the weights in the checkpoint files, over all parameters but buffers",
    ),
    "disagreement": Kind(
        "Disagreement",
        "share of samples with another most likely class",
        "",
        None,
        "0: the same answers to all samples. Two checkpoints may be equally good and yet disagree.",
        _SAMPLES,
    ),
    "kl": Kind(
        "KL divergence",
        "mean KL(pᵢ ‖ pⱼ)",
        "nats",
        None,
        "How badly the column's predictions describe the row's; the matrix is not symmetric.",
        _SAMPLES,
    ),
    "js": Kind(
        "Jensen–Shannon divergence",
        "mean JS(pᵢ, pⱼ)",
        "nats",
        (0.0, float(np.log(2.0))),
        "0: the same predictions; ln 2 = 0.693: nothing in common.",
        f"{_SAMPLES}; Lin 1991",
    ),
    "cka": Kind(
        "CKA",
        "linear CKA",
        "",
        (0.0, 1.0),
        "1: the layer computes the same up to a rotation and a scale; about 0: unrelated.",
        f"{_SAMPLES}; Kornblith et al. 2019, arXiv 1905.00414; Nguyen et al. 2021, arXiv 2010.15327",
    ),
}


@dataclass(frozen=True)
class MatrixKey:
    """Which matrix: kind, run of the rows, run of the columns, and the layer of a CKA."""

    kind: str
    run: str
    other: str
    layer: str = ""

    @property
    def text(self) -> str:
        """As one text, for the view that a session keeps."""
        return "\t".join((self.kind, self.run, self.other, self.layer))

    @property
    def title(self) -> str:
        """Its name in a list."""
        of = f" of {self.layer}" if self.layer else ""
        runs = self.run if self.other == self.run else f"{self.run} and {self.other}"
        return f"{KINDS[self.kind].title}{of} · {runs}"


def reading(key: MatrixKey) -> str:
    """How to read a matrix: title, formula, unit, what values mean, the source."""
    kind = KINDS[key.kind]
    unit = f"   (unit: {kind.unit})" if kind.unit else ""
    lines = ("How to read this", "", key.title, f"{kind.formula}{unit}")
    return "\n".join((*lines, "i: the row, j: the column", "", kind.reading, "", f"Source: {kind.source}."))


def key_from(text: str) -> MatrixKey:
    """What ``MatrixKey.text`` gave; the distance of no run for anything else."""
    parts = text.split("\t")
    known = len(parts) == 4 and parts[0] in KINDS
    return MatrixKey(*parts) if known else MatrixKey("distance", "", "")


def offered(session: Session, run: str) -> tuple[MatrixKey, ...]:
    """All matrices there are, those of the run first; without any, the distance that will be measured."""
    of_weights = [
        MatrixKey(kind, name, name)
        for name in dict.fromkeys((run, *session.runs))
        if name in session.distances and (name == run or session.distances[name].matrices is not None)
        for kind in ("distance", "cosine")
    ]
    pairs = sorted(session.similarities.values(), key=lambda one: run not in (one.run, one.other))
    of_functions = [key for one in pairs for key in _of_similarity(one)]
    return tuple(of_weights + of_functions) or (MatrixKey("distance", run, run),)


def all_matrices(session: Session) -> Iterator[tuple[MatrixKey, MapChart]]:
    """Every matrix of a session that holds anything."""
    for key in dict.fromkeys(key for run in session.runs for key in offered(session, run)):
        chart = matrix_of(session, key)
        if chart.rows:
            yield key, chart


def matrix_of(session: Session, key: MatrixKey) -> MapChart:
    """A matrix as a map; without rows, and saying why, where there is none."""
    kind = KINDS[key.kind]
    if key.kind in ("distance", "cosine"):
        distances = session.distances.get(key.run)
        found = distances.matrices if distances is not None else None
        if found is None:
            return MapChart(key.title, (), (), empty=EMPTY)
        return _weights(session, key, found)
    similarity = session.similarities.get((key.run, key.other))
    values = _values(similarity, key) if similarity is not None else None
    if similarity is None or values is None:
        return MapChart(key.title, (), (), empty=GONE)
    rows = _side(session, key.run, similarity.checkpoints, key.run != key.other)
    columns = _side(session, key.other, similarity.others, key.run != key.other)
    note = f"{similarity.samples:,} samples of {similarity.split}"
    limits = _limits(kind, values)
    return matrix_chart(key.title, values, rows, columns, kind.formula, kind.unit, limits, note)


def _weights(session: Session, key: MatrixKey, found: DistanceMatrices) -> MapChart:
    kind, side = KINDS[key.kind], _side(session, key.run, found.checkpoints, False)
    values = found.distance if key.kind == "distance" else found.cosine
    run = session.runs.get(key.run)
    total = len(run.names) if run is not None else 0
    missing = total - len(found.checkpoints)
    note = f"{len(found.checkpoints):,} of {total:,} checkpoints" if missing > 0 else ""
    limits = _limits(kind, values)
    return matrix_chart(key.title, values, side, side, kind.formula, kind.unit, limits, note)


def _limits(kind: Kind, values: Floats) -> tuple[float, float] | None:
    """Those of the kind; of numbers up to 1 that are never negative here, from the smallest on."""
    if kind.limits is None or kind.limits[1] != 1.0:
        return kind.limits
    low = float(values[np.isfinite(values)].min(initial=1.0))
    return (-1.0, 1.0) if low < 0.0 and kind.limits[0] < 0.0 else (max(0.0, min(low, 0.99)), 1.0)


def _of_similarity(one: SimilarityMeasured) -> Iterator[MatrixKey]:
    for kind in ("disagreement", "kl", "js"):
        if kind in one.predictions:
            yield MatrixKey(kind, one.run, one.other)
    for layer in one.layers:
        yield MatrixKey("cka", one.run, one.other, layer)


def _values(found: SimilarityMeasured, key: MatrixKey) -> Floats | None:
    if key.kind == "cka":
        return found.cka[found.layers.index(key.layer)] if key.layer in found.layers else None
    return found.predictions.get(key.kind)


def _side(session: Session, name: str, checkpoints: tuple[str, ...], named: bool) -> Side:
    """Rows or columns with their steps; ``named``: of several runs, so that the title says which."""
    run = session.runs.get(name)
    if run is None:
        return Side(checkpoints, checkpoints, name)
    steps = dict(zip(run.names, run.steps, strict=True))
    labels = tuple(whole(float(steps[one])) if one in steps else one for one in checkpoints)
    return Side(checkpoints, labels, f"{step_title(run)}, {name}" if named else step_title(run))
