"""What the whole engine gives, against loops of a few lines that share no code with it."""

import csv
import itertools
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import landscope_resources
from landscope.contract import job as j
from landscope.contract.events import Cancelled, Done, Partial
from landscope.contract.options import LandscapeOptions
from landscope.export.data import export_csv
from landscope.project.spec import load_project
from landscope.runner.bench import Bench
from landscope.runner.run import run_job
from landscope.session.model import Session

SAMPLE = Path(landscope_resources.__file__).parent / "sample"
COARSE = LandscapeOptions(grid=5, points=5)


def done(project, bench, *jobs, session=None):
    """A session with what these jobs found."""
    session = session or Session(project=project)
    for job in jobs:
        for event in run_job(getattr(job, "id", ""), job, bench, j.CancelToken()):
            if isinstance(event.body, Partial):
                session.apply(event.body.delta)
        assert isinstance(event.body, Done), event.body
    return session


def plane_job(project, run, batchnorm="auto", kind="random", grid=5):
    options = LandscapeOptions(grid=grid, batchnorm=batchnorm)
    return j.PlaneJob(project=project, id="plane", run=run, kind=kind, options=options)


def line_job(project, run, batchnorm="auto"):
    options = LandscapeOptions(points=5, batchnorm=batchnorm)
    return j.LineJob(project=project, id="line", run=run, options=options)


def centre(plane):
    """Every metric at (0, 0)."""
    row = int(np.flatnonzero(plane.opened.alpha == 0)[0])
    column = int(np.flatnonzero(plane.opened.beta == 0)[0])
    return {metric: values[row, column] for metric, values in plane.values.items()}


def sample_mlp(checkpoint):
    """The sample's perceptron at a checkpoint and the samples it is measured on."""
    script = runpy.run_path(str(SAMPLE / "project.py"))
    model = script["build_model"]("mlp").eval()
    model.load_state_dict(torch.load(SAMPLE / "runs/mlp" / checkpoint, weights_only=True)["model"])
    x, y = (torch.cat(part)[:512] for part in zip(*script["build_data"]("train"), strict=True))
    return model, x, y


def batchnorm_net(project, checkpoint):
    """The small project's network at a checkpoint and its samples."""
    script = runpy.run_path(project.script)
    model = script["build_model"]().eval()
    model.load_state_dict(torch.load(Path(project.runs[0]) / checkpoint, weights_only=True)["model"])
    x, y = (torch.cat(part) for part in zip(*script["build_data"](), strict=True))
    return model, x, y


def loop_loss(model, x, y):
    """Mean cross entropy, a sample at a time, summed in float64."""
    with torch.no_grad():
        losses = [cross_entropy(model(x[i : i + 1]), y[i : i + 1]).double() for i in range(len(x))]
    return float(torch.stack(losses).mean())


def recalibrated(model, x):
    """The network with statistics of all its samples: mean, and variance with n − 1, of its second layer."""
    with torch.no_grad():
        inside = model[0](x).double()
        model[1].running_mean.copy_(inside.mean(0))
        model[1].running_var.copy_(inside.var(0, correction=1))
    return model


@pytest.fixture(scope="module")
def sample():
    """The sample project and a bench that keeps its perceptron between tests."""
    bench = Bench()
    yield load_project("sample"), bench
    bench.clear()


def test_that_the_planes_centre_is_the_checkpoints_own_loss(sample):
    project, bench = sample
    session = done(project, bench, plane_job(project, "mlp"))
    plane = session.planes["plane"]
    own = loop_loss(*sample_mlp(plane.opened.base))
    assert centre(plane)["loss"] == pytest.approx(own, rel=1e-6)


def test_that_the_planes_centre_is_the_checkpoints_own_loss_under_frozen_batchnorm(real_project):
    session = done(real_project, Bench(), plane_job(real_project, "run", "frozen"))
    plane = session.planes["plane"]
    own = loop_loss(*batchnorm_net(real_project, plane.opened.base))
    assert centre(plane)["loss"] == pytest.approx(own, rel=1e-6)


def test_that_the_planes_centre_states_both_losses_under_recalibrated_batchnorm(real_project):
    session = done(real_project, Bench(), plane_job(real_project, "run", "recalibrated"))
    plane = session.planes["plane"]
    model, x, y = batchnorm_net(real_project, plane.opened.base)
    stored = loop_loss(model, x, y)
    anew = loop_loss(recalibrated(model, x), x, y)
    assert abs(stored - anew) > 1e-5, "the two policies must differ for this test to mean anything"
    assert centre(plane)["loss"] == pytest.approx(anew, rel=1e-6)
    assert centre(plane)["loss_stored"] == pytest.approx(stored, rel=1e-6)


def test_that_line_ends_are_the_checkpoints_losses_under_recalibrated_batchnorm(real_project):
    line = done(real_project, Bench(), line_job(real_project, "run")).lines["line"]
    assert line.opened.settings["batchnorm"] == "recalibrated"
    for position, name in ((0, line.opened.start), (-1, line.opened.end)):
        model, x, y = batchnorm_net(real_project, name)
        anew = loop_loss(recalibrated(model, x), x, y)
        assert line.values["loss"][position] == pytest.approx(anew, rel=1e-6)


