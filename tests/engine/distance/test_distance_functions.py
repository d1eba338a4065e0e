"""What checkpoints compute, compared: predictions, layers and gradients of real projects on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from landscope.contract.deltas import GradientOpened, GradientsMeasured, SimilarityMeasured
from landscope.contract.errors import JobCancelled, OptionError, ScriptError
from landscope.contract.events import Done, Failed, Notice, Partial
from landscope.contract.job import CancelToken, GradientJob, SimilarityJob
from landscope.contract.options import DataOptions, FunctionOptions, ProjectSpec
from landscope.distance.functions.cka import linear_cka
from landscope.runner.bench import Bench
from landscope.runner.catalogue import updates
from landscope.runner.run import run_job

GOLDEN = Path(__file__).parents[2] / "data" / "distance" / "mlp_sgd"
SCRIPT = """
import numpy as np
import torch
from torch import nn

def build_model():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))

def build_data(split):
    file = np.load({data!r})
    return [(torch.from_numpy(file["X"]), torch.from_numpy(file["y"]))]
"""
ODD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.GRU(3, 5, batch_first=True)
        self.constant = nn.Linear(5, 4)
        self.head, self.unused = nn.Linear(4, 3), nn.Linear(2, 2)
        nn.init.zeros_(self.constant.weight)
        self.constant.requires_grad_(False)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.head(self.drop(self.constant(self.body(x)[0][:, -1]) + x.mean((1, 2))[:, None]))

def build_model():
    torch.manual_seed(0)
    return Net()

def build_data(split):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(37, 6, 3, generator=generator)
    return [(part, part.flatten(1)[:, :3].argmax(1)) for part in x.split(10)]
"""


def golden() -> dict:
    return json.loads((GOLDEN / "expected_functions.json").read_text())


def spec(folder: Path, script: str, *runs: Path) -> ProjectSpec:
    (folder / "script.py").write_text(script)
    return ProjectSpec(
        root=str(folder),
        script=str(folder / "script.py"),
        runs=tuple(map(str, runs)),
        trusted=True,
        data=DataOptions(samples=0),
    )


def deltas(job, bench=None):
    found = [u for u in updates(job, bench or Bench(), CancelToken()) if isinstance(u, Partial)]
    return [one.delta for one in found]


def last(job, bench=None) -> SimilarityMeasured:
    return next(one for one in reversed(deltas(job, bench)) if isinstance(one, SimilarityMeasured))


@pytest.fixture
def mlp(tmp_path) -> ProjectSpec:
    return spec(tmp_path, SCRIPT.format(data=str(GOLDEN / "data.npz")), GOLDEN / "checkpoints")


@pytest.fixture
def odd(tmp_path) -> ProjectSpec:
    """Two runs of an odd network: constant, frozen and unused layers; the second diverged at its end."""
    project = spec(tmp_path, ODD, tmp_path / "a", tmp_path / "b")
    names: dict = {}
    exec(ODD, names)
    for seed, run in enumerate("ab"):
        (tmp_path / run).mkdir()
        model = names["build_model"]()
        torch.manual_seed(seed)
        for step in range(3):
            if run == "b" and step == 2:
                nn.init.constant_(model.head.weight, float("nan"))
            torch.save(model.state_dict(), tmp_path / run / f"step_{step}.pt")
            with torch.no_grad():
                model.head.weight += 0.3 * torch.randn(3, 4)
    return project


def test_that_predictions_and_layers_are_the_golden_ones(mlp):
    found = last(SimilarityJob(project=mlp, run="checkpoints", options=FunctionOptions(estimator="biased")))
    expected = golden()
    rows = [found.checkpoints.index(f"step_{step:04d}.pt") for step in expected["selected_steps"]]
    some = np.ix_(rows, rows)
    assert (found.samples, found.settings["positions"], len(found.checkpoints)) == (128, 128, 21)
    for name, key in (("disagreement", "disagreement"), ("kl", "KL_row_to_col_mean_nats")):
        np.testing.assert_allclose(found.predictions[name][some], expected[key], rtol=1e-6, atol=1e-8)
    js = np.array(expected["JS_mean_nats"])
    np.testing.assert_allclose(found.predictions["js"][some], js, rtol=1e-6, atol=1e-8)
    assert found.layers == ("0", "2", "4")
    for k, layer in enumerate(found.layers):
        np.testing.assert_allclose(
            found.cka[k][some], expected["linear_CKA_same_layer"][layer], rtol=1e-6, atol=1e-6
        )


