"""Losses, metrics and standard errors, against loops written out here; the model comes back as it was."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from landscope.contract.deltas import CheckpointMeasured, RunListed
from landscope.contract.errors import CheckpointError, JobCancelled, ScriptError
from landscope.contract.events import Partial, Progress
from landscope.contract.job import CancelToken, EvaluateJob
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.measuring.defaults import MisfitError, accuracy, default_loss
from landscope.project.measuring.evaluate import analyse
from landscope.project.measuring.measure import measure, measure_repeatedly
from landscope.project.opening import open_subject

HEAD = """
import torch
from torch import nn
from torch.nn import functional

def build_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))

def rows(n, seed=1):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 3, generator=g)
    return x, (x[:, 0] > 0).long()

"""
RAGGED = "def build_data():\n    x, y = rows(21)\n    return list(zip(x.split(8), y.split(8)))\n"
MANY = "def build_data():\n    x, y = rows(100)\n    return list(zip(x.split(10), y.split(10)))\n"
SCALAR = "def loss(model, batch):\n    return functional.cross_entropy(model(batch[0]), batch[1])\n"


def by_hand(subject):
    """Loss of every sample, and whether each is right, batch by batch."""
    losses, right = [], []
    with torch.no_grad():
        for batch in subject.data.batches("train"):
            x, y = batch.value
            output = subject.model(x)
            losses += [
                functional.cross_entropy(output[k : k + 1], y[k : k + 1]).item() for k in range(len(y))
            ]
            right += (output.argmax(1) == y).tolist()
    return losses, right


@pytest.mark.parametrize("loss", ["", SCALAR], ids=["default", "own"])
def test_that_the_mean_is_weighted_by_samples(project, loss):
    subject = open_subject(project(HEAD + RAGGED + loss))
    found = measure(subject, "train", CancelToken())
    losses, right = by_hand(subject)
    assert found.loss == pytest.approx(sum(losses) / 21, rel=1e-6)
    assert found.metrics == {"accuracy": pytest.approx(sum(right) / 21)}
    assert found.samples == 21


def test_that_the_standard_error_of_samples_has_the_finite_population_correction(project):
    body = """
from torch.utils.data import DataLoader, TensorDataset
def build_data():
    return DataLoader(TensorDataset(*rows(50)), batch_size=8)
