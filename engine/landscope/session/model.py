"""A session in memory: everything known about a project, built from deltas and nothing else.

The window, the command line, the file and the journal all hold this one model. It knows neither Qt nor
torch nor HDF5. Values are never replaced by something nicer: NaN and inf stay what they are.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from landscope.contract import deltas as d
from landscope.contract.options import ProjectSpec, Setting

EMPTY, INTERPOLATED, SAMPLED, FAILED = 0, 1, 2, 3
"""Flags of a plane's or line's ``state``: NaN alone cannot tell "not sampled" from "diverged".

A point whose loss came out as NaN or inf is SAMPLED; FAILED is one whose evaluation raised.
"""


class Run(msgspec.Struct, kw_only=True):
    """A run's checkpoints in training order and what was measured at each.

    ``measured[split][checkpoint]`` holds losses and metrics.
    """

    name: str
    folder: str
    checkpoints: tuple[d.CheckpointInfo, ...] = ()
    others: tuple[d.CheckpointInfo, ...] = ()
    measured: dict[str, dict[str, d.CheckpointMeasured]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the ready checkpoints, in training order."""
        return tuple(c.name for c in self.checkpoints)

    @property
    def steps(self) -> NDArray[np.float64]:
        """(M,) the step (else the epoch, else the position) of each ready checkpoint."""
        for field in ("step", "epoch"):
            known = [getattr(c, field) for c in self.checkpoints]
            if known and all(k is not None for k in known):
                return np.array(known, np.float64)
        return np.arange(len(self.checkpoints), dtype=np.float64)

    def curve(self, metric: str, split: str = "train") -> NDArray[np.float64]:
        """(M,) ``loss`` or another metric per ready checkpoint, NaN where not measured."""
        found = self.measured.get(split, {})
        return np.array([_metric(found.get(name), metric) for name in self.names], np.float64)


def _metric(measured: d.CheckpointMeasured | None, metric: str) -> float:
    if measured is None:
        return float("nan")
    if metric in ("loss", "loss_se"):
        return float(getattr(measured, metric))
    return measured.metrics.get(metric, float("nan"))


class Saturation(msgspec.Struct, kw_only=True):
    """Saturation of one run in one mode: ``measured[checkpoint]`` holds all layers in forward order."""

    run: str
    mode: str
    measured: dict[str, d.SaturationMeasured] = {}

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the layers in forward order, over all checkpoints."""
        seen: dict[str, None] = {}
        for one in self.measured.values():
            seen.update(dict.fromkeys(layer.layer for layer in one.layers))
        return tuple(seen)

    def matrix(self, statistic: str, checkpoints: tuple[str, ...]) -> NDArray[np.float64]:
        """(M, L) a statistic (``lsat``, ``idim``, ``trace``…) per checkpoint and layer, NaN where unknown."""
        out = np.full((len(checkpoints), len(self.layers)), np.nan)
        column = {name: k for k, name in enumerate(self.layers)}
        for row, name in enumerate(checkpoints):
            if name in self.measured:
                for layer in self.measured[name].layers:
                    out[row, column[layer.layer]] = layer.value(statistic)
        return out


class Distances(msgspec.Struct, kw_only=True):
    """Distance quantities of one run: ``measured[checkpoint]``; matrices once all files were read."""

    opened: d.DistanceOpened
    measured: dict[str, d.DistancesMeasured] = {}
    matrices: d.DistanceMatrices | None = None

    def total(self, quantity: str, checkpoints: tuple[str, ...]) -> NDArray[np.float64]:
        """(M,) a quantity over all parameters, per checkpoint."""
        rows = (self.measured.get(name) for name in checkpoints)
        return np.array([np.nan if r is None else r.total.get(quantity, np.nan) for r in rows], np.float64)

    def layers(self, quantity: str, checkpoints: tuple[str, ...]) -> NDArray[np.float64]:
        """(M, L) a quantity per checkpoint and layer."""
        return self._rows(quantity, checkpoints, len(self.opened.layers), lambda r: r.layers)

    def parameters(self, quantity: str, checkpoints: tuple[str, ...]) -> NDArray[np.float64]:
        """(M, P) a quantity per checkpoint and parameter."""
        return self._rows(quantity, checkpoints, len(self.opened.parameters), lambda r: r.parameters)

    def _rows(
        self,
        quantity: str,
        checkpoints: tuple[str, ...],
        width: int,
        pick: Callable[[d.DistancesMeasured], dict[str, d.Floats]],
    ) -> NDArray[np.float64]:
        out = np.full((len(checkpoints), width), np.nan)
        for row, name in enumerate(checkpoints):
            found = pick(self.measured[name]) if name in self.measured else {}
            if quantity in found:
                out[row] = found[quantity]
        return out


class Line(msgspec.Struct, kw_only=True):
    """A line: coordinates (N,), ``values[metric]`` (N,) with NaN where not measured, ``state`` (N,)."""

    opened: d.LineOpened
    values: dict[str, NDArray[np.float64]] = {}
    state: NDArray[np.uint8]


class Plane(msgspec.Struct, kw_only=True):
    """A plane: ``values[metric]`` (A, B), axis 0 = alpha; ``state`` (A, B) of EMPTY, SAMPLED, FAILED.

    ``levels`` maps points per axis of each complete nested grid to its largest surplus;
    ``trajectories`` is keyed by run.
    """

    opened: d.PlaneOpened
    values: dict[str, NDArray[np.float64]] = {}
    state: NDArray[np.uint8]
    levels: dict[int, float] = {}
    trajectories: dict[str, d.TrajectoryMeasured] = {}


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the log: seconds since the epoch, level, sentence."""

    time: float
    level: str
    sentence: str
    detail: str = ""


