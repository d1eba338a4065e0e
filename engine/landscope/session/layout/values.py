"""The metrics of a line or plane: one dataset each, beside the axes they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from landscope.session.layout.put import attach, mark_data, put_array, put_texts
from landscope.session.layout.take import take_floats, take_texts
from landscope.session.schema import dataset_names


def put_values(group: Any, values: Mapping[str, NDArray[np.float64]], axes: Mapping[str, Any]) -> None:
    """Every metric as a dataset over ``axes`` (name → scale, in the order of the dimensions).

    The group becomes ``NXdata`` with ``loss``, or else the first metric, as its signal.
    """
    metrics = list(values)
    names = dataset_names(metrics, (*group, "metrics", "datasets"))
    put_texts(group, "metrics", metrics)
    put_texts(group, "datasets", names)
    for name, metric in zip(names, metrics, strict=True):
        attach(put_array(group, name, values[metric], metric), *axes.values())
    if names:
        signal = "loss" if "loss" in names else names[0]
        mark_data(group, signal, list(axes), [name for name in names if name != signal])


def take_values(group: Any, shape: tuple[int, ...]) -> dict[str, NDArray[np.float64]]:
    """The metrics again, in their order."""
    metrics = take_texts(group, "metrics")
    names = take_texts(group, "datasets", len(metrics))
    return {m: take_floats(group, name, shape) for m, name in zip(metrics, names, strict=True)}
