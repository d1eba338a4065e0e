"""The model is bit for bit as before, however an analysis ends; and while it rests, everything is tidy."""

import random

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from landscope.contract.errors import JobCancelled
from landscope.contract.job import CancelToken, LineJob, PlaneJob
from landscope.contract.options import LandscapeOptions
from landscope.landscape.analysis import analyse_line, analyse_plane


def everything(model):
    tensors = [*model.parameters(), *model.buffers()]
    modules = list(model.modules())
    return {
        "bits": [t.detach().contiguous().numpy().tobytes() for t in tensors],
        "memory": [(id(t), t.data_ptr(), t.stride(), t.requires_grad) for t in tensors],
        "grads": [id(t.grad) for t in tensors],
        "modules": [(m.training, list(m._forward_hooks), list(m._forward_pre_hooks)) for m in modules],
        "momenta": [getattr(m, "momentum", None) for m in modules],
        "random": (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()),
    }


class Net(nn.Module):
    """What is easily left moved: BatchNorm, dropout, a tie, a frozen layer, spectral norm, a GRU."""

    def __init__(self, channels_last):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.frozen = nn.Linear(16, 4)
        self.frozen.requires_grad_(False)
        self.gru = nn.GRU(4, 4, batch_first=True)
        self.head = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.head.weight
        self.dropout = nn.Dropout(0.5)
        self.spectral = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3))
        if channels_last:
            self.to(memory_format=torch.channels_last)

    def forward(self, x):
        y = self.relu(self.norm(self.conv(x))).flatten(2)
        y, _ = self.gru(self.frozen(y))
        return self.spectral(self.dropout(self.tied(torch.relu(self.head(y[:, -1])))))


@pytest.fixture(scope="module")
def parts():
    """States of a few checkpoints, and data."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        states = []
        for _ in range(4):
            states.append({k: v.clone() for k, v in Net(False).state_dict().items()})
        return states, torch.randn(20, 1, 4, 4), torch.randint(0, 3, (20,))


class LossError(Exception):
    """An error of the script's loss."""


def make(build, parts, channels_last, training, fail_at):
    states, x, y = parts
    model = Net(channels_last)
    calls = 0

    def loss(net, batch):
        nonlocal calls
        calls += 1
        if calls == fail_at:
            raise LossError
        torch.rand(1), np.random.rand(), random.random()
        return functional.cross_entropy(net(batch[0]), batch[1])

    subject = build.subject(
        model, {f"c{k}": state for k, state in enumerate(states)}, {"train": build.batches(x, y, 8)}, loss
    )
    model.train(training)
    return subject


def analysis(kind, subject, policy, token):
    options = LandscapeOptions(grid=5, points=5, batchnorm=policy)
    if kind == "line":
        job = LineJob(project=subject.project, id="x", run="run", options=options)
        return analyse_line(subject, job, token)
    job = PlaneJob(project=subject.project, id="x", run="run", kind=kind, options=options)
    return analyse_plane(subject, job, token)


@pytest.mark.parametrize("kind", ["line", "random", "trajectory"])
@given(
    policy=st.sampled_from(["frozen", "recalibrated"]),
    channels_last=st.booleans(),
    training=st.booleans(),
    ending=st.sampled_from(["whole", "cancelled", "closed", "failed"]),
    after=st.integers(0, 25),
)
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_that_everything_is_put_back(kind, policy, channels_last, training, ending, after, build, parts):
    subject = make(build, parts, channels_last, training, after + 1 if ending == "failed" else 0)
    before = everything(subject.model)
    token = CancelToken()
    running = analysis(kind, subject, policy, token)
    try:
        for count, _ in enumerate(running):
            if ending == "cancelled" and count == after:
                token.cancel()
            if ending == "closed" and count == after:
                running.close()
                break
    except (JobCancelled, LossError):
        assert ending in ("cancelled", "failed")
    assert everything(subject.model) == before


@pytest.mark.parametrize("kind", ["line", "random", "trajectory"])
@pytest.mark.parametrize("policy", ["frozen", "recalibrated"])
def test_that_an_error_in_the_loss_comes_out_as_it_is(kind, policy, build, parts):
    subject = make(build, parts, False, False, 9)
    before = everything(subject.model)
    with pytest.raises(LossError):
        list(analysis(kind, subject, policy, CancelToken()))
    assert everything(subject.model) == before


@pytest.mark.parametrize("kind", ["line", "random", "trajectory"])
def test_that_cancel_is_heard_at_the_next_batch(kind, build, parts):
    subject = make(build, parts, False, False, 0)
    token = CancelToken()
    running = analysis(kind, subject, "frozen", token)
    next(running)
    token.cancel()
    with pytest.raises(JobCancelled):
        list(running)