class Session(msgspec.Struct, kw_only=True):
    """Everything known about a project.

    Attributes:
        uuid: identity of the session, kept over saves; saves: how often it was written.
        runs: by name; saturation: by "run/mode"; distances, gradients: by run; lines, planes: by id.
        similarities: by the names of the runs of their rows and of their columns.
        provenance: facts about how results came to be. view: state of the window, JSON-able.
    """

    uuid: str = msgspec.field(default_factory=lambda: str(uuid.uuid4()))
    title: str = "Untitled"
    created: str = msgspec.field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    saves: int = 0
    project: ProjectSpec | None = None
    runs: dict[str, Run] = {}
    saturation: dict[str, Saturation] = {}
    distances: dict[str, Distances] = {}
    gradients: dict[str, Distances] = {}
    similarities: dict[tuple[str, str], d.SimilarityMeasured] = {}
    lines: dict[str, Line] = {}
    planes: dict[str, Plane] = {}
    provenance: dict[str, str] = {}
    settings: dict[str, Setting] = {}
    view: dict[str, Any] = {}
    log: list[LogLine] = []

    def apply(self, delta: d.AnyDelta) -> None:
        """Take in one piece of result. Pieces of a line or plane never opened are dropped.

        Raises:
            TypeError: not a delta.
        """
        handler = _HANDLERS.get(type(delta))
        if handler is None:
            raise TypeError(f"{type(delta).__name__} is not a delta")
        handler(self, delta)

    def remainder(self) -> dict[str, Any]:
        """What deltas do not carry, as plain data: title, project, provenance, settings, view, log."""
        plain = {name: getattr(self, name) for name in _REMAINDER}
        found: dict[str, Any] = msgspec.to_builtins(plain)
        return found

    def adopt(self, remainder: dict[str, Any]) -> None:
        """Take in what ``remainder`` of another session gave.

        Raises:
            msgspec.ValidationError: a field has the wrong type.
        """
        fields = {f.name: f.type for f in msgspec.structs.fields(Session)}
        for name in _REMAINDER:
            if name in remainder:
                setattr(self, name, msgspec.convert(remainder[name], fields[name]))


_REMAINDER = ("uuid", "title", "created", "saves", "project", "settings", "view", "log")


def _run(session: Session, name: str) -> Run:
    return session.runs.setdefault(name, Run(name=name, folder=""))


def _list_run(session: Session, delta: d.RunListed) -> None:
    run = _run(session, delta.run)
    run.folder, run.checkpoints, run.others = delta.folder, delta.checkpoints, delta.others


def _measure_checkpoint(session: Session, delta: d.CheckpointMeasured) -> None:
    _run(session, delta.run).measured.setdefault(delta.split, {})[delta.checkpoint] = delta


def _measure_saturation(session: Session, delta: d.SaturationMeasured) -> None:
    key = f"{delta.run}/{delta.mode}"
    found = session.saturation.setdefault(key, Saturation(run=delta.run, mode=delta.mode))
    found.measured[delta.checkpoint] = delta