def test_that_gradient_norms_are_the_golden_ones(mlp):
    opened, *rest = (
        one for one in deltas(GradientJob(project=mlp, run="checkpoints")) if "Gradient" in type(one).__name__
    )
    assert isinstance(opened, GradientOpened)
    assert (opened.samples, opened.parameters[0], opened.layers) == (128, "0.weight", ("0", "2", "4"))
    assert [one.checkpoint for one in rest][:2] == ["step_0020.pt", "step_0000.pt"]
    norms = {one.checkpoint: one for one in rest}
    for step, expected in golden()["gradient_norm"].items():
        one = norms[f"step_{int(step):04d}.pt"]
        assert one.total["gradient_norm"] == pytest.approx(expected, rel=1e-6)
        assert np.sum(one.parameters["gradient_norm"] ** 2) == pytest.approx(expected**2, rel=1e-6)
        assert np.sum(one.layers["gradient_norm"] ** 2) == pytest.approx(expected**2, rel=1e-6)


def test_that_gradients_of_batches_add_up_to_that_of_all_samples(odd):
    found = [one for one in deltas(GradientJob(project=odd, run="a")) if isinstance(one, GradientsMeasured)]
    names: dict = {}
    exec(ODD, names)
    model = names["build_model"]()
    model.load_state_dict(torch.load(Path(odd.runs[0]) / "step_2.pt", weights_only=True))
    batches = names["build_data"]("train")
    inputs, labels = (torch.cat(parts) for parts in zip(*batches, strict=True))
    model.eval()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    expected = [0.0 if p.grad is None else float(p.grad.norm()) for p in model.parameters()]
    np.testing.assert_allclose(found[0].parameters["gradient_norm"], expected, rtol=1e-5, atol=1e-9)
    assert expected[-1] == 0.0  # not used by the loss


def test_that_frozen_parameters_are_marked_and_diverged_ones_undefined(odd):
    found = deltas(GradientJob(project=odd, run="b"))
    opened = next(one for one in found if isinstance(one, GradientOpened))
    assert [name for name, flags in zip(opened.parameters, opened.flags, strict=True) if flags] == [
        "constant.weight",
        "constant.bias",
    ]
    first = next(one for one in found if isinstance(one, GradientsMeasured))
    assert first.checkpoint == "step_2.pt"
    assert np.isnan(first.total["gradient_norm"])
    assert first.parameters["gradient_norm"][opened.parameters.index("constant.weight")] == 0.0


def test_that_two_runs_are_compared_on_the_same_samples(odd):
    bench = Bench()
    found = last(SimilarityJob(project=odd, run="a", other="b"), bench)
    assert (found.run, found.other) == ("a", "b")
    assert found.checkpoints == found.others == ("step_0.pt", "step_1.pt", "step_2.pt")
    assert found.predictions["disagreement"][0, 0] == 0.0  # the same initialisation
    assert found.predictions["kl"][0, 0] == 0.0
    assert 0 < found.predictions["kl"][1, 1] < 5
    for values in found.predictions.values():
        assert np.isnan(values[:, 2]).all()
        assert np.isfinite(values[:, :2]).all()
    by_layer = dict(zip(found.layers, found.cka, strict=True))
    assert np.allclose(by_layer["body"], 1.0)
    assert np.isnan(by_layer["constant"]).all()
    assert np.isnan(by_layer["head"][:, 2]).all()
    assert "unused" in {one.layer for one in found.not_observed}


def test_that_model_and_random_numbers_are_put_back(odd):
    bench = Bench()
    subject = bench.subject(odd, "a")
    before = {name: tensor.clone() for name, tensor in subject.model.state_dict().items()}
    grads = [one.requires_grad for one in subject.model.parameters()]
    generator = torch.get_rng_state()
    for job in (SimilarityJob(project=odd, run="a", other="b"), GradientJob(project=odd, run="a")):
        deltas(job, bench)
    assert all(torch.equal(tensor, before[name]) for name, tensor in subject.model.state_dict().items())
    assert [one.requires_grad for one in subject.model.parameters()] == grads
    assert all(one.grad is None for one in subject.model.parameters())
    assert torch.equal(torch.get_rng_state(), generator)
    assert not any(module._forward_hooks for module in subject.model.modules())
    assert not subject.objective.gradients


def test_that_a_cancelled_comparison_puts_the_model_back(odd):
    bench, token = Bench(), CancelToken()
    subject = bench.subject(odd, "b")
    before = {name: tensor.clone() for name, tensor in subject.model.state_dict().items()}
    with pytest.raises(JobCancelled):
        for update in updates(SimilarityJob(project=odd, run="b"), bench, token):
            if isinstance(update, Partial):
                token.cancel()
    assert all(torch.equal(tensor, before[name]) for name, tensor in subject.model.state_dict().items())


