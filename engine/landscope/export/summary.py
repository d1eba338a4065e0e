"""What a session holds, as plain data for ``landscope info`` and for scripts: names, shapes and ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from landscope.contract.deltas import SimilarityMeasured
from landscope.session.model import EMPTY, FAILED, Distances, Line, Plane, Run, Saturation, Session
from landscope.session.training_order import in_training_order

Facts = dict[str, Any]


def summary(session: Session) -> Facts:
    """Facts that JSON can carry strictly: no NaN, no infinity, no array.

    Every range is ``{"min", "max", "finite", "nonfinite"}`` over the values measured; min and max are None
    where nothing is finite.
    """
    session = in_training_order(session)
    return {
        "title": session.title,
        "uuid": session.uuid,
        "created": session.created,
        "saves": session.saves,
        "project": None if session.project is None else session.project.root,
        "runs": [_run(run) for run in session.runs.values()],
        "saturation": [_saturation(one) for one in session.saturation.values()],
        "distances": [_distances(one) for one in session.distances.values()],
        "gradients": [_distances(one) for one in session.gradients.values()],
        "similarity": [_similarity(one) for one in session.similarities.values()],
        "lines": [_line(line) for line in session.lines.values()],
        "planes": [_plane(plane) for plane in session.planes.values()],
        "provenance": dict(session.provenance),
        "log": {"lines": len(session.log), "errors": sum(line.level == "error" for line in session.log)},
    }


def value_range(values: ArrayLike) -> Facts:
    """Smallest and largest finite value, and how many are and are not finite."""
    array = np.asarray(values, np.float64)
    finite = array[np.isfinite(array)]
    return {
        "min": float(finite.min()) if finite.size else None,
        "max": float(finite.max()) if finite.size else None,
        "finite": int(finite.size),
        "nonfinite": int(array.size - finite.size),
    }


def _run(run: Run) -> Facts:
    losses = {
        split: {"checkpoints": len(found), "loss": value_range([one.loss for one in found.values()])}
        for split, found in run.measured.items()
    }
    return {
        "name": run.name,
        "folder": run.folder,
        "checkpoints": [{"name": one.name, "step": one.step, "epoch": one.epoch} for one in run.checkpoints],
        "others": [{"name": one.name, "state": one.state, "reason": one.reason} for one in run.others],
        "measured": losses,
    }


def _saturation(saturation: Saturation) -> Facts:
    names = tuple(saturation.measured)
    lsat = saturation.matrix("lsat", names)
    known = [layer.lsat for one in saturation.measured.values() for layer in one.layers]
    kept = [
        (layer.layer, len(layer.embedding)) for one in saturation.measured.values() for layer in one.layers
    ]
    return {
        "run": saturation.run,
        "mode": saturation.mode,
        "shape": list(lsat.shape),
        "checkpoints": list(names),
        "layers": list(saturation.layers),
        "lsat": value_range(known),
        "embedding": {
            "layers": len({layer for layer, count in kept if count}),
            "samples": max((count for _, count in kept), default=0),
        },
    }


def _distances(distances: Distances) -> Facts:
    names = tuple(distances.measured)
    quantities = dict.fromkeys(name for one in distances.measured.values() for name in one.total)
    return {
        "run": distances.opened.run,
        "reference": distances.opened.reference,
        "reference_step": distances.opened.reference_step,
        "checkpoints": list(names),
        "layers": len(distances.opened.layers),
        "parameters": len(distances.opened.parameters),
        "elements": int(np.sum(distances.opened.sizes)),
        "total": {quantity: value_range(distances.total(quantity, names)) for quantity in quantities},
        "matrices": distances.matrices is not None,
    }


def _similarity(found: SimilarityMeasured) -> Facts:
    return {
        "run": found.run,
        "other": found.other,
        "split": found.split,
        "samples": found.samples,
        "checkpoints": len(found.checkpoints),
        "others": len(found.others),
        "predictions": {name: value_range(values) for name, values in found.predictions.items()},
        "layers": len(found.layers),
        "cka": value_range(found.cka),
    }


def _line(line: Line) -> Facts:
    opened = line.opened
    return {
        "id": opened.id,
        "run": opened.run,
        "title": opened.title,
        "start": opened.start,
        "end": opened.end,
        **_measured(line),
        "settings": _strict(opened.settings),
    }


def _plane(plane: Plane) -> Facts:
    opened = plane.opened
    return {
        "id": opened.id,
        "run": opened.run,
        "title": opened.title,
        "kind": opened.kind,
        "base": opened.base,
        "alpha": value_range(opened.alpha),
        "beta": value_range(opened.beta),
        **_measured(plane),
        "levels": {str(points): _strict(surplus) for points, surplus in plane.levels.items()},
        "trajectories": {run: len(path.checkpoints) for run, path in plane.trajectories.items()},
        "settings": _strict(opened.settings),
    }


def _measured(result: Line | Plane) -> Facts:
    """Shape, how much of it is known, and the range of every metric where it was sampled."""
    known = result.state != EMPTY
    return {
        "shape": list(result.state.shape),
        "sampled": int(known.sum()),
        "failed": int((result.state == FAILED).sum()),
        "values": {metric: value_range(grid[known]) for metric, grid in result.values.items()},
    }


def _strict(value: Any) -> Any:
    """The same with None for every number that JSON cannot say."""
    if isinstance(value, dict):
        return {key: _strict(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
