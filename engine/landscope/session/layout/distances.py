"""``/distances/NNNN`` and ``/gradients/NNNN``: a run's quantities per parameter, stacked over checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope.contract.deltas import (
    DistanceMatrices,
    DistanceOpened,
    DistancesMeasured,
    GradientOpened,
    GradientsMeasured,
)
from landscope.session.layout.put import (
    as_json,
    attach,
    mark_data,
    put_array,
    put_integers,
    put_scale,
    put_text,
    put_texts,
)
from landscope.session.layout.stack import put_stack, take_stack
from landscope.session.layout.take import (
    parsed,
    take_floats,
    take_group,
    take_integers,
    take_optional_integers,
    take_text,
    take_texts,
)
from landscope.session.model import Distances


def put_distances(group: Any, distances: Distances) -> None:
    """A run's distances into their own, empty group."""
    _put_frame(group, distances.opened)
    measured = list(distances.measured.values())
    put_texts(group, "checkpoint", [one.checkpoint for one in measured])
    opened = distances.opened
    _put_scope(group, "total", [dict(one.total) for one in measured], ())
    _put_scope(group, "layers", [one.layers for one in measured], (len(opened.layers),))
    _put_scope(group, "parameters", [one.parameters for one in measured], (len(opened.parameters),))
    if distances.matrices is not None:
        _put_matrices(group.create_group("matrices"), distances.matrices)


def take_distances(group: Any) -> Distances:
    """The run's distances again."""
    found = Distances(opened=DistanceOpened(**_frame(group)))
    _take_measured(group, found, DistancesMeasured)
    if "matrices" in group:
        found.matrices = _take_matrices(take_group(group, "matrices"), found.opened.run)
    return found


def put_gradients(group: Any, gradients: Distances) -> None:
    """A run's gradient norms into their own, empty group."""
    opened = gradients.opened
    assert isinstance(opened, GradientOpened)
    put_distances(group, gradients)
    put_text(group, "split", opened.split)
    put_array(group, "samples", np.int64(opened.samples))


def take_gradients(group: Any) -> Distances:
    """The run's gradient norms again."""
    split, samples = take_text(group, "split"), int(take_integers(group, "samples", ()))
    found = Distances(opened=GradientOpened(**_frame(group), split=split, samples=samples))
    _take_measured(group, found, GradientsMeasured)
    return found


def _take_measured(group: Any, found: Distances, kind: type[DistancesMeasured]) -> None:
    names, opened = take_texts(group, "checkpoint"), found.opened
    count = len(names)
    total = take_stack(take_group(group, "total"), count, ())
    layers = take_stack(take_group(group, "layers"), count, (len(opened.layers),))
    parameters = take_stack(take_group(group, "parameters"), count, (len(opened.parameters),))
    for row, name in enumerate(names):
        found.measured[name] = kind(
            run=opened.run,
            checkpoint=name,
            parameters=dict(parameters[row]),
            layers=dict(layers[row]),
            total={quantity: float(value) for quantity, value in total[row].items()},
        )


def _put_frame(group: Any, opened: DistanceOpened) -> None:
    put_text(group, "run", opened.run)
    put_text(group, "reference", opened.reference)
    put_integers(group, "reference_step", [opened.reference_step])
    put_texts(group, "parameter", opened.parameters)
    put_array(group, "elements", np.asarray(opened.sizes, np.int64))
    put_texts(group, "layer", opened.layers)
    put_array(group, "layer_of", np.asarray(opened.layer_of, np.int64))
    put_text(group, "flags", as_json(opened.flags))


def _frame(group: Any) -> dict[str, Any]:
    """The fields of the frame."""
    parameters = take_texts(group, "parameter")
    return {
        "run": take_text(group, "run"),
        "reference": take_text(group, "reference"),
        "reference_step": take_optional_integers(group, "reference_step", 1)[0],
        "parameters": tuple(parameters),
        "sizes": take_integers(group, "elements", (len(parameters),)),
        "layers": tuple(take_texts(group, "layer")),
        "layer_of": take_integers(group, "layer_of", (len(parameters),)),
        "flags": parsed(take_text(group, "flags"), tuple[tuple[str, ...], ...], f"{group.name}/flags"),
    }


def _put_scope(group: Any, name: str, rows: list[dict[str, Any]], width: tuple[int, ...]) -> None:
    """NXdata of one scope: every quantity (checkpoints, \\*width)."""
    scope = group.create_group(name)
    axes = ["checkpoint_index", "index"][: 1 + len(width)]
    scales = [
        put_scale(scope, axis, np.arange(length))
        for axis, length in zip(axes, (len(rows), *width), strict=True)
    ]
    datasets = put_stack(scope, rows, width, axes)
    for dataset in datasets:
        attach(dataset, *scales)
    names = [str(dataset.name).rsplit("/", 1)[-1] for dataset in datasets]
    if names:
        mark_data(scope, names[0], axes, names[1:])


def _put_matrices(group: Any, matrices: DistanceMatrices) -> None:
    put_texts(group, "checkpoint", matrices.checkpoints)
    index = put_scale(group, "checkpoint_index", np.arange(len(matrices.checkpoints)))
    for name in ("distance", "cosine"):
        attach(put_array(group, name, np.asarray(getattr(matrices, name), np.float64)), index, index)
    mark_data(group, "distance", ["checkpoint_index", "checkpoint_index"], ["cosine"])


def _take_matrices(group: Any, run: str) -> DistanceMatrices:
    names = take_texts(group, "checkpoint")
    shape = (len(names), len(names))
    return DistanceMatrices(
        run=run,
        checkpoints=tuple(names),
        distance=take_floats(group, "distance", shape),
        cosine=take_floats(group, "cosine", shape),
    )