"""
    subject = open_subject(project(HEAD + body, samples=20))
    losses, _ = by_hand(subject)
    mean = sum(losses) / 20
    variance = sum((value - mean) ** 2 for value in losses) / 19
    expected = math.sqrt(variance / 20 * (1 - 20 / 50))
    assert measure(subject, "train", CancelToken()).loss_se == pytest.approx(expected, rel=1e-5)
    everything = open_subject(project(HEAD + body, samples=0))
    assert measure(everything, "train", CancelToken()).loss_se == 0


def test_that_the_standard_error_of_scalars_comes_from_batch_means(project):
    subject = open_subject(project(HEAD + MANY + SCALAR))
    losses, _ = by_hand(subject)
    means = [sum(losses[k : k + 10]) / 10 for k in range(0, 100, 10)]
    mean = sum(means) / 10
    expected = math.sqrt(sum((m - mean) ** 2 for m in means) / 9 / 10)
    assert measure(subject, "train", CancelToken()).loss_se == pytest.approx(expected, rel=1e-5)


def test_that_few_scalars_give_no_standard_error(project):
    subject = open_subject(project(HEAD + RAGGED + SCALAR))
    assert math.isnan(measure(subject, "train", CancelToken()).loss_se)


def test_that_own_metrics_are_measured(project):
    own = (
        "def metrics(model, batch):\n"
        "    return {'mean': batch[0].mean(1), 'size': torch.tensor(float(len(batch[0])))}\n"
    )
    subject = open_subject(project(HEAD + RAGGED + own))
    found = measure(subject, "train", CancelToken()).metrics
    x = torch.cat([batch.value[0] for batch in subject.data.batches("train")])
    assert found["mean"] == pytest.approx(x.mean().item(), abs=1e-6)
    assert found["size"] == pytest.approx((8 * 8 + 8 * 8 + 5 * 5) / 21)


@pytest.mark.parametrize("loss", ["", SCALAR], ids=["default", "own"])
def test_that_accuracy_costs_no_forward_pass_and_leaves_no_hook(project, loss):
    subject = open_subject(project(HEAD + RAGGED + loss))
    calls = []
    handle = subject.model.register_forward_hook(lambda *_: calls.append(1))
    measure(subject, "train", CancelToken())
    assert len(calls) == 3 and list(subject.model._forward_hooks) == [handle.id]


def test_that_a_choice_of_batches_and_a_replica_can_be_measured(project):
    subject = open_subject(project(HEAD + RAGGED))
    replica = subject.build_replica()
    with torch.no_grad():
        replica[-1].weight.zero_()
        replica[-1].bias.zero_()
    found = measure(subject, "train", CancelToken(), model=replica, batches=subject.data.batches("train")[:1])
    assert found.loss == pytest.approx(math.log(2), rel=1e-6) and found.samples == 8


def test_that_nan_stays_nan(project):
    subject = open_subject(project(HEAD + RAGGED))
    with torch.no_grad():
        subject.model[0].weight.fill_(float("nan"))
    found = measure(subject, "train", CancelToken())
    assert math.isnan(found.loss) and math.isnan(found.loss_se)


def test_that_cancelling_stops_between_batches(project):
    token = CancelToken()
    token.cancel()
    with pytest.raises(JobCancelled):
        measure(open_subject(project(HEAD + RAGGED)), "train", token)


def test_that_a_raw_batch_is_recognised(project):
    subject = open_subject(project(HEAD + RAGGED))
    batch = subject.data.batches("train")[1]
    assert torch.equal(subject.loss(subject.model, batch), subject.loss(subject.model, batch.value))
    assert isinstance(batch, FrozenBatch) and subject.data.locate(batch.value) is batch


def test_that_checkpoints_are_measured_and_the_model_put_back(project):
    spec = project(checkpoints=3)
    subject = open_subject(spec, "one")
    before = {name: tensor.clone() for name, tensor in subject.model.state_dict().items()}
    updates = list(analyse(subject, EvaluateJob(project=spec, run="one"), CancelToken()))
    found = [u.delta for u in updates if isinstance(u, Partial) and isinstance(u.delta, CheckpointMeasured)]
    assert [one.checkpoint for one in found] == ["step_20.pt", "step_0.pt", "step_10.pt"]
    for one in found:
        reference = subject.build_replica()
        stored = torch.load(f"{subject.folder}/{one.checkpoint}", weights_only=True)["model"]
        reference.load_state_dict(stored)
        total = count = 0.0
        with torch.no_grad():
            for batch in subject.data.batches("train"):
                x, y = batch.value
                total += functional.cross_entropy(reference(x), y, reduction="sum").item()
                count += len(y)
        assert one.loss == pytest.approx(total / count, rel=1e-6)
    assert all(torch.equal(tensor, before[name]) for name, tensor in subject.model.state_dict().items())
    assert [u.done for u in updates if isinstance(u, Progress)] == [1, 2, 3]
    last = updates[-1]
    assert isinstance(last, Partial) and isinstance(last.delta, RunListed)
    assert all(len(info.sha256) == 64 for info in last.delta.checkpoints)


def test_that_a_checkpoint_goes_into_the_live_model_in_place(project):
    subject = open_subject(project(checkpoints=2), "one")
    where = [parameter.data_ptr() for parameter in subject.model.parameters()]
    subject.load("step_10.pt")
    state = subject.state("step_10.pt")
    assert all(torch.equal(t, state[n]) for n, t in subject.model.state_dict().items())
    assert [parameter.data_ptr() for parameter in subject.model.parameters()] == where
    with pytest.raises(CheckpointError, match=r"no checkpoint 'step_99\.pt'"):
        subject.load("step_99.pt")


EXTRA = """
import torch
from torch import nn

class Net(nn.Linear):
    scale = 1.0
    def get_extra_state(self):
        return {"scale": 0.5, "note": [1, 2]}
    def set_extra_state(self, state):
        self.scale = state["scale"]
    def forward(self, x):
        return super().forward(x) * self.scale

def build_model():
    return Net(3, 2)