def _open_distances(session: Session, delta: d.DistanceOpened) -> None:
    _open_rows(session.distances, delta)


def _open_gradients(session: Session, delta: d.GradientOpened) -> None:
    old = session.gradients.get(delta.run)
    if old is not None and _sample(old.opened) != _sample(delta):  # of other data: not to be mixed
        del session.gradients[delta.run]
    _open_rows(session.gradients, delta)


def _open_rows(known: dict[str, Distances], delta: d.DistanceOpened) -> None:
    old = known.get(delta.run)
    if old is not None and _same_rows(old.opened, delta):  # flags known later: keep the values
        old.opened = delta
        return
    known[delta.run] = Distances(opened=delta)


def _sample(opened: d.DistanceOpened) -> tuple[str, int] | None:
    return (opened.split, opened.samples) if isinstance(opened, d.GradientOpened) else None


def _same_rows(one: d.DistanceOpened, other: d.DistanceOpened) -> bool:
    return one.parameters == other.parameters and one.layers == other.layers


def _measure_distances(session: Session, delta: d.DistancesMeasured) -> None:
    if delta.run in session.distances:
        session.distances[delta.run].measured[delta.checkpoint] = delta


def _measure_gradients(session: Session, delta: d.GradientsMeasured) -> None:
    if delta.run in session.gradients:
        session.gradients[delta.run].measured[delta.checkpoint] = delta


def _measure_similarity(session: Session, delta: d.SimilarityMeasured) -> None:
    session.similarities[delta.run, delta.other] = delta


def _take_matrices(session: Session, delta: d.DistanceMatrices) -> None:
    if delta.run in session.distances:
        session.distances[delta.run].matrices = delta


def _open_line(session: Session, delta: d.LineOpened) -> None:
    session.lines[delta.id] = Line(opened=delta, state=np.zeros(len(delta.coordinates), np.uint8))


def _add_line_points(session: Session, delta: d.LinePoints) -> None:
    line = session.lines.get(delta.id)
    if line is not None:
        _scatter(line.values, line.state, (delta.indices,), delta.values)


def _open_plane(session: Session, delta: d.PlaneOpened) -> None:
    shape = (len(delta.alpha), len(delta.beta))
    old = session.planes.get(delta.id)
    if old is not None and old.state.shape == shape:  # resumed: keep what is there
        old.opened = delta
        return
    session.planes[delta.id] = Plane(opened=delta, state=np.zeros(shape, np.uint8))


def _add_plane_points(session: Session, delta: d.PlanePoints) -> None:
    plane = session.planes.get(delta.id)
    if plane is not None:
        _scatter(plane.values, plane.state, (delta.rows, delta.columns), delta.values)


def _scatter(
    values: dict[str, NDArray[np.float64]],
    state: NDArray[np.uint8],
    where: tuple[d.Integers, ...],
    new: dict[str, d.Floats],
) -> None:
    for metric, found in new.items():
        values.setdefault(metric, np.full(state.shape, np.nan))[where] = found
    if "loss" in new:
        state[where] = SAMPLED


def _close_level(session: Session, delta: d.PlaneLevel) -> None:
    if delta.id in session.planes:
        session.planes[delta.id].levels[delta.points] = delta.surplus


def _take_trajectory(session: Session, delta: d.TrajectoryMeasured) -> None:
    if delta.plane in session.planes:
        session.planes[delta.plane].trajectories[delta.run] = delta


def _take_facts(session: Session, delta: d.Provenance) -> None:
    session.provenance.update(delta.facts)


_HANDLERS: dict[type, Callable[[Session, Any], None]] = {
    d.RunListed: _list_run,
    d.CheckpointMeasured: _measure_checkpoint,
    d.SaturationMeasured: _measure_saturation,
    d.DistanceOpened: _open_distances,
    d.DistancesMeasured: _measure_distances,
    d.DistanceMatrices: _take_matrices,
    d.GradientOpened: _open_gradients,
    d.GradientsMeasured: _measure_gradients,
    d.SimilarityMeasured: _measure_similarity,
    d.LineOpened: _open_line,
    d.LinePoints: _add_line_points,
    d.PlaneOpened: _open_plane,
    d.PlanePoints: _add_plane_points,
    d.PlaneLevel: _close_level,
    d.TrajectoryMeasured: _take_trajectory,
    d.Provenance: _take_facts,
}
