"""Models and losses that move what they should not: every call starts from the same, and it is said."""

from pathlib import Path

import pytest
import torch

from landscope.contract.deltas import CheckpointMeasured, LinePoints
from landscope.contract.events import Done, Notice, Partial
from landscope.contract.job import CancelToken, EvaluateJob, LineJob
from landscope.contract.options import LandscapeOptions
from landscope.project.opening import open_subject
from landscope.runner.bench import Bench
from landscope.runner.run import run_job

HEAD = """
import json, pathlib, sys
import torch
from torch import nn
from torch.nn import functional as F
"""
DATA = """
def build_data():
    x = torch.randn(24, 6, generator=torch.Generator().manual_seed(1))
    return [(x[i:i + 8], (x[i:i + 8, 0] > 0).long()) for i in range(0, 24, 8)]
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 2)
        self.table = nn.Embedding(4, 6, max_norm=1.0)
    def forward(self, x):
        {moving}
        return self.lin(x) {more}

def build_model():
    torch.manual_seed(0)
    return Net()
"""
MOVING = {
    "memory": ("self.lin.weight.data = F.normalize(self.lin.weight.data, dim=1)", ""),
    "values": ("with torch.no_grad(): self.lin.weight.clamp_(-0.2, 0.2)", ""),
    "the parameter": ("self.lin.weight = nn.Parameter(self.lin.weight.detach().clamp(-0.2, 0.2))", ""),
    "rows": ("", "+ self.table(torch.arange(4)).sum()"),
}


def played(job, bench):
    bodies = [event.body for event in run_job("job", job, bench, CancelToken())]
    assert isinstance(bodies[-1], Done), bodies[-1]
    return [b.delta for b in bodies if isinstance(b, Partial)], [b for b in bodies if isinstance(b, Notice)]


def plain_loss(spec, step):
    """The mean loss by a plain loop, each batch after the weights are loaded anew."""
    scope = {}
    with torch.random.fork_rng():
        exec(Path(spec.script).read_text(), scope)
        total = 0.0
        for x, y in scope["build_data"]():
            model = scope["build_model"]()
            model.load_state_dict(torch.load(f"{spec.runs[0]}/step_{step}.pt")["model"])
            with torch.no_grad():
                total += float(torch.nn.functional.cross_entropy(model.eval()(x), y)) / 3
    return total


@pytest.mark.parametrize(("moving", "more"), MOVING.values(), ids=MOVING)
def test_that_parameters_that_the_forward_pass_moves_come_back_at_every_point(project, moving, more):
    spec = project(HEAD + NET.format(moving=moving, more=more) + DATA, checkpoints=3)
    bench = Bench()
    deltas, notices = played(EvaluateJob(project=spec, run="one"), bench)
    found = {d.checkpoint: d.loss for d in deltas if isinstance(d, CheckpointMeasured)}
    assert found == pytest.approx({f"step_{k}.pt": plain_loss(spec, k) for k in (0, 10, 20)}, rel=1e-5)
    assert any("changes tensors of the model" in notice.sentence for notice in notices)
    job = LineJob(project=spec, id="line", run="one", options=LandscapeOptions(points=3))
    points = [d for d in played(job, bench)[0] if isinstance(d, LinePoints)]
    line = {int(k): float(v) for one in points for k, v in zip(one.indices, one.values["loss"], strict=True)}
    ends = {0: found["step_0.pt"], max(line): found["step_20.pt"]}
    assert {k: line[k] for k in ends} == pytest.approx(ends, rel=1e-5)


LINEAR = HEAD + DATA + "\ndef build_model():\n    torch.manual_seed(0)\n    return nn.Linear(6, 2)\n"
BACKWARD = """
def loss(model, batch):
    found = F.cross_entropy(model(batch[0]), batch[1])
    found.backward()
    return found.item() + float(model.weight.grad.norm())
"""
STEP = """
def loss(model, batch):
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    with torch.enable_grad():
        found = F.cross_entropy(model(batch[0]), batch[1])
    found.backward()
    optimizer.step()
    return found.item()
"""


@pytest.mark.parametrize("loss", [BACKWARD, STEP], ids=["gradients", "a step"])
def test_that_a_loss_that_trains_gives_the_same_every_time(project, loss):
    subject = open_subject(project(LINEAR + loss))
    before = {name: p.detach().clone() for name, p in subject.model.named_parameters()}
    batch = subject.data.batches("train")[0]
    with torch.inference_mode():
        first, again = (float(subject.loss(subject.model, batch)) for _ in range(2))
    assert first == again and not subject.random
    assert all(
        torch.equal(p, before[name]) and p.grad is None for name, p in subject.model.named_parameters()
    )
    if loss is STEP:
        assert any("(weight, bias)" in notice.sentence for notice in subject.notices)


SURROUNDINGS = """
sys.setrecursionlimit(5000)

def deep(number):
    return 1.0 if number == 0 else deep(number - 1)

def metrics(model, batch):
    return {"shares": json.loads(pathlib.Path("shares.json").read_text())[1], "deep": deep(3000)}
"""


def test_that_folder_and_recursion_limit_are_the_scripts_own_while_measuring(project, monkeypatch, tmp_path):
    spec = project(LINEAR + SURROUNDINGS, checkpoints=2)
    (Path(spec.script).parent / "shares.json").write_text("[1.0, 3.0]")
    monkeypatch.chdir(tmp_path)
    deltas, _ = played(EvaluateJob(project=spec, run="one"), Bench())
    metrics = [delta.metrics for delta in deltas if isinstance(delta, CheckpointMeasured)]
    assert metrics == [{"shares": 3.0, "deep": 1.0}] * 2


OBSERVED = """
class Observer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("lowest", torch.empty(0))
        self.register_buffer("highest", torch.empty(0))
    def forward(self, x):
        seen = x.detach().amin(0)
        self.lowest.resize_(seen.shape).copy_(seen)
        self.highest.resize_(seen.shape).copy_(x.detach().amax(0))
        return x

def build_model():
    torch.manual_seed(0)
    return nn.Sequential(Observer(), nn.Linear(6, 2))
"""


def test_that_buffers_that_are_empty_before_the_first_batch_take_their_size_from_it(project):
    spec = project(HEAD + OBSERVED + DATA)
    scope = {}
    exec(Path(spec.script).read_text(), scope)
    model = scope["build_model"]()
    model(scope["build_data"]()[0][0])
    torch.save(model.state_dict(), Path(spec.root) / "runs" / "one" / "step_0.pt")
    spec = project(HEAD + OBSERVED + DATA)
    subject = open_subject(spec, "one")
    assert subject.names == ("step_0.pt",)
    subject.load("step_0.pt")
    with torch.inference_mode():
        subject.loss(subject.model, subject.data.batches("train")[2])
    assert torch.equal(subject.model[0].lowest, model[0].lowest)


def test_that_a_column_of_losses_is_one_loss_per_sample(project):
    column = """
def loss(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1], reduction="none")[:, None]
"""
    subject = open_subject(project(LINEAR + column))
    assert subject.loss(subject.model, subject.data.batches("train")[0]).shape == (8,)
