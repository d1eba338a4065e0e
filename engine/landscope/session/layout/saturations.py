"""``/saturation/NNNN``: one run in one mode, each statistic stacked over checkpoints and layers.

A column is a layer of one kind; ``order[c, k]`` is the place of column k in the forward order at checkpoint
c, −1 where the layer was not observed.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from landscope.contract.deltas import LayerSaturation, NotObserved, SaturationMeasured
from landscope.contract.options import Setting
from landscope.session.layout.embeddings import put_embeddings, take_embeddings
from landscope.session.layout.put import (
    as_json,
    attach,
    mark_data,
    put_array,
    put_scale,
    put_text,
    put_texts,
)
from landscope.session.layout.take import parsed, take_floats, take_integers, take_text, take_texts
from landscope.session.model import Saturation

FLOATS = ("lsat", "trace", "participation_ratio", "effective_rank")
INTEGERS = ("dimension", "samples", "idim", "nonfinite")
_FlagRow = list[tuple[str, ...]]
_Column = tuple[str, str, int]


def put_saturation(group: Any, saturation: Saturation) -> None:
    """A run's saturation into its own, empty group."""
    put_text(group, "run", saturation.run)
    put_text(group, "mode", saturation.mode)
    measured = list(saturation.measured.values())
    columns = _columns(measured)
    _put_frame(group, measured, columns)
    cells = _cells(measured, columns)
    shape = (len(measured), len(columns))
    checkpoint = put_scale(group, "checkpoint_index", np.arange(shape[0]))
    layer = put_scale(group, "layer_index", np.arange(shape[1]))
    for name in (*FLOATS, *INTEGERS):
        attach(put_array(group, name, _grid(cells, name, shape)), checkpoint, layer)
    _put_spectra(group, cells, shape)
    put_embeddings(group, cells, shape)
    put_texts(group, "flags", _flag_rows(cells, shape))
    mark_data(group, "lsat", ["checkpoint_index", "layer_index"], FLOATS[1:])


def take_saturation(group: Any) -> Saturation:
    """The run's saturation again."""
    found = Saturation(run=take_text(group, "run"), mode=take_text(group, "mode"))
    names = take_texts(group, "checkpoint")
    threshold = take_floats(group, "threshold", (len(names),))
    settings = take_texts(group, "settings", len(names))
    unseen = take_texts(group, "not_observed", len(names))
    layers = _take_layers(group, len(names))
    for row, name in enumerate(names):
        found.measured[name] = SaturationMeasured(
            run=found.run,
            checkpoint=name,
            mode=found.mode,
            threshold=float(threshold[row]),
            layers=layers[row],
            not_observed=parsed(unseen[row], tuple[NotObserved, ...], f"{group.name}/not_observed"),
            settings=parsed(settings[row], dict[str, Setting], f"{group.name}/settings"),
        )
    return found


def _columns(measured: list[SaturationMeasured]) -> dict[_Column, int]:
    """(layer, kind, how many of that name came before) → column, in order of first appearance."""
    found: dict[_Column, int] = {}
    for one in measured:
        for key in _keys(one):
            found.setdefault(key, len(found))
    return found


def _keys(measured: SaturationMeasured) -> list[_Column]:
    seen: dict[tuple[str, str], int] = {}
    keys = []
    for layer in measured.layers:
        name = (layer.layer, layer.kind)
        seen[name] = seen.get(name, -1) + 1
        keys.append((*name, seen[name]))
    return keys


def _cells(
    measured: list[SaturationMeasured], columns: dict[_Column, int]
) -> dict[tuple[int, int], LayerSaturation]:
    return {
        (row, columns[key]): layer
        for row, one in enumerate(measured)
        for key, layer in zip(_keys(one), one.layers, strict=True)
    }


def _put_frame(group: Any, measured: list[SaturationMeasured], columns: dict[_Column, int]) -> None:
    """What the rows and columns are called, and what belongs to a whole checkpoint."""
    put_texts(group, "layer", [layer for layer, _, _ in columns])
    put_texts(group, "kind", [kind for _, kind, _ in columns])
    put_texts(group, "checkpoint", [one.checkpoint for one in measured])
    put_array(group, "threshold", np.array([one.threshold for one in measured], np.float64))
    put_texts(group, "settings", [as_json(one.settings) for one in measured])
    unseen = [as_json(msgspec.to_builtins(one.not_observed)) for one in measured]
    put_texts(group, "not_observed", unseen)
    order = np.full((len(measured), len(columns)), -1, np.int64)
    for row, one in enumerate(measured):
        for place, key in enumerate(_keys(one)):
            order[row, columns[key]] = place
    put_array(group, "order", order)


def _grid(
    cells: dict[tuple[int, int], LayerSaturation], name: str, shape: tuple[int, int]
) -> NDArray[np.float64] | NDArray[np.int64]:
    whole = name in INTEGERS
    out: Any = np.zeros(shape, np.int64) if whole else np.full(shape, np.nan)
    for where, layer in cells.items():
        out[where] = getattr(layer, name)
    return out  # type: ignore[no-any-return]


def _flag_rows(cells: dict[tuple[int, int], LayerSaturation], shape: tuple[int, int]) -> list[str]:
    """Per checkpoint the flags of every column, as JSON."""
    none: tuple[str, ...] = ()
    rows, columns = (range(count) for count in shape)
    return [as_json([cells[row, k].flags if (row, k) in cells else none for k in columns]) for row in rows]


def _put_spectra(group: Any, cells: dict[tuple[int, int], LayerSaturation], shape: tuple[int, int]) -> None:
    """``spectrum`` (C, L, longest) padded with NaN, ``length`` (C, L) the eigenvalues that count."""
    length = np.zeros(shape, np.int64)
    for where, layer in cells.items():
        length[where] = len(layer.spectrum)
    spectrum = np.full((*shape, int(length.max(initial=0))), np.nan)
    for (row, column), layer in cells.items():
        spectrum[row, column, : length[row, column]] = layer.spectrum
    put_array(group, "length", length)
    put_array(group, "spectrum", spectrum, "eigenvalue")


def _take_layers(group: Any, count: int) -> list[tuple[LayerSaturation, ...]]:
    names = take_texts(group, "layer")
    kinds = take_texts(group, "kind", len(names))
    shape = (count, len(names))
    floats = {name: take_floats(group, name, shape) for name in FLOATS}
    integers = {name: take_integers(group, name, shape) for name in (*INTEGERS, "order", "length")}
    spectrum = take_floats(group, "spectrum", (*shape, None))
    embedded = take_embeddings(group, shape)
    flags = [parsed(text, _FlagRow, f"{group.name}/flags") for text in take_texts(group, "flags", count)]

    def cell(row: int, column: int) -> LayerSaturation:
        values: dict[str, Any] = {name: float(grid[row, column]) for name, grid in floats.items()}
        values |= {name: int(integers[name][row, column]) for name in INTEGERS}
        return LayerSaturation(
            layer=names[column],
            kind=kinds[column],
            spectrum=spectrum[row, column, : integers["length"][row, column]].copy(),
            flags=flags[row][column],
            **values,
            **embedded(row, column),
        )

    order = integers["order"]
    return [
        tuple(cell(row, int(k)) for k in np.argsort(order[row], kind="stable") if order[row, k] >= 0)
        for row in range(count)
    ]
