"""The sample project is whole, is what its notes say, and shows the contrast it is there for."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from landscope_resources import sample_project

RUNS = ("skip", "plain", "mlp")
KEPT = 12


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample_script", sample_project() / "project.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def stored(run: str) -> list[dict]:
    return [
        torch.load(file, weights_only=True) for file in sorted((sample_project() / "runs" / run).iterdir())
    ]


def test_that_the_scans_are_the_known_ones():
    with np.load(sample_project() / "digits.npz") as scans:
        assert scans["images"].shape == (1797, 8, 8) and scans["images"].dtype == np.uint8
        # Counts of the digits 0 to 9 and the sum of all pixels, as in the original file.
        assert np.bincount(scans["labels"]).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
        assert scans["images"].max() == 16 and int(scans["images"].sum(dtype=np.int64)) == 561718


@pytest.mark.parametrize("run", RUNS)
def test_that_checkpoints_fit_the_script_and_count_up(run, script):
    checkpoints = stored(run)
    assert len(checkpoints) == KEPT
    assert [c["epoch"] for c in checkpoints] == sorted({c["epoch"] for c in checkpoints})
    assert checkpoints[0]["step"] == 0
    model = script.build_model(run)
    for checkpoint in checkpoints:
        model.load_state_dict(checkpoint["model"])


def test_that_skip_connections_are_the_only_difference(script):
    skip, plain = script.build_model("skip"), script.build_model("plain")
    assert [(n, p.shape) for n, p in skip.named_parameters()] == [
        (n, p.shape) for n, p in plain.named_parameters()
    ]
    assert sum(p.numel() for p in skip.parameters()) == 41_730
    weighted = [m for m in skip.modules() if isinstance(m, torch.nn.Conv2d | torch.nn.Linear)]
    assert len(weighted) == 32


@pytest.mark.parametrize(("run", "least"), [("skip", 0.98), ("plain", 0.95), ("mlp", 0.97)])
def test_that_the_last_checkpoint_reads_unseen_digits(run, least, script):
    last = stored(run)[-1]
    model = script.build_model(run).eval()
    model.load_state_dict(last["model"])
    right = [(model(x).argmax(1) == y) for x, y in script.build_data("test")]
    accuracy = torch.cat(right).double().mean().item()
    assert accuracy >= least
    assert accuracy == pytest.approx(last["test_accuracy"], abs=1e-6)


def basin(script: ModuleType, run: str, seed: int, points: int, count: int) -> float:
    """Share of the plane of reach 1 where the loss is below (centre + 1), by a loop of our own."""
    model = script.build_model(run).eval()
    model.load_state_dict(stored(run)[-1]["model"])
    x, y = (torch.cat(part)[:count] for part in zip(*script.build_data("train"), strict=True))
    base = [p.detach().clone() for p in model.parameters()]
    generator = torch.Generator().manual_seed(seed)
    first, second = ([filter_normalised(w, generator) for w in base] for _ in range(2))
    axis = torch.linspace(-1, 1, points)
    with torch.no_grad():

        def loss(alpha: Tensor, beta: Tensor) -> float:
            for p, w, a, b in zip(model.parameters(), base, first, second, strict=True):
                p.copy_(w + alpha * a + beta * b)
            return cross_entropy(model(x), y).item()

        centre = loss(torch.tensor(0.0), torch.tensor(0.0))
        return float(np.mean([loss(a, b) < centre + 1 for a in axis for b in axis]))


def filter_normalised(weight: Tensor, generator: torch.Generator) -> Tensor:
    drawn = torch.randn(weight.shape, generator=generator)
    if weight.ndim < 2:
        return torch.zeros_like(weight)
    length = weight.flatten(1).norm(dim=1) / drawn.flatten(1).norm(dim=1)
    return drawn * length.reshape(-1, *[1] * (weight.ndim - 1))


@pytest.mark.parametrize(
    ("seeds", "points", "count"),
    [
        pytest.param(1, 9, 128, id="one seed, coarse"),
        pytest.param(5, 17, 512, id="five seeds", marks=pytest.mark.long),
    ],
)
def test_that_the_basin_is_twice_as_wide_with_skip_connections(script, seeds, points, count):
    with_skips, without = (
        np.median([basin(script, run, seed, points, count) for seed in range(seeds)])
        for run in ("skip", "plain")
    )
    assert with_skips >= 2 * without > 0


def test_that_the_sample_can_be_made_again(tmp_path, monkeypatch):
    """The first checkpoint comes out the same, bit for bit, from the script kept beside it."""
    from landscope_resources.sample import make_sample as maker

    monkeypatch.setattr(maker, "KEPT_EPOCHS", (0,))
    maker.train("mlp", maker.RECIPES["mlp"], tmp_path / "mlp")
    made = torch.load(tmp_path / "mlp" / "epoch_000.pt", weights_only=True)["model"]
    kept = stored("mlp")[0]["model"]
    assert all(torch.equal(made[name], kept[name]) for name in kept)