def build_data():
    return [(torch.ones(4, 3), torch.zeros(4).long())]
"""


def test_that_extra_state_is_restored_and_is_no_tensor(project):
    subject = open_subject(project(EXTRA, checkpoints=1), "one")
    assert set(subject.state("step_0.pt")) == {"weight", "bias"}
    subject.load("step_0.pt")
    assert subject.model.scale == 0.5


def test_that_missing_buffers_come_from_the_fresh_model(project):
    subject = open_subject(project(checkpoints=1), "one")
    path = f"{subject.folder}/step_0.pt"
    stored = torch.load(path, weights_only=True)["model"]
    torch.save({n: t for n, t in stored.items() if "running" not in n}, path)
    subject.refresh()
    assert torch.equal(subject.state("step_0.pt")["1.running_var"], torch.ones(4))


TRAINS = (
    HEAD
    + RAGGED
    + (
        "def loss(model, batch):\n"
        "    model.train()\n"
        "    return functional.cross_entropy(model(batch[0]), batch[1])\n"
    )
)


def test_that_a_loss_in_train_mode_leaves_nothing_moved(project):
    subject = open_subject(project(TRAINS))
    before = {name: buffer.clone() for name, buffer in subject.model.named_buffers()}
    first, second = (measure(subject, "train", CancelToken()).loss for _ in range(2))
    assert first == second
    assert not any(module.training for module in subject.model.modules())
    assert all(torch.equal(buffer, before[name]) for name, buffer in subject.model.named_buffers())
    assert any("train mode" in notice.sentence for notice in subject.notices)


NOISY = (
    HEAD
    + RAGGED
    + (
        "def loss(model, batch):\n"
        "    x = functional.dropout(batch[0], 0.5, training=True)\n"
        "    return functional.cross_entropy(model(x), batch[1])\n"
    )
)


def test_that_randomness_in_eval_mode_is_said_and_held_still(project):
    subject = open_subject(project(NOISY))
    assert any("random in eval mode" in notice.sentence for notice in subject.notices)
    state = torch.get_rng_state()
    first, second = (measure(subject, "train", CancelToken()).loss for _ in range(2))
    assert first == second and torch.equal(torch.get_rng_state(), state)


def test_that_layers_the_model_does_not_register_are_said(project):
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(3, 3)]
        self.out = nn.Linear(3, 2)
    def forward(self, x):
        return self.out(self.hidden[0](x))

def build_model():
    return Net()

def build_data():
    return [(torch.ones(4, 3), torch.zeros(4).long())]
"""
    assert any("2 trainable tensors" in notice.sentence for notice in open_subject(project(text)).notices)


@pytest.mark.parametrize(
    ("build", "kind", "said"),
    [
        ("nn.DataParallel(nn.Linear(3, 2))", nn.Linear, "inside DataParallel"),
        ("nn.Sequential(nn.LazyLinear(4), nn.LazyLinear(2))", nn.Sequential, ""),
        ("nn.Linear(3, 2).bfloat16()", nn.Linear, "half precision"),
    ],
)
def test_that_the_net_itself_is_measured(project, build, kind, said):
    text = f"""
import torch
from torch import nn
def build_model():
    torch.manual_seed(0)
    return {build}
def build_data():
    return [(torch.ones(4, 3), torch.zeros(4).long())]
"""
    subject = open_subject(project(text, checkpoints=0))
    assert type(subject.model) is kind
    assert all(parameter.dtype == torch.float32 for parameter in subject.model.parameters())
    assert said in " ".join(notice.sentence for notice in subject.notices)
    assert math.isfinite(measure(subject, "train", CancelToken()).loss)


@pytest.mark.parametrize("shape", [(6, 3), (6, 3, 4), (6, 3, 2, 2)])
def test_that_the_default_loss_equals_torchs_with_ignored_labels(shape):
    torch.manual_seed(0)
    logits, labels = torch.randn(shape), torch.randint(0, 3, (shape[0], *shape[2:]))
    labels.view(-1)[::4] = -100
    each = default_loss(logits, labels)
    assert each.shape == (6,)
    assert each.mean().item() == pytest.approx(functional.cross_entropy(logits, labels).item(), rel=1e-6)
    kept = labels != -100
    right = (logits.argmax(1) == labels)[kept].float().mean()
    assert accuracy(logits, labels).mean().item() == pytest.approx(right.item(), rel=1e-6)


