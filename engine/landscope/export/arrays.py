"""Every result of a session as named arrays, for NPZ files: numbers and texts, never objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import UNKNOWN_LABEL, SimilarityMeasured, TrajectoryMeasured
from landscope.session.model import Distances, Line, Plane, Run, Saturation, Session
from landscope.session.schema import dataset_names
from landscope.session.training_order import in_training_order

Arrays = dict[str, NDArray[Any]]
_STATISTICS = ("lsat", "idim", "dimension", "samples", "trace", "participation_ratio", "effective_rank")


@dataclass(frozen=True)
class Bundle:
    """Arrays that belong together; ``name`` becomes the file's name."""

    name: tuple[str, ...]
    arrays: Arrays


def bundles(session: Session) -> Iterator[Bundle]:
    """All results of a session, in the order of its parts and of training."""
    session = in_training_order(session)
    for run in session.runs.values():
        if run.measured:
            yield Bundle(("losses", run.name), _losses(run))
    for saturation in session.saturation.values():
        yield Bundle(("saturation", saturation.run, saturation.mode), _saturation(saturation))
    for distances in session.distances.values():
        yield Bundle(("distances", distances.opened.run), _distances(distances))
    for gradients in session.gradients.values():
        yield Bundle(("gradients", gradients.opened.run), _distances(gradients))
    for one in session.similarities.values():
        yield Bundle(("similarity", one.run, one.other), _similarity(one))
    for line in session.lines.values():
        yield Bundle(("line", line.opened.id), _line(line))
    for plane in session.planes.values():
        yield Bundle(("plane", plane.opened.id), _plane(plane))
        for path in plane.trajectories.values():
            yield Bundle(("trajectory", path.plane, path.run), _trajectory(path))


def _losses(run: Run) -> Arrays:
    """Per split ``loss_0, loss_se_0, …`` over the ready checkpoints; ``splits`` names the splits."""
    splits = tuple(run.measured)
    found: Arrays = {"checkpoints": _texts(run.names), "steps": run.steps, "splits": _texts(splits)}
    for index, split in enumerate(splits):
        metrics = dict.fromkeys(name for one in run.measured[split].values() for name in one.metrics)
        curves = {name: run.curve(name, split) for name in ("loss", "loss_se", *metrics)}
        found |= _named(curves, tuple(found), f"_{index}")
    return found


def _saturation(saturation: Saturation) -> Arrays:
    """Statistics (C, L); ``spectrum`` (C, L, longest) padded with NaN; samples in two directions if kept."""
    names = tuple(saturation.measured)
    found: Arrays = {"checkpoints": _texts(names), "layers": _texts(saturation.layers)}
    found |= {one: saturation.matrix(one, names) for one in _STATISTICS}
    column = {name: k for k, name in enumerate(saturation.layers)}
    cells = {
        (row, column[layer.layer]): layer.spectrum
        for row, name in enumerate(names)
        for layer in saturation.measured[name].layers
    }
    longest = max(map(len, cells.values()), default=0)
    spectrum = np.full((len(names), len(column), longest), np.nan)
    for (row, k), values in cells.items():
        spectrum[row, k, : len(values)] = values
    return {**found, "spectrum": spectrum, **_embeddings(saturation)}


def _embeddings(saturation: Saturation) -> Arrays:
    """``embedding`` (C, L, most, 2) padded with NaN; ``label`` and ``item`` (C, L, most) with "not known"."""
    column = {name: k for k, name in enumerate(saturation.layers)}
    cells = {
        (row, column[layer.layer]): layer
        for row, one in enumerate(saturation.measured.values())
        for layer in one.layers
        if len(layer.embedding)
    }
    most = max((len(layer.embedding) for layer in cells.values()), default=0)
    if not most:
        return {}
    shape = (len(saturation.measured), len(column), most)
    embedding = np.full((*shape, 2), np.nan, np.float32)
    label, item = np.full(shape, UNKNOWN_LABEL), np.full(shape, -1)
    for where, layer in cells.items():
        there = slice(len(layer.embedding))
        embedding[where][there], label[where][there] = layer.embedding, layer.labels
        item[where][there] = layer.items
    return {"embedding": embedding, "label": label, "item": item}


def _distances(distances: Distances) -> Arrays:
    """``total_*`` (C,), ``layers_*`` (C, L), ``parameters_*`` (C, P), and the matrices where known."""
    names = tuple(distances.measured)
    opened = distances.opened
    measured = distances.measured.values()
    found: Arrays = {
        "checkpoints": _texts(names),
        "layers": _texts(opened.layers),
        "parameters": _texts(opened.parameters),
        "elements": np.asarray(opened.sizes),
    }
    scopes = {"total": distances.total, "layers": distances.layers, "parameters": distances.parameters}
    for scope, rows in scopes.items():
        quantities = dict.fromkeys(name for one in measured for name in getattr(one, scope))
        found |= _named({f"{scope}_{q}": rows(q, names) for q in quantities}, tuple(found))
    if distances.matrices is not None:
        found["matrix_checkpoints"] = _texts(distances.matrices.checkpoints)
        found["matrix_distance"] = np.asarray(distances.matrices.distance)
        found["matrix_cosine"] = np.asarray(distances.matrices.cosine)
    return found


def _similarity(found: SimilarityMeasured) -> Arrays:
    """The matrices of predictions (M, K) and ``cka`` (L, M, K)."""
    own: Arrays = {
        "checkpoints": _texts(found.checkpoints),
        "others": _texts(found.others),
        "layers": _texts(found.layers),
        "cka": np.asarray(found.cka),
    }
    matrices = {name: np.asarray(values) for name, values in found.predictions.items()}
    return {**own, "settings": _settings(found.settings), **_named(matrices, tuple(own))}


def _line(line: Line) -> Arrays:
    own = {"coordinate": np.asarray(line.opened.coordinates), "state": line.state}
    return {**own, "settings": _settings(line.opened.settings), **_named(line.values, tuple(own))}


def _plane(plane: Plane) -> Arrays:
    own = {
        "alpha": np.asarray(plane.opened.alpha),
        "beta": np.asarray(plane.opened.beta),
        "state": plane.state,
        "axis_titles": _texts(plane.opened.axis_titles),
    }
    return {**own, "settings": _settings(plane.opened.settings), **_named(plane.values, tuple(own))}


def _trajectory(path: TrajectoryMeasured) -> Arrays:
    names = ("coordinates", "residuals", "true_loss", "plane_loss", "explained")
    return {"checkpoints": _texts(path.checkpoints), **{name: getattr(path, name) for name in names}}


def _named(values: Mapping[str, NDArray[Any]], taken: Sequence[str], suffix: str = "") -> Arrays:
    """Quantities under harmless names; where one had to be renamed, ``<name>_is`` holds the true one."""
    names = dataset_names(list(values), (*taken, "file", "allow_pickle", "settings"))
    found: Arrays = {}
    for name, (quantity, array) in zip(names, values.items(), strict=True):
        found[f"{name}{suffix}"] = array
        if name != quantity:
            found[f"{name}{suffix}_is"] = np.array(quantity)
    return found


def _texts(values: Sequence[str]) -> NDArray[np.str_]:
    return np.array(list(values), np.str_)


def _settings(settings: Mapping[str, Any]) -> NDArray[np.str_]:
    return np.array(json.dumps(settings, ensure_ascii=False))
