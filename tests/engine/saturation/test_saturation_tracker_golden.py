"""The tracker against exact numbers and the original's names (tests/data/saturation/README.md)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from landscope import AbstractWriter, SaturationTracker

DATA = Path(__file__).parents[2] / "data" / "saturation"
GOLDEN = json.loads((DATA / "golden.json").read_text())
ARRAYS = np.load(DATA / "arrays.npz")
STATS = ["lsat", "idim", "trc", "dtrc", "det", "cov", "logdet", "spectrum"]


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(128, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        return self.fc(nn.functional.max_pool2d(self.conv2(x).relu(), 2).flatten(1))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(12, 16), nn.Linear(16, 8), nn.Linear(8, 4)

    def forward(self, x):
        return self.fc3(self.fc2(self.fc1(x).relu()).relu())


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 10, batch_first=True)
        self.seqhead, self.head = nn.Linear(10, 4), nn.Linear(10, 3)

    def forward(self, x):
        steps = self.lstm(x)[0]
        return self.seqhead(steps), self.head(steps[:, -1])


class Kept(AbstractWriter):
    def __init__(self):
        self.values = {}

    def add_scalar(self, name, value, **kwargs):
        self.values[name] = value

    def save(self):
        pass

    def close(self):
        pass


def _model(name):
    model = {"mlp": Mlp, "cnn": Cnn, "rnn": Rnn}[name]()
    prefix = f"{name}/weight/"
    weights = {key.removeprefix(prefix): ARRAYS[key] for key in ARRAYS.files if key.startswith(prefix)}
    model.load_state_dict({key: torch.from_numpy(value) for key, value in weights.items()})
    return model


def _batches(model, mode):
    count = sum(key.startswith(f"{model}/{mode}/input/batch") for key in ARRAYS.files)
    return [torch.from_numpy(ARRAYS[f"{model}/{mode}/input/batch{k}"]) for k in range(count)]


@cache
def _reported(name, options, recut=None):
    model, writer = _model(name), Kept()
    with SaturationTracker("", writer, model, stats=STATS, **dict(options)) as tracker:
        for mode in ("train", "eval"):
            model.train(mode == "train")
            batches = _batches(name, mode)
            for batch in batches if recut is None else torch.cat(batches).flip(0).split(recut):
                model(batch)
        tracker.add_saturations()
    return writer.values


def _names(case):
    return case["delve_series_names"]


def _expected(case):
    return case.get("exact_all_documented_stacked_timesteps", case["exact_all"])


@pytest.mark.parametrize("threshold", GOLDEN["thresholds"])
@pytest.mark.parametrize("rule", ["smallest_k", "delve"])
@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["key"])
def test_that_saturation_is_exact_under_the_names_of_the_original(case, rule, threshold):
    options = {**case["option"], "sat_threshold": threshold, "idim_rule": rule}
    found = _reported(case["model"], tuple(options.items()))
    key = "delve_rule" if rule == "delve" else rule
    assert found[_names(case)["idim"]] == _expected(case)[f"idim_{key}"][str(threshold)]
    assert found[_names(case)["lsat"]] == _expected(case)[f"lsat_{key}"][str(threshold)]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["key"])
def test_that_trace_covariance_and_determinant_are_exact(case):
    found = _reported(case["model"], tuple(case["option"].items()))
    names, expected = _names(case), _expected(case)
    assert found[names["trc"]] == pytest.approx(expected["trace"], rel=1e-6)
    assert found[names["dtrc"]] == pytest.approx(expected["trace"], rel=1e-6)
    cov = found[names["cov"]]
    assert cov.shape == (expected["features"],) * 2
    assert np.trace(cov) == pytest.approx(expected["trace"], rel=1e-6)
    if f"cov_all/{case['key']}" in ARRAYS and expected is case["exact_all"]:
        np.testing.assert_allclose(cov, ARRAYS[f"cov_all/{case['key']}"], rtol=0, atol=1e-6 * np.trace(cov))
    if expected["rank"] == expected["features"] < expected["n"]:
        logdet = found[f"{case['mode']}-covariance-log-determinant_{case['layer']}"]
        assert logdet == pytest.approx(expected["slogdet"], abs=1e-3)
        assert found[names["det"]] == pytest.approx(np.exp(expected["slogdet"]), rel=1e-3)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["key"])
def test_that_order_and_size_of_batches_do_not_matter(case):
    found = _reported(case["model"], tuple(case["option"].items()), recut=9)
    assert found[_names(case)["idim"]] == _expected(case)["idim_smallest_k"]["0.99"]


@pytest.mark.parametrize("threshold", GOLDEN["thresholds"])
@pytest.mark.parametrize("case", GOLDEN["option_cases"], ids=lambda case: case["name"])
def test_that_options_do_what_is_documented(case, threshold):
    options = {**case["option"], "sat_threshold": threshold}
    found = _reported(case["model"], tuple(options.items()))
    exact, layer = case["exact_documented"], f"{case['mode']}-{{}}_{case['layer']}"
    assert found[layer.format("intrinsic-dimensionality")] == exact["idim_smallest_k"][str(threshold)]
    assert found[layer.format("covariance-trace")] == pytest.approx(exact["trace"], rel=1e-6)
