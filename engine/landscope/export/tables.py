"""Every result of a session as tables: one row per point, one column per quantity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from landscope.contract.deltas import UNKNOWN_LABEL, DistanceMatrices, SimilarityMeasured, TrajectoryMeasured
from landscope.session.model import Distances, Line, Plane, Run, Saturation, Session
from landscope.session.schema import FLAGS, unit
from landscope.session.training_order import in_training_order

Cell = str | int | float | None
_STATES = FLAGS.split()
_LAYER = (
    "dimension",
    "samples",
    "idim",
    "lsat",
    "trace",
    "participation_ratio",
    "effective_rank",
    "nonfinite",
)


@dataclass(frozen=True)
class Table:
    """A named table.

    Attributes:
        name: kind and origin, such as ("plane", "resnet-random"); becomes the file's name.
        columns: plain names. rows: cells in the order of the columns; made when asked for.
    """

    name: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Iterable[Sequence[Cell]]

    @property
    def header(self) -> list[str]:
        """Names of the columns, with units where a quantity has one: ``angle [degree]``."""
        return [name if unit(name) == "1" else f"{name} [{unit(name)}]" for name in self.columns]


def tables(session: Session) -> Iterator[Table]:
    """All tables of a session, in the order of its parts and of training. Empty results give none."""
    session = in_training_order(session)
    for run in session.runs.values():
        if run.measured:
            yield _losses(run)
    for saturation in session.saturation.values():
        yield _saturation(saturation, _steps(session, saturation.run))
        yield _spectra(saturation)
        if any(len(layer.embedding) for one in saturation.measured.values() for layer in one.layers):
            yield _embeddings(saturation)
    for distances in session.distances.values():
        yield _distances("distances", distances, _steps(session, distances.opened.run))
        if distances.matrices is not None:
            yield _matrices(distances.matrices)
    for gradients in session.gradients.values():
        yield _distances("gradients", gradients, _steps(session, gradients.opened.run))
    for similarity in session.similarities.values():
        yield _predictions(similarity)
        yield _cka(similarity)
    for line in session.lines.values():
        yield _line(line)
    for plane in session.planes.values():
        yield _plane(plane)
        for path in plane.trajectories.values():
            yield _trajectory(path)


def _steps(session: Session, run: str) -> dict[str, int | None]:
    known = session.runs.get(run)
    return {} if known is None else {one.name: one.step for one in known.checkpoints}


def _losses(run: Run) -> Table:
    listed = {one.name: one for one in run.checkpoints}
    found = [(split, one) for split, row in run.measured.items() for one in row.values()]
    metrics = tuple(dict.fromkeys(name for _, one in found for name in one.metrics))
    rows: list[list[Cell]] = []
    for split, one in found:
        info = listed.get(one.checkpoint)
        where = [info.step, info.epoch] if info else [None, None]
        values = [one.metrics.get(name) for name in metrics]
        rows.append([one.checkpoint, *where, split, one.samples, one.loss, one.loss_se, *values])
    columns = ("checkpoint", "step", "epoch", "split", "samples", "loss", "loss_se", *metrics)
    return Table(("losses", run.name), columns, rows)


def _saturation(saturation: Saturation, steps: dict[str, int | None]) -> Table:
    rows = [
        [
            name,
            steps.get(name),
            layer.layer,
            layer.kind,
            *(layer.value(statistic) for statistic in _LAYER),
            measured.threshold,
            " ".join(layer.flags),
        ]
        for name, measured in saturation.measured.items()
        for layer in measured.layers
    ]
    columns = ("checkpoint", "step", "layer", "kind", *_LAYER, "threshold", "flags")
    return Table(("saturation", saturation.run, saturation.mode), columns, rows)


def _spectra(saturation: Saturation) -> Table:
    rows = (
        (name, layer.layer, index, float(value))
        for name, measured in saturation.measured.items()
        for layer in measured.layers
        for index, value in enumerate(layer.spectrum)
    )
    columns = ("checkpoint", "layer", "index", "eigenvalue")
    return Table(("spectra", saturation.run, saturation.mode), columns, rows)


def _embeddings(saturation: Saturation) -> Table:
    """Every kept sample along its layer's first two directions; an unknown sample or label is empty."""
    rows = (
        (
            name,
            layer.layer,
            None if item < 0 else item,
            None if label == UNKNOWN_LABEL else label,
            *map(float, where),
        )
        for name, measured in saturation.measured.items()
        for layer in measured.layers
        for item, label, where in zip(
            layer.items.tolist(), layer.labels.tolist(), layer.embedding, strict=True
        )
    )
    columns = ("checkpoint", "layer", "sample", "label", "first", "second")
    return Table(("embedding", saturation.run, saturation.mode), columns, rows)


