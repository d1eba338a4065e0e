"""Distances against an independent NumPy float64 computation (tests/data/distance/README.md)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from landscope.contract.deltas import DistanceMatrices, DistanceOpened, DistancesMeasured
from landscope.contract.job import CancelToken, DistanceJob
from landscope.contract.options import ProjectSpec
from landscope.distance.analysis import analyse_files

DATA = Path(__file__).parents[2] / "data" / "distance"
CASES = ("mlp_sgd", "cnn_bn_momentum", "mlp_diverge")
PER_CHECKPOINT = {
    "Distance": "distance",
    "RelativeDistance": "relative",
    "CosineToInit": "cosine",
    "Norm": "norm",
    "PathLength": "path_length",
    "FilterRelativeDistance_mean": "filter_relative",
    "Distance_total": "distance",
    "RelativeDistance_total": "relative",
    "PathLength_total": "path_length",
    "Straightness_total": "straightness",
}
PER_UPDATE = {
    "UpdateSize": ("update", 1),
    "UpdateSize_total": ("update", 1),
    "CosConsecutiveUpdates": ("angle", 1),
    "CosConsecutiveUpdates_total": ("angle", 1),
}


@cache
def _expected(case):
    return json.loads((DATA / case / "expected_float64.json").read_text())


@cache
def _results(case):
    job = DistanceJob(project=ProjectSpec(root=str(DATA)), run=case)
    updates = analyse_files(DATA / case / "checkpoints", case, job, CancelToken())
    deltas = [update.delta for update in updates if hasattr(update, "delta")]
    opened = [delta for delta in deltas if isinstance(delta, DistanceOpened)][-1]
    measured = {delta.checkpoint: delta for delta in deltas if isinstance(delta, DistancesMeasured)}
    (matrices,) = [delta for delta in deltas if isinstance(delta, DistanceMatrices)]
    return opened, measured, matrices


def _floats(values):
    return np.array([np.nan if value is None else value for value in np.atleast_1d(values)], np.float64)


def _compare(case, key, quantity, step_of_key):
    opened, measured, _ = _results(case)
    rows = [opened.parameters.index(name) for name in _expected(case)["parameter_names"]]
    for step, values in _expected(case)[key].items():
        found = measured[f"step_{int(step) + step_of_key:04d}.pt"]
        got = found.total[quantity] if key.endswith("_total") else found.parameters[quantity][rows]
        got = np.cos(np.radians(got)) if quantity == "angle" else got
        np.testing.assert_allclose(np.atleast_1d(got), _floats(values), rtol=1e-7, err_msg=f"{key} {step}")


@pytest.mark.parametrize("key", PER_CHECKPOINT)
@pytest.mark.parametrize("case", CASES)
def test_that_quantities_of_a_checkpoint_equal_the_independent_ones(case, key):
    _compare(case, key, PER_CHECKPOINT[key], 0)


@pytest.mark.parametrize("key", PER_UPDATE)
@pytest.mark.parametrize("case", CASES)
def test_that_quantities_of_an_update_equal_the_independent_ones(case, key):
    _compare(case, key, *PER_UPDATE[key])


@pytest.mark.parametrize("case", CASES)
def test_that_the_distance_matrix_equals_the_independent_one(case):
    _, measured, matrices = _results(case)
    assert matrices.checkpoints == tuple(measured)
    expected = np.array([_floats(row) for row in _expected(case)["PairwiseDistance_total"]])
    np.testing.assert_allclose(matrices.distance, expected, rtol=1e-7)
    np.testing.assert_allclose(
        matrices.cosine[0], [one.total["cosine"] for one in measured.values()], rtol=1e-12, atol=1e-12
    )


def test_that_buffers_stay_out_of_layers_and_total():
    opened, measured, _ = _results("cnn_bn_momentum")
    buffers = [name for name, flags in zip(opened.parameters, opened.flags, strict=True) if "buffer" in flags]
    assert buffers == ["bn1.running_mean", "bn1.running_var", "bn2.running_mean", "bn2.running_var"]
    assert opened.layers == ("conv1", "bn1", "conv2", "bn2", "fc")
    last = measured["step_0020.pt"]
    moved = [k for k, name in enumerate(opened.parameters) if name not in buffers]
    assert last.total["distance"] == pytest.approx(np.linalg.norm(last.parameters["distance"][moved]))
    assert np.linalg.norm(last.layers["distance"]) == pytest.approx(last.total["distance"])
    assert last.parameters["distance"][opened.parameters.index("bn1.running_var")] > 0


def test_that_a_diverged_run_flags_its_parameters_and_keeps_the_finite_part():
    opened, measured, matrices = _results("mlp_diverge")
    assert all(flags == ("nonfinite",) for flags in opened.flags)
    assert np.isfinite(measured["step_0003.pt"].total["distance"])
    assert np.isnan(measured["step_0004.pt"].total["distance"])
    assert np.isfinite(matrices.distance[:4, :4]).all()
    assert np.isnan(matrices.distance[4:]).all()
