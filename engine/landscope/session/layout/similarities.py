"""``/similarity/NNNN``: how alike the functions of checkpoints are, a run's rows against a run's columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from landscope.contract.deltas import NotObserved, SimilarityMeasured
from landscope.contract.options import Setting
from landscope.session.layout.put import (
    as_json,
    attach,
    mark_data,
    put_array,
    put_json,
    put_scale,
    put_text,
    put_texts,
)
from landscope.session.layout.take import (
    parsed,
    take_floats,
    take_group,
    take_integers,
    take_json,
    take_text,
    take_texts,
)
from landscope.session.layout.values import put_values, take_values


def put_similarity(group: Any, found: SimilarityMeasured) -> None:
    """One comparison into its own, empty group: matrices of predictions, and CKA layer by layer."""
    for name in ("run", "other", "split"):
        put_text(group, name, getattr(found, name))
    put_array(group, "samples", np.int64(found.samples))
    put_texts(group, "row", found.checkpoints)
    put_texts(group, "column", found.others)
    put_texts(group, "layer", found.layers)
    put_text(group, "not_observed", as_json([[one.layer, one.reason] for one in found.not_observed]))
    put_json(group, "settings", found.settings)
    _put_predictions(group.create_group("predictions"), found)
    _put_cka(group.create_group("cka"), found)


def take_similarity(group: Any) -> SimilarityMeasured:
    """The comparison again."""
    rows, columns, layers = (tuple(take_texts(group, name)) for name in ("row", "column", "layer"))
    unseen = parsed(take_text(group, "not_observed"), list[tuple[str, str]], f"{group.name}/not_observed")
    return SimilarityMeasured(
        run=take_text(group, "run"),
        other=take_text(group, "other"),
        checkpoints=rows,
        others=columns,
        split=take_text(group, "split"),
        samples=int(take_integers(group, "samples", ())),
        predictions=dict(take_values(take_group(group, "predictions"), (len(rows), len(columns)))),
        layers=layers,
        cka=take_floats(take_group(group, "cka"), "cka", (len(layers), len(rows), len(columns))),
        not_observed=tuple(NotObserved(layer=layer, reason=reason) for layer, reason in unseen),
        settings=take_json(group, "settings", dict[str, Setting]),
    )


def _put_predictions(group: Any, found: SimilarityMeasured) -> None:
    axes = {
        "row_index": put_scale(group, "row_index", np.arange(len(found.checkpoints))),
        "column_index": put_scale(group, "column_index", np.arange(len(found.others))),
    }
    put_values(group, {name: np.asarray(one) for name, one in found.predictions.items()}, axes)


def _put_cka(group: Any, found: SimilarityMeasured) -> None:
    axes = ["layer_index", "row_index", "column_index"]
    values = np.asarray(found.cka, np.float64)
    scales = [
        put_scale(group, axis, np.arange(length)) for axis, length in zip(axes, values.shape, strict=True)
    ]
    attach(put_array(group, "cka", values), *scales)
    mark_data(group, "cka", axes)