def test_that_a_checkpoint_that_cannot_be_read_costs_only_itself(odd):
    bench = Bench()
    bench.subject(odd, "a")
    (Path(odd.runs[0]) / "step_1.pt").unlink()
    for job in (SimilarityJob(project=odd, run="a"), GradientJob(project=odd, run="a")):
        events = [one.body for one in run_job("x", job, bench, CancelToken())]
        assert any(isinstance(one, Notice) and "step_1.pt" in one.sentence for one in events)
        assert isinstance(events[-1], Done)
    found = [one.delta for one in events if isinstance(one, Partial)]
    assert {one.checkpoint for one in found if isinstance(one, GradientsMeasured)} == {
        "step_0.pt",
        "step_2.pt",
    }


def test_that_outputs_that_are_no_classes_leave_only_the_layers(tmp_path):
    text = SCRIPT.format(data=str(GOLDEN / "data.npz")).replace(
        'torch.from_numpy(file["y"])', "torch.zeros(128, 4)"
    )
    project = spec(tmp_path, text, GOLDEN / "checkpoints")
    found = last(SimilarityJob(project=project, run="checkpoints"))
    assert found.predictions == {}
    assert found.cka.shape == (3, 21, 21)
    assert found.settings["positions"] == 0


def test_that_a_loss_without_a_history_is_told(tmp_path):
    loss = "\ndef loss(model, batch):\n    return float(model(batch[0]).detach().square().mean())\n"
    project = spec(tmp_path, SCRIPT.format(data=str(GOLDEN / "data.npz")) + loss, GOLDEN / "checkpoints")
    with pytest.raises(ScriptError, match="cannot be differentiated"):
        deltas(GradientJob(project=project, run="checkpoints"))


def test_that_an_unknown_split_is_told(mlp):
    options = FunctionOptions(split="nowhere")
    for job in (
        SimilarityJob(project=mlp, run="checkpoints", options=options),
        GradientJob(project=mlp, run="checkpoints", options=options),
    ):
        events = [one.body for one in run_job("x", job, Bench(), CancelToken())]
        assert isinstance(events[-1], Failed)
        assert "nowhere" in events[-1].sentence


def test_that_cka_is_one_for_a_rotation_and_the_unbiased_one_zero_for_noise():
    generator = np.random.default_rng(0)
    values = generator.normal(size=(200, 6)) + 1000
    rotation = np.linalg.qr(generator.normal(size=(6, 6)))[0]
    assert linear_cka(values, 3 * values @ rotation) == pytest.approx(1, abs=1e-6)
    noise = [generator.normal(size=(60, 900)) for _ in range(2)]
    assert linear_cka(*noise, estimator="biased") > 0.9  # the bias of few samples
    assert abs(linear_cka(*noise)) < 0.05
    assert abs(linear_cka(*noise, minibatch=20)) < 0.1
    assert np.isnan(linear_cka(values, np.ones((200, 2))))


def test_that_the_unbiased_estimator_is_the_sum_that_its_paper_writes():
    generator = np.random.default_rng(1)
    one, other = generator.normal(size=(9, 4)), generator.normal(size=(9, 3))

    def hsic(x, y):  # Song et al. 2012, equation 5
        n = len(x)
        k, m = x @ x.T, y @ y.T
        np.fill_diagonal(k, 0)
        np.fill_diagonal(m, 0)
        ones = np.ones(n)
        inner = np.trace(k @ m) + (ones @ k @ ones) * (ones @ m @ ones) / ((n - 1) * (n - 2))
        return (inner - 2 / (n - 2) * (ones @ k @ m @ ones)) / (n * (n - 3))

    expected = hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other))
    assert linear_cka(one, other) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("rows", "others", "words"), [(5, 6, "same samples"), (3, 3, "needs 4")])
def test_that_cka_of_unfit_samples_is_refused(rows, others, words):
    with pytest.raises(OptionError, match=words):
        linear_cka(np.zeros((rows, 2)), np.zeros((others, 2)))


def test_that_project_and_command_line_measure_both(mlp, tmp_path):
    from landscope.api import Project
    from landscope.cli.main import main
    from landscope.session.read import read

    project = Project(mlp)
    assert project.gradients().measured["step_0020.pt"].total["gradient_norm"] > 0
    assert project.similarity(estimator="biased").settings["estimator"] == "biased"
    out = tmp_path / "s.h5"
    words = [str(tmp_path), "--trust", "--quiet", "--runs", str(GOLDEN / "checkpoints"), "-o", str(out)]
    assert main(["run", *words, "--only", "gradients,similarity"]) == 0
    session = read(out)
    assert len(session.gradients["checkpoints"].measured) == 21
    assert session.similarities["checkpoints", "checkpoints"].cka.shape == (3, 21, 21)
    assert session.distances == {}
