"""Numbers made with delve 0.1.50 and an independent float64 computation (tests/data/saturation/README.md)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from landscope.contract.intrinsic import intrinsic_dimension
from landscope.layers.kinds import Layer
from landscope.layers.samples import Sampling, layer_samples
from landscope.saturation.layer_covariances import LayerCovariances

DATA = Path(__file__).parents[2] / "data" / "saturation"
GOLDEN = json.loads((DATA / "golden.json").read_text())
MODULES = {
    "conv1": (nn.Conv2d(3, 16, 3), "map", 2),
    "conv2": (nn.Conv2d(16, 32, 3), "map", 2),
    "lstm": (nn.LSTM(6, 10, batch_first=True), "series", 0),
}


ARRAYS = np.load(DATA / "arrays.npz")


def _layer(name):
    module, family, spatial = MODULES.get(name, (nn.Linear(1, 1), "series", 0))
    return Layer(name, module, type(module).__name__, family, spatial)


@cache
def _covariances(key):
    case = next(case for case in GOLDEN["cases"] if case["key"] == key)
    layer = _layer(case["layer"])
    covariances = LayerCovariances()
    for k in range(len(case["batch_sizes"])):
        output = torch.from_numpy(ARRAYS[f"{case['model']}/{case['mode']}/act/{case['layer']}/batch{k}"])
        covariances.take(layer.name, layer, layer_samples(layer, output, Sampling(**case["option"])))
    return covariances


def _measure(case, threshold, rule="smallest_k"):
    (found,) = _covariances(case["key"]).statistics(threshold, rule)
    return found


def _expected(case):
    return case.get("exact_all_documented_stacked_timesteps", case["exact_all"])


@pytest.mark.parametrize("threshold", GOLDEN["thresholds"])
@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["key"])
def test_that_intrinsic_dimensions_equal_the_exact_ones(case, threshold):
    expected = _expected(case)
    found = _measure(case, threshold)
    assert (found.samples, found.dimension) == (expected["n"], expected["features"])
    assert found.idim == expected["idim_smallest_k"][str(threshold)]
    assert found.lsat == expected["lsat_smallest_k"][str(threshold)]
    assert _measure(case, threshold, "delve").idim == expected["idim_delve_rule"][str(threshold)]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["key"])
def test_that_traces_spectra_and_ranks_equal_the_exact_ones(case):
    expected = _expected(case)
    found = _measure(case, 0.99)
    assert found.trace == pytest.approx(expected["trace"], rel=1e-6)
    assert found.participation_ratio == pytest.approx(expected["participation_ratio"], rel=1e-5)
    assert found.effective_rank == pytest.approx(expected["entropy_effective_rank"], rel=1e-5)
    stacked = "exact_all_documented_stacked_timesteps" in case
    exact = ARRAYS[f"{'eig_all_stacked' if stacked else 'eig_all'}/{case['key']}"]
    assert found.spectrum.dtype == np.float64
    assert len(found.spectrum) == min(found.dimension, found.samples)
    np.testing.assert_allclose(found.spectrum, exact[: len(found.spectrum)], rtol=0, atol=1e-6 * exact[0])
    assert exact[len(found.spectrum) :].max(initial=0.0) < 1e-6 * exact[0]


@pytest.mark.parametrize("case", GOLDEN["spectrum_cases"], ids=lambda case: case["name"])
def test_that_both_idim_rules_give_the_pinned_numbers(case):
    spectrum = np.sort(np.array(case["eigenvalues"]))[::-1]
    for threshold in GOLDEN["thresholds"]:
        key = str(threshold)
        if case["smallest_k"] is not None:
            assert intrinsic_dimension(spectrum, threshold) == case["smallest_k"][key]
        assert intrinsic_dimension(spectrum, threshold, "delve") == case["delve"][key]["idim"]
