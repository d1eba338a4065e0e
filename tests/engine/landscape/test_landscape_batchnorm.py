"""Recalibrated statistics: pooled, independent of the loss's batches, and of nothing else."""

from collections import namedtuple
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from landscope.contract.errors import DataError, JobCancelled
from landscope.contract.job import CancelToken
from landscope.landscape import batchnorm
from landscope.landscape.batchnorm import Recalibration, batchnorm_modules, calibration_batches
from landscope.project.batching.rebatch import CannotRecutError, recut

Pair = namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Sample:
    x: torch.Tensor
    name: str = "kept"


def forward(model, batch):
    return model(batch[0])


def norm_net():
    return nn.Sequential(nn.BatchNorm2d(3), nn.Dropout(0.9), nn.BatchNorm2d(3)).eval()


@pytest.fixture
def pictures():
    x = torch.randn(100, 3, 4, 5, generator=torch.Generator().manual_seed(0)) * 3 + 7
    return x, torch.arange(100)


def test_that_statistics_are_those_of_all_values_together(pictures, build, monkeypatch):
    monkeypatch.setattr(batchnorm, "BATCH", 33)
    x, y = pictures
    model = nn.Sequential(nn.BatchNorm2d(3)).eval()
    Recalibration(model, build.batches(x, y, 17), forward, CancelToken()).recalibrate()
    values = x.double().transpose(0, 1).reshape(3, -1)
    assert model[0].running_mean.double() == pytest.approx(values.mean(1), rel=1e-6)
    assert model[0].running_var.double() == pytest.approx(values.var(1, correction=1), rel=1e-6)


def test_that_the_cut_of_the_data_does_not_matter(pictures, build):
    found = []
    for size in (7, 50, 100):
        model = norm_net()
        Recalibration(model, build.batches(*pictures, size), forward, CancelToken()).recalibrate()
        found.append(torch.cat([model[0].running_var, model[2].running_mean]))
    assert torch.equal(found[0], found[1]) and torch.equal(found[1], found[2])


def test_that_only_batchnorm_is_in_train_mode_and_only_meanwhile(pictures, build):
    model = norm_net()
    modes = []
    model[1].register_forward_hook(lambda m, *_: modes.append((m.training, model[0].training)))
    Recalibration(model, build.batches(*pictures, 50), forward, CancelToken()).recalibrate()
    assert modes == [(False, True)]
    assert not any(module.training for module in model.modules())
    assert [m.momentum for m in (model[0], model[2])] == [0.1, 0.1]
    assert model[0].num_batches_tracked == 0
    assert not model[0]._forward_hooks and not model[0]._forward_pre_hooks


def test_that_a_diverged_point_does_not_spoil_the_next(pictures, build):
    model = nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)).eval()
    recalibration = Recalibration(model, build.batches(*pictures, 50), forward, CancelToken())
    recalibration.recalibrate()
    good = model[1].running_var.clone()
    weight = model[0].weight.detach().clone()
    with torch.no_grad():
        model[0].weight.fill_(float("inf"))
        recalibration.recalibrate()
        assert not model[1].running_var.isfinite().all()
        model[0].weight.copy_(weight)
    recalibration.recalibrate()
    assert torch.equal(model[1].running_var, good)


def test_that_stored_statistics_come_back(pictures, build):
    model = norm_net()
    model[0].running_mean.fill_(5.0)
    recalibration = Recalibration(model, build.batches(*pictures, 50), forward, CancelToken())
    recalibration.recalibrate()
    assert not (model[0].running_mean == 5).any()
    recalibration.use_stored()
    assert (model[0].running_mean == 5).all()


def test_that_a_module_used_twice_pools_both_calls(pictures, build):
    norm = nn.BatchNorm2d(3)
    model = nn.Sequential(norm, nn.ReLU(), norm).eval()
    Recalibration(model, build.batches(*pictures, 100), forward, CancelToken()).recalibrate()
    x = pictures[0]
    second = nn.functional.batch_norm(x, None, None, training=True).relu()
    both = torch.cat([x, second]).transpose(0, 1).reshape(3, -1)
    assert norm.running_mean == pytest.approx(both.mean(1), rel=1e-4)
    assert norm.running_var == pytest.approx(both.var(1), rel=1e-4)


