"""The batch of the loss: chosen by measuring, and only where the value cannot depend on it."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from landscope.contract.job import CancelToken, PlaneJob
from landscope.contract.options import DataOptions, LandscapeOptions, ProjectSpec
from landscope.landscape import batching
from landscope.landscape.analysis import analyse_plane
from landscope.landscape.batching import plan_batches


def per_sample(model, batch):
    return functional.cross_entropy(model(batch[0]), batch[1], reduction="none")


@pytest.fixture
def subject(build):
    def make(loss=per_sample, size=2, model=None):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = model or nn.Linear(4, 3)
        generator = torch.Generator().manual_seed(0)
        x, y = torch.randn(200, 4, generator=generator), torch.arange(200) % 3
        states = {"only": {k: v.clone() for k, v in model.state_dict().items()}}
        return build.subject(model, states, {"train": build.batches(x, y, size)}, loss)

    return make


def test_that_tiny_batches_are_joined_in_the_datas_order(subject):
    found = subject()
    plan = plan_batches(found, "train", CancelToken())
    assert plan.size >= 32 and plan.reason == "fastest of those tried"
    x = torch.cat([batch.value[0] for batch in plan.batches])
    assert torch.equal(x, torch.cat([batch.value[0] for batch in found.data.batches("train")]))


def test_that_a_plane_has_the_same_values_in_its_own_batches(subject, gather):
    def plane(size):
        found = subject(size=size)
        job = PlaneJob(project=found.project, id="p", run="run", options=LandscapeOptions(grid=5))
        return gather(analyse_plane(found, job, CancelToken()))[0].planes["p"]

    joined, given = plane(2), plane(200)
    assert joined.opened.settings["batch"] > 2
    assert joined.values["loss"] == pytest.approx(given.values["loss"], rel=1e-6)


def scalar(model, batch):
    return per_sample(model, batch).mean()


class CentredOnTheBatch(nn.Module):
    """A net whose output for a sample depends on the others in its batch."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return self.linear(x - x.mean(0))


@pytest.mark.parametrize("case", ["scalar loss", "batch-dependent", "chosen by a person", "random"])
def test_that_the_datas_batches_stay(case, subject):
    model = CentredOnTheBatch() if case == "batch-dependent" else None
    found = subject(scalar if case == "scalar loss" else per_sample, model=model)
    if case == "chosen by a person":
        found.project = ProjectSpec(root="/nowhere", data=DataOptions(batch_size=2))
    if case == "random":
        found.random = True
    plan = plan_batches(found, "train", CancelToken())
    assert plan.batches is None and plan.size == 2 and plan.reason == "as the data gives them"


def test_that_large_data_is_not_copied(subject, monkeypatch):
    monkeypatch.setattr(batching, "LARGEST_COPY", 100)
    assert plan_batches(subject(), "train", CancelToken()).batches is None


@pytest.mark.parametrize(
    "seconds,given,wanted",
    [
        ({32: 0.010, 64: 0.012, 128: 0.020}, 32, 128),
        ({32: 0.010, 64: 0.0198, 128: 0.0396}, 64, 64),  # one in a hundred is no reason
        ({32: 0.030, 64: 0.050, 128: 0.060}, 128, 128),  # the short one costs twice as much
        ({32: 0.020, 64: 0.038, 128: 0.070}, 128, 64),  # cheap and soon cancelled
        ({32: 0.2, 64: 0.4, 128: 0.8}, 128, 32),
        ({32: math.inf, 64: math.inf}, 16, 16),
    ],
)
def test_that_a_cheap_and_short_batch_is_chosen(seconds, given, wanted):
    assert batching._chosen(seconds, given) == wanted