def test_that_float_targets_give_the_mean_squared_error():
    output, target = torch.randn(5, 2), torch.randn(5, 2)
    assert default_loss(output, target).mean().item() == pytest.approx(
        functional.mse_loss(output, target).item()
    )


@pytest.mark.parametrize(
    "output", [{"loss": torch.tensor(2.0)}, type("Output", (), {"loss": torch.tensor(2.0)})()]
)
def test_that_the_models_own_loss_comes_first(output):
    assert default_loss(output, torch.zeros(3).long()).item() == 2.0


def test_that_what_does_not_fit_asks_for_a_loss():
    with pytest.raises(MisfitError, match=r"the model gave \(4, 1\) float32, the labels are \(4,\) float32"):
        default_loss(torch.zeros(4, 1), torch.zeros(4))


def test_that_dict_batches_reach_forward_by_name(project):
    text = """
import torch
from torch import nn

class Net(nn.Linear):
    def forward(self, x):
        return {"logits": super().forward(x)}

def build_model():
    return Net(3, 2)

def build_data():
    return [{"x": torch.ones(4, 3), "label": torch.zeros(4).long(), "id": ["a"] * 4}]
"""
    found = measure(open_subject(project(text)), "train", CancelToken())
    assert found.samples == 4 and set(found.metrics) == {"accuracy"}


def test_that_the_spread_of_a_random_model_is_said_and_part_of_the_standard_error(project):
    subject = open_subject(project(NOISY))
    assert any("standard deviation" in notice.sentence for notice in subject.notices)
    once = measure(subject, "train", CancelToken())
    losses = [measure(subject, "train", CancelToken(), draw=draw).loss for draw in range(5)]
    spread = torch.tensor(losses, dtype=torch.float64).std().item()
    found = measure_repeatedly(subject, "train", CancelToken())
    assert found.loss == once.loss and math.isnan(once.loss_se) and found.loss_se == pytest.approx(spread)


def test_that_a_state_kept_between_calls_is_told_from_randomness(project):
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out, self.hidden = nn.GRUCell(3, 4), nn.Linear(4, 2), None
    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)
        return self.out(self.hidden)

def build_model():
    return Net()

def build_data():
    return [(torch.ones(4, 3), torch.tensor([0, 1, 0, 1]))] * 2
"""
    subject = open_subject(project(text))
    assert any("keeps something between its calls" in notice.sentence for notice in subject.notices)
    first, again = (measure(subject, "train", CancelToken()).loss for _ in range(2))
    assert first == again


GENERATORS = {
    "torch": ("torch.Generator()", "torch.randn(x.shape, generator={})"),
    "numpy": ("np.random.default_rng()", "torch.from_numpy({}.normal(size=x.shape)).float()"),
    "old numpy": ("np.random.RandomState()", "torch.from_numpy({}.normal(size=x.shape)).float()"),
    "python": ("random.Random()", "torch.tensor([{}.random()])"),
}


@pytest.mark.parametrize("place", ["script", "model"])
@pytest.mark.parametrize(("make", "draw"), GENERATORS.values(), ids=GENERATORS)
def test_that_generators_of_the_scripts_own_are_held_still(project, make, draw, place):
    name = {"script": "own", "model": "self.own"}[place]
    text = f"""
import random
import numpy as np
import torch
from torch import nn
own = {make}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.own = nn.Linear(3, 2), {make}
    def forward(self, x):
        return self.out(x + {draw.format(name)})

def build_model():
    return Net()

def build_data():
    return [(torch.ones(4, 3), torch.tensor([0, 1, 0, 1]))] * 2
"""
    subject = open_subject(project(text))
    assert any("random in eval mode" in notice.sentence for notice in subject.notices)
    first, again, other = (measure(subject, "train", CancelToken(), draw=draw).loss for draw in (0, 0, 1))
    assert first == again != other


SINGLE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out, self.norm = nn.Linear(3, 2), nn.BatchNorm1d(2, track_running_stats=False)
    def forward(self, x):
        return self.norm(self.out(x))

def build_model():
    return Net()

def build_data():
    x = torch.arange(27.0).reshape(9, 3)
    return [(x[i:i + ROWS], (x[i:i + ROWS, 0] > 9).long()) for i in range(0, 9, ROWS)]
"""