def test_that_line_ends_are_the_checkpoints_losses(sample):
    project, bench = sample
    line = done(project, bench, line_job(project, "mlp")).lines["line"]
    for position, name in ((0, line.opened.start), (-1, line.opened.end)):
        assert line.values["loss"][position] == pytest.approx(loop_loss(*sample_mlp(name)), rel=1e-6)


def test_that_saturation_is_what_an_svd_of_the_layers_outputs_gives(sample):
    project, bench = sample
    job = j.SaturationJob(project=project, run="mlp", checkpoints=("epoch_060.pt",))
    found = done(project, bench, job).saturation["mlp/train"].measured["epoch_060.pt"]
    layer = next(one for one in found.layers if one.layer == "3")
    model, x, _ = sample_mlp("epoch_060.pt")
    with torch.no_grad():
        rows = torch.nn.Sequential(*list(model)[:4])(x).double().numpy()
    spectrum = np.linalg.svd(rows - rows.mean(0), compute_uv=False) ** 2 / len(rows)
    expected = int(np.searchsorted(np.cumsum(spectrum) / spectrum.sum(), 0.99)) + 1
    assert (layer.dimension, layer.samples, layer.idim) == (64, 512, expected)
    assert layer.lsat == expected / 64
    np.testing.assert_allclose(layer.spectrum, spectrum, rtol=1e-4, atol=1e-6 * spectrum[0])


def test_that_distances_are_what_numpy_gives(sample):
    project, bench = sample
    found = done(project, bench, j.DistanceJob(project=project, run="mlp")).distances["mlp"]
    names = sorted(path.name for path in (SAMPLE / "runs/mlp").glob("*.pt"))
    vectors = []
    for name in names:
        state = torch.load(SAMPLE / "runs/mlp" / name, weights_only=True)["model"]
        vectors.append(np.concatenate([t.double().numpy().ravel() for t in state.values()]))
    away = [math.sqrt(np.sum((one - vectors[0]) ** 2)) for one in vectors]
    steps = [math.sqrt(np.sum((b - a) ** 2)) for a, b in itertools.pairwise(vectors)]
    np.testing.assert_allclose(found.total("distance", tuple(names)), away, rtol=1e-9)
    np.testing.assert_allclose(found.total("path_length", tuple(names)), np.cumsum([0, *steps]), rtol=1e-9)


def test_that_the_exported_csv_holds_the_sessions_values(sample, tmp_path):
    project, bench = sample
    plane = (session := done(project, bench, plane_job(project, "mlp"))).planes["plane"]
    written = {path.name: path for path in export_csv(session, tmp_path)}
    rows = list(csv.DictReader(written["plane_plane.csv"].read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 25
    for row in rows:
        i = int(np.flatnonzero(plane.opened.alpha == float(row["alpha"]))[0])
        k = int(np.flatnonzero(plane.opened.beta == float(row["beta"]))[0])
        loss = next(value for name, value in row.items() if name.split(" ")[0] == "loss")
        assert float(loss) == plane.values["loss"][i, k]


def bits(model):
    """Everything of a model that an analysis could leave changed."""
    tensors = {name: tensor.detach().numpy().tobytes() for name, tensor in model.state_dict().items()}
    modes = {name: module.training for name, module in model.named_modules()}
    hooks = {n: (len(m._forward_hooks), len(m._forward_pre_hooks)) for n, m in model.named_modules()}
    grads = {name: (p.requires_grad, p.grad is None) for name, p in model.named_parameters()}
    return tensors, modes, hooks, grads, torch.get_rng_state().numpy().tobytes()


def every_job(project, run):
    return [
        j.EvaluateJob(project=project, run=run),
        j.SaturationJob(project=project, run=run),
        line_job(project, run),
        plane_job(project, run),
        plane_job(project, run, kind="trajectory"),
        plane_job(project, run, "recalibrated"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_that_every_analysis_puts_the_model_back(sample, number):
    project, bench = sample
    before = bits(bench.subject(project, "mlp").model)
    done(project, bench, every_job(project, "mlp")[number])
    assert bits(bench.subject(project, "mlp").model) == before


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("after", [1, 4, 6])
def test_that_a_cancelled_analysis_puts_the_model_back(real_project, number, after):
    bench = Bench()
    model = bench.subject(real_project, "run").model
    before, token = bits(model), j.CancelToken()
    events = run_job("x", every_job(real_project, "run")[number], bench, token)
    seen = list(itertools.islice(events, after))
    token.cancel()
    seen += events
    assert isinstance(seen[-1].body, Cancelled), "it was over before it was cancelled"
    assert bits(model) == before


@pytest.mark.parametrize("number", range(6))
def test_that_closing_an_analysis_puts_the_model_back(real_project, number):
    bench = Bench()
    model = bench.subject(real_project, "run").model
    before = bits(model)
    events = run_job("x", every_job(real_project, "run")[number], bench, j.CancelToken())
    for _ in range(6):
        next(events)
    events.close()
    assert bits(model) == before


def test_that_two_runs_of_a_plane_agree_bit_for_bit(real_project):
    first = done(real_project, Bench(), plane_job(real_project, "run")).planes["plane"]
    second = done(real_project, Bench(), plane_job(real_project, "run")).planes["plane"]
    np.testing.assert_array_equal(first.values["loss"], second.values["loss"])