def test_that_batches_are_fixed_shuffled_and_limited(build, monkeypatch):
    monkeypatch.setattr(batchnorm, "SAMPLES", 60)
    monkeypatch.setattr(batchnorm, "BATCH", 25)
    frozen = build.batches(torch.arange(200.0)[:, None], torch.arange(200), 31)
    once, cut = calibration_batches(frozen)
    again, _ = calibration_batches(frozen)
    assert cut and [batch.size for batch in once] == [25, 25, 10]
    labels = torch.cat([batch.value[1] for batch in once])
    assert torch.equal(labels, torch.cat([batch.value[1] for batch in again]))
    assert len(labels.unique()) == 60 and labels.max() > 150
    assert all(torch.equal(batch.value[0][:, 0].long(), batch.value[1]) for batch in once)


def test_that_data_that_cannot_be_cut_is_used_in_whole_batches(build, monkeypatch):
    monkeypatch.setattr(batchnorm, "SAMPLES", 10)
    frozen = [build.batch({"x": torch.zeros(4, 3), "edges": torch.zeros(2, 9)}, 4) for _ in range(5)]
    batches, cut = calibration_batches(frozen)
    assert not cut and len(batches) == 3 and all(batch in frozen for batch in batches)


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(10.0),
        (torch.arange(10.0), torch.arange(10)),
        [torch.arange(10.0)],
        {"x": torch.arange(10.0), "task": "digits", "none": None},
        Pair(torch.arange(10.0), torch.arange(10)),
        (Sample(torch.arange(10.0)), {"deep": [torch.arange(10.0)]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_that_any_nesting_is_cut(value, build):
    def first(tree):
        while not isinstance(tree, torch.Tensor):
            tree = (
                next(iter(tree.values()))
                if isinstance(tree, dict)
                else (tree.x if isinstance(tree, Sample) else tree[0])
            )
        return tree

    (found,) = recut([build.batch(value, 10), build.batch(value, 10)], torch.tensor([3, 12, 19]), 8)
    assert type(found.value) is type(value) and found.size == 3
    assert sorted(first(found.value).tolist()) == [2, 3, 9]


@pytest.mark.parametrize(
    "values",
    [
        [(torch.zeros(4, 2),), (torch.zeros(4, 3),)],
        [(torch.zeros(4), "a"), (torch.zeros(4), "b")],
        [(torch.tensor(1.0),), (torch.tensor(1.0),)],
        [object(), object()],
    ],
)
def test_that_batches_that_do_not_join_are_not_cut(values, build):
    with pytest.raises(CannotRecutError):
        recut([build.batch(value, 4) for value in values], torch.arange(8), 8)


def test_that_a_last_batch_of_one_joins_the_one_before(build):
    frozen = build.batches(torch.arange(9.0)[:, None], torch.arange(9), 9)
    assert [batch.size for batch in recut(frozen, torch.arange(9), 4)] == [4, 5]


def test_that_a_single_value_per_channel_is_refused(build):
    model = nn.Sequential(nn.BatchNorm1d(2)).eval()
    recalibration = Recalibration(
        model, build.batches(torch.ones(1, 2), torch.ones(1), 1), forward, CancelToken()
    )
    with pytest.raises(DataError, match="one value per channel"):
        recalibration.recalibrate()
    assert not model[0].training and model[0].momentum == 0.1


def test_that_cancelling_leaves_eval_mode_behind(pictures, build):
    token = CancelToken()
    model = norm_net()
    recalibration = Recalibration(model, build.batches(*pictures, 50), forward, token)
    token.cancel()
    with pytest.raises(JobCancelled):
        recalibration.recalibrate()
    assert not model[0].training and not model[0]._forward_hooks


def test_that_modules_without_running_statistics_need_none():
    model = nn.Sequential(nn.BatchNorm1d(2, track_running_stats=False), nn.LayerNorm(2), nn.InstanceNorm1d(2))
    assert batchnorm_modules(model) == []