def test_that_a_last_batch_of_one_row_joins_the_one_before_where_it_must(project):
    subject = open_subject(project(SINGLE.replace("ROWS", "4")))
    assert [batch.size for batch in subject.data.batches("train")] == [4, 5]
    assert [batch.title for batch in subject.data.batches("train")][-1] == "batch 2 of 2 (train)"
    assert any("joined to the batch before" in notice.sentence for notice in subject.notices)
    assert measure(subject, "train", CancelToken()).samples == 9
    able = open_subject(project(SINGLE.replace("ROWS", "4").replace(", track_running_stats=False", "")))
    assert [batch.size for batch in able.data.batches("train")] == [4, 4, 1]


def test_that_a_layer_that_cannot_run_one_row_is_named(project):
    with pytest.raises(
        ScriptError, match=r"batch 1 of 9 \(train\) in layer norm \(BatchNorm1d\): Expected more"
    ):
        open_subject(project(SINGLE.replace("ROWS", "1")))


CE = "functional.cross_entropy(model({x}), batch[1]{more})"


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (
            ["def loss(model, batch):", f"    value = {CE}", "    value.backward()", "    return value"],
            "gradients",
        ),
        (
            [
                "def loss(model, batch):",
                "    x = batch[0].clone().requires_grad_()",
                f"    value = {CE.replace('{x}', 'x')}",
                "    return value + 0 * torch.autograd.grad(value, x)[0].norm()",
            ],
            "gradients",
        ),
        (["def loss(output, target):", "    return functional.cross_entropy(output, target)"], ""),
        (["loss = nn.CrossEntropyLoss()"], ""),
        (["import numpy", "def loss(model, batch):", f"    return numpy.float32({CE})"], ""),
        (
            ["def loss(model, batch):", "    return " + CE.replace("{more}", ", reduction='sum'")],
            "a sum over",
        ),
    ],
)
def test_that_losses_of_any_form_are_measured_and_leave_nothing(project, loss, said):
    text = "\n".join(loss).replace("{x}", "batch[0]").replace("{more}", "")
    plain = measure(open_subject(project(HEAD + RAGGED)), "train", CancelToken()).loss
    subject = open_subject(project(HEAD + RAGGED + text + "\n"))
    found = measure(subject, "train", CancelToken()).loss
    assert not said or any(said in notice.sentence for notice in subject.notices)
    assert found == pytest.approx(plain, rel=1e-6) or said == "a sum over"


def test_that_a_buffer_that_is_replaced_in_eval_mode_comes_back(project):
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRU(3, 4, batch_first=True), nn.Linear(4, 2)
        self.register_buffer("hidden", torch.zeros(1, 4, 4))
    def forward(self, x):
        steps, self.hidden = self.cell(x, self.hidden)
        return self.out(steps[:, -1])

def build_model():
    return Net()

def build_data():
    return [(torch.ones(4, 5, 3), torch.tensor([0, 1, 0, 1]))] * 3
"""
    subject = open_subject(project(text, checkpoints=2), "one")
    hidden = subject.model.hidden
    first, again = (measure(subject, "train", CancelToken()).loss for _ in range(2))
    assert first == again and subject.model.hidden is hidden and not hidden.any()
    assert [notice.sentence for notice in subject.notices if "eval mode (hidden)" in notice.sentence]
    assert not subject.random


def test_that_a_buffer_of_nan_or_one_made_in_the_forward_pass_is_no_trouble(project):
    text = (
        HEAD.replace("nn.Sequential(", "Late(")
        + RAGGED
        + """
class Late(nn.Sequential):
    def __init__(self, *layers):
        super().__init__(*layers)
        self.register_buffer("unset", torch.full((2,), float("nan")))
    def forward(self, x):
        self.register_buffer("mask", torch.ones(4), persistent=False)
        return super().forward(x)