def _distances(kind: str, distances: Distances, steps: dict[str, int | None]) -> Table:
    """Rows per checkpoint: the total, then every layer, then every parameter."""
    opened = distances.opened
    measured = distances.measured.values()
    scopes = [part for one in measured for part in (one.total, one.layers, one.parameters)]
    quantities = tuple(dict.fromkeys(name for part in scopes for name in part))
    rows: list[list[Cell]] = []
    for name, one in distances.measured.items():
        parts: list[tuple[str, Sequence[str], Any]] = [
            ("total", [""], {quantity: [value] for quantity, value in one.total.items()}),
            ("layer", opened.layers, one.layers),
            ("parameter", opened.parameters, one.parameters),
        ]
        for scope, names, found in parts:
            for k, owner in enumerate(names):
                values = [float(found[q][k]) if q in found else None for q in quantities]
                rows.append([name, steps.get(name), scope, owner, *values])
    return Table((kind, opened.run), ("checkpoint", "step", "scope", "name", *quantities), rows)


def _matrices(found: DistanceMatrices) -> Table:
    pairs = product(enumerate(found.checkpoints), repeat=2)
    rows = (
        (one, other, float(found.distance[i, j]), float(found.cosine[i, j])) for (i, one), (j, other) in pairs
    )
    columns = ("checkpoint", "other", "distance", "cosine")
    return Table(("matrices", found.run), columns, rows)


def _predictions(found: SimilarityMeasured) -> Table:
    pairs = product(found.checkpoints, found.others)
    columns = (np.asarray(values, np.float64).reshape(-1).tolist() for values in found.predictions.values())
    rows = ([*pair, *values] for pair, *values in zip(pairs, *columns, strict=True))
    return Table(("similarity", found.run, found.other), ("checkpoint", "other", *found.predictions), rows)


def _cka(found: SimilarityMeasured) -> Table:
    cells = product(enumerate(found.layers), enumerate(found.checkpoints), enumerate(found.others))
    rows = ((layer, one, other, float(found.cka[k, i, j])) for (k, layer), (i, one), (j, other) in cells)
    return Table(("cka", found.run, found.other), ("layer", "checkpoint", "other", "cka"), rows)


def _line(line: Line) -> Table:
    coordinates = np.asarray(line.opened.coordinates, np.float64)
    columns = [coordinates.tolist(), *(values.tolist() for values in line.values.values())]
    rows = zip(*columns, _named_states(line.state), strict=True)
    return Table(("line", line.opened.id), ("coordinate", *line.values, "state"), rows)


def _plane(plane: Plane) -> Table:
    """All points of the finest grid, alpha by alpha."""
    axes = (np.asarray(axis, np.float64) for axis in (plane.opened.alpha, plane.opened.beta))
    grids = [grid.reshape(-1).tolist() for grid in np.meshgrid(*axes, indexing="ij")]
    values = [grid.reshape(-1).tolist() for grid in plane.values.values()]
    rows = zip(*grids, *values, _named_states(plane.state), strict=True)
    return Table(("plane", plane.opened.id), ("alpha", "beta", *plane.values, "state"), rows)


def _trajectory(path: TrajectoryMeasured) -> Table:
    columns = [
        path.coordinates[:, 0],
        path.coordinates[:, 1],
        path.residuals,
        path.true_loss,
        path.plane_loss,
    ]
    rows = zip(path.checkpoints, *(np.asarray(one, np.float64).tolist() for one in columns), strict=True)
    names = ("checkpoint", "alpha", "beta", "residual", "true_loss", "plane_loss")
    return Table(("trajectory", path.plane, path.run), names, rows)


def _named_states(state: Any) -> list[str]:
    return [_STATES[flag] for flag in state.reshape(-1)]
