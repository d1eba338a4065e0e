"""``/planes/NNNN``: one plane on its finest grid. ``/trajectories/NNNN``: one run's path over one plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope.contract.deltas import PlaneOpened, TrajectoryMeasured
from landscope.contract.options import Setting
from landscope.session.layout.put import (
    attach,
    mark_data,
    put_array,
    put_json,
    put_scale,
    put_state,
    put_text,
    put_texts,
)
from landscope.session.layout.take import (
    take_flags,
    take_floats,
    take_integers,
    take_json,
    take_text,
    take_texts,
)
from landscope.session.layout.values import put_values, take_values
from landscope.session.model import Plane

_TEXTS = ("id", "run", "title", "kind", "base")
_PER_CHECKPOINT = ("residuals", "true_loss", "plane_loss")


def put_plane(group: Any, plane: Plane) -> None:
    """A plane into its own, empty group (NXdata: ``loss`` over ``alpha`` and ``beta``)."""
    opened = plane.opened
    for name in _TEXTS:
        put_text(group, name, getattr(opened, name))
    put_texts(group, "axis_titles", opened.axis_titles)
    put_json(group, "settings", opened.settings)
    axes = {
        name: put_scale(group, name, np.asarray(getattr(opened, name), np.float64))
        for name in ("alpha", "beta")
    }
    attach(put_state(group, plane.state), *axes.values())
    put_array(group, "level_points", np.array(list(plane.levels), np.int64))
    put_array(group, "level_surplus", np.array(list(plane.levels.values()), np.float64))
    put_values(group, plane.values, axes)


def take_plane(group: Any) -> Plane:
    """The plane again, without trajectories."""
    alpha, beta = (take_floats(group, name, (None,)) for name in ("alpha", "beta"))
    first, second = take_texts(group, "axis_titles", 2)
    opened = PlaneOpened(
        **{name: take_text(group, name) for name in _TEXTS},
        alpha=alpha,
        beta=beta,
        axis_titles=(first, second),
        settings=take_json(group, "settings", dict[str, Setting]),
    )
    shape = (len(alpha), len(beta))
    plane = Plane(opened=opened, state=take_flags(group, "state", shape))
    plane.values = take_values(group, shape)
    points = take_integers(group, "level_points", (None,))
    surplus = take_floats(group, "level_surplus", points.shape)
    plane.levels = dict(zip(points.tolist(), surplus.tolist(), strict=True))
    return plane


def put_trajectory(group: Any, trajectory: TrajectoryMeasured) -> None:
    """A path into its own, empty group (NXdata: true loss per point of the path)."""
    put_text(group, "plane", trajectory.plane)
    put_text(group, "run", trajectory.run)
    put_texts(group, "checkpoint", trajectory.checkpoints)
    index = put_scale(group, "checkpoint_index", np.arange(len(trajectory.checkpoints)))
    for name in ("coordinates", *_PER_CHECKPOINT):
        attach(put_array(group, name, np.asarray(getattr(trajectory, name), np.float64)), index)
    put_array(group, "explained", np.asarray(trajectory.explained, np.float64))
    mark_data(group, "true_loss", ["checkpoint_index"], ["plane_loss", "residuals"])


def take_trajectory(group: Any) -> TrajectoryMeasured:
    """The path again."""
    names = take_texts(group, "checkpoint")
    return TrajectoryMeasured(
        plane=take_text(group, "plane"),
        run=take_text(group, "run"),
        checkpoints=tuple(names),
        coordinates=take_floats(group, "coordinates", (len(names), 2)),
        explained=take_floats(group, "explained", (2,)),
        **{name: take_floats(group, name, (len(names),)) for name in _PER_CHECKPOINT},
    )