"""
    )
    subject = open_subject(project(text))
    assert measure(subject, "train", CancelToken()).samples == 21
    assert any("eval mode (mask)" in notice.sentence for notice in subject.notices)


def test_that_one_output_for_two_classes_is_refused(project):
    text = HEAD.replace("nn.Linear(4, 2)", "nn.Linear(4, 1)") + RAGGED
    with pytest.raises(
        ScriptError, match=r"does not fit: the model gave \(8, 1\) float32, the labels are \(8,\) int64"
    ):
        open_subject(project(text))


def test_that_whole_numbers_are_metrics_too(project):
    text = HEAD + RAGGED + "def metrics(model, batch):\n    return {'rows': len(batch[0]), 'ok': True}\n"
    assert measure(open_subject(project(text)), "train", CancelToken()).metrics["ok"] == 1


def test_that_buffers_moved_in_eval_mode_are_named_and_put_back(project):
    text = (
        HEAD.replace("nn.Sequential(", "Counting(")
        + RAGGED
        + """
class Counting(nn.Sequential):
    def __init__(self, *layers):
        super().__init__(*layers)
        self.register_buffer("calls", torch.zeros(()))
    def forward(self, x):
        self.calls += 1
        return super().forward(x)
"""
    )
    subject = open_subject(project(text))
    measure(subject, "train", CancelToken())
    assert any("eval mode (calls)" in notice.sentence for notice in subject.notices)
    assert subject.model.calls == 0


def test_that_tensors_that_repeat_one_element_can_be_loaded(project):
    text = (
        HEAD.replace("nn.Linear(4, 2))", "nn.Linear(4, 2), Scale())")
        + RAGGED
        + """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(1).expand(2))
    def forward(self, x):
        return x * self.scale
"""
    )
    spec = project(text, checkpoints=1)
    stored = {n: t.contiguous() for n, t in open_subject(spec).model.state_dict().items()}
    torch.save(stored, Path(spec.runs[0]) / "step_10.pt")
    subject = open_subject(spec, "one")
    subject.load("step_10.pt")
    assert subject.model[-1].scale.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("batch", "loss"),
    [
        ("(x, y)", "x, y = batch; x *= 2; return functional.cross_entropy(model(x), y)"),
        ("{'x': x, 'y': y}", "y = batch.pop('y'); return functional.cross_entropy(model(batch['x'] * 2), y)"),
        ("[x, y]", "y = batch.pop(); return functional.cross_entropy(model(batch[0] * 2), y)"),
    ],
)
def test_that_a_loss_may_change_what_it_is_given(project, batch, loss):
    data = f"def build_data():\n    return [{batch} for x, y in (rows(8), rows(8, 2), rows(1, 3))]\n"
    subject = open_subject(project(HEAD + data + f"def loss(model, batch):\n    {loss}\n"))
    first, again = (measure(subject, "train", CancelToken()).loss for _ in range(2))
    wanted = [
        functional.cross_entropy(subject.model(2 * x), y, reduction="sum").item()
        for x, y in map(rows_of, (1, 2, 3))
    ]
    assert first == again == pytest.approx(sum(wanted) / 17, rel=1e-6)
    assert any("changes the batches" in notice.sentence for notice in subject.notices)


def rows_of(seed):
    x = torch.randn(1 if seed == 3 else 8, 3, generator=torch.Generator().manual_seed(seed))
    return x, (x[:, 0] > 0).long()


LANGUAGE = """
import torch
from torch import nn

class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(8, 4), nn.Linear(4, 8)
    def forward(self, tokens, targets=None):
        logits = self.head(self.embedding(tokens))
        if targets is None:
            return logits[:, [-1]], None
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

def build_model():
    torch.manual_seed(0)
    return Gpt()

def build_data():
    x = torch.randint(0, 8, (12, 5), generator=torch.Generator().manual_seed(1))
    return [(x[i:i + 4], x[i:i + 4].roll(1, 1)) for i in range(0, 12, 4)]
"""


def test_that_a_forward_pass_that_takes_the_targets_gives_the_loss(project):
    subject = open_subject(project(LANGUAGE))
    x, y = subject.data.batches("train")[0].value
    with torch.inference_mode():
        found, wanted = subject.loss(subject.model, (x, y)), subject.model(x, y)[1]
    assert float(found) == pytest.approx(float(wanted), rel=1e-6)
