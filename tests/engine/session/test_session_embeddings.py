"""Embedded samples in the session's file: old files lack them, damaged ones are refused."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

from landscope.contract import deltas as d
from landscope.contract.errors import SessionError
from landscope.session.model import Session
from landscope.session.read import read
from landscope.session.write import save

GROUP = "saturation/0000"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    session = Session()
    layers = tuple(_layer(name, points) for name, points in (("conv", 3), ("head", 2)))
    for checkpoint in ("0.pt", "1.pt"):
        session.apply(
            d.SaturationMeasured(run="net", checkpoint=checkpoint, mode="train", threshold=0.9, layers=layers)
        )
    return save(session, tmp_path / "s.h5")


def _layer(name: str, points: int) -> d.LayerSaturation:
    return d.LayerSaturation(
        layer=name,
        kind="Linear",
        dimension=2,
        samples=9,
        idim=1,
        lsat=0.5,
        trace=1.0,
        participation_ratio=1.0,
        effective_rank=1.0,
        spectrum=np.array([0.9, 0.1]),
        embedding=np.arange(2.0 * points, dtype=np.float32).reshape(points, 2) / 3,
        labels=np.arange(points),
        items=np.arange(points) + 7,
    )


def test_that_it_is_stored_in_single_precision_and_read_as_it_was(path: Path) -> None:
    with h5py.File(path) as file:
        assert file[f"{GROUP}/embedding"].dtype == np.float32
        assert file[f"{GROUP}/embedding"].shape == (2, 2, 3, 2)
    conv, head = read(path).saturation["net/train"].measured["1.pt"].layers
    assert (conv.embedding.dtype, conv.embedding.shape) == (np.float32, (3, 2))
    assert np.array_equal(head.embedding, _layer("head", 2).embedding)
    assert (head.labels.tolist(), head.items.tolist()) == ([0, 1], [7, 8])


def test_that_a_session_without_samples_opens(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        for name in ("points", "embedding", "label", "item"):
            del file[f"{GROUP}/{name}"]
    (conv, _) = read(path).saturation["net/train"].measured["0.pt"].layers
    assert conv.embedding.shape == (0, 2)
    assert len(conv.labels) == len(conv.items) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("points", np.array([[3, 2], [3, 4]])),
        ("points", np.array([[3, 2], [3, -1]])),
        ("points", np.zeros((2, 3), int)),
        ("embedding", np.zeros((2, 2, 3, 3), np.float32)),
        ("embedding", np.zeros((2, 2, 3, 2), int)),
        ("label", np.zeros((2, 2, 2), int)),
        ("item", np.zeros((2, 2, 3))),
        ("item", None),
    ],
)
def test_that_samples_that_do_not_fit_are_refused(path: Path, name: str, value: object) -> None:
    with h5py.File(path, "r+") as file:
        del file[f"{GROUP}/{name}"]
        if value is not None:
            file[f"{GROUP}/{name}"] = value
    with pytest.raises(SessionError, match=name):
        read(path)
