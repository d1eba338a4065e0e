"""Golden losses on lines, planes and paths (see tests/data/landscape), at every coordinate."""

import json

import numpy as np
import pytest
import torch

from landscope.contract.job import CancelToken, LineJob, PlaneJob
from landscope.contract.options import LandscapeOptions
from landscope.landscape.analysis import analyse_line, analyse_plane
from landscope.weights.flat import Flat
from landscope.weights.normalise import clear_fixed, normalise
from landscope.weights.restore import preserved
from landscope.weights.units import units_of
from landscope.weights.vector import ParameterVector

F64 = {"rel": 1e-9, "abs": 1e-12}
F32 = {"rel": 2e-6, "abs": 1e-6}


def tolerance(dtype):
    return F64 if dtype is torch.float64 else F32


def line(subject, gather, **options):
    job = LineJob(project=subject.project, id="l", run="run", options=LandscapeOptions(**options))
    session, _ = gather(analyse_line(subject, job, CancelToken()))
    return session.lines["l"]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_that_a_line_has_the_golden_losses_and_both_ends(name, dtype, golden, gather):
    numbers = golden(name)
    found = line(numbers.subject(dtype), gather, points=11, batchnorm="frozen")
    assert found.opened.coordinates == pytest.approx(numbers.expected["line"]["ideal_t"], abs=1e-15)
    wanted = numbers.expected["line"]["ideal_f64_start_buffers"]
    assert found.values["loss"] == pytest.approx(wanted, **tolerance(dtype))


@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_that_an_extended_line_has_the_golden_losses(name, golden, gather):
    numbers = golden(name)
    found = line(numbers.subject(), gather, points=11, extend=0.5, batchnorm="frozen")
    assert found.opened.coordinates == pytest.approx(numbers.expected["line"]["ideal_t_ext"], abs=1e-12)
    assert found.values["loss"] == pytest.approx(
        numbers.expected["line"]["ideal_f64_ext_start_buffers"], rel=1e-9
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_that_recalibrated_statistics_give_the_golden_losses(dtype, golden, gather):
    numbers = golden("cnn")
    found = line(numbers.subject(dtype), gather, points=11, batchnorm="recalibrated")
    wanted = numbers.expected["line"]["ideal_f64_bn_recalibrated_on_the_batch"]
    assert found.values["loss"] == pytest.approx(wanted, **tolerance(dtype))
    stored = numbers.expected["line"]["ideal_f64_start_buffers"]
    assert found.values["loss_stored"] == pytest.approx(stored, **tolerance(dtype))


def test_that_the_forward_batch_does_not_change_recalibrated_losses(golden, gather):
    numbers = golden("cnn")
    whole = line(numbers.subject(size=48), gather, points=5)
    ragged = line(numbers.subject(size=7), gather, points=5)
    assert whole.opened.settings["batchnorm"] == "recalibrated"
    assert ragged.values["loss"] == pytest.approx(whole.values["loss"], rel=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_that_the_plane_of_two_directions_has_the_golden_losses(name, dtype, golden, build):
    numbers = golden(name)
    subject = numbers.subject(dtype, ("start", "end_one", "end_two"))
    coefficients = numbers.expected["plane"]["ideal_coef"]
    found = np.empty((7, 7))
    with ParameterVector(subject.model) as vector, preserved(subject.model):
        first, second = (
            vector.read_state(subject.state(end)).minus(vector.base) for end in ("end_one", "end_two")
        )
        for i, alpha in enumerate(coefficients):
            for j, beta in enumerate(coefficients):
                vector.set(alpha, first, beta, second)
                found[i, j] = build.plain_loss(subject.model, subject.data.batches("train"))
    assert found == pytest.approx(np.array(numbers.expected["plane"]["ideal_f64"]), **tolerance(dtype))


def direction(numbers, vector, model, raw, normalization="filter", ignore_1d=True):
    flat, units = vector.zeros(), units_of(model)
    for name, part in vector.views(flat).items():
        part.copy_(torch.from_numpy(numbers.arrays[f"{raw}/{name}"]))
    if ignore_1d:
        clear_fixed(vector, flat, units)
    normalise(vector, flat, vector.base, normalization, units)
    return flat


@pytest.mark.parametrize("name", ["mlp", "cnn"])
@pytest.mark.parametrize("axis", ["x", "y"])
def test_that_filter_normalisation_gives_goldsteins_directions(name, axis, golden):
    numbers = golden(name)
    subject = numbers.subject(torch.float32, ("start",))
    vector = ParameterVector(subject.model)
    raw = {"x": "raw_normal_1", "y": "raw_normal_2"}[axis]
    found = vector.views(direction(numbers, vector, subject.model, raw))
    for parameter, part in found.items():
        wanted = numbers.arrays[f"goldstein_{axis}/filter/biasbn/{parameter}"]
        assert part.numpy() == pytest.approx(wanted, rel=1e-6, abs=1e-9), parameter


@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_that_goldsteins_surface_has_the_golden_losses(name, golden, build):
    numbers = golden(name)
    subject = numbers.subject(torch.float64, ("start",))
    wanted = numbers.expected["goldstein_2d"]
    found = np.empty((5, 7))
    with ParameterVector(subject.model) as vector:
        first, second = (
            direction(numbers, vector, subject.model, raw) for raw in ("raw_normal_1", "raw_normal_2")
        )
        assert first.cosine(second) == pytest.approx(wanted["cos_xy"], rel=1e-6)
        for i, y in enumerate(wanted["y"]):
            for j, x in enumerate(wanted["x"]):
                vector.set(x, first, y, second)
                found[i, j] = build.plain_loss(subject.model, subject.data.batches("train"))
    assert found == pytest.approx(np.array(wanted["f64_[iy][ix]"]), rel=1e-6)


@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_that_tensor_normalisation_agrees_with_the_golden_steps(name, golden):
    numbers = golden(name)
    subject = numbers.subject(torch.float32, ("start",))
    vector = ParameterVector(subject.model)
    flat = direction(numbers, vector, subject.model, "raw_normal_1", "tensor", ignore_1d=False)
    found = {k: v.numpy() for k, v in vector.views(flat).items()}
    steps = {k: numbers.arrays[f"random_line_step/layer/{k}"] for k in found}
    ratios = np.concatenate([(steps[k] / found[k]).ravel() for k in found])
    assert ratios == pytest.approx(ratios[0], rel=2e-5)  # one step of the line is a share of the direction


@pytest.fixture
def trajectory(golden, data_folder, build):
    """The golden run of twelve checkpoints, as a subject in float64, and its expected numbers."""
    numbers = golden("mlp")
    subject = numbers.subject()
    with np.load(data_folder / "trajectory.npz") as arrays:
        weights, components = arrays["weights"], arrays["pc_uncentred"]
    shapes = {name: p.shape for name, p in subject.model.named_parameters()}
    states = {}
    for step, row in enumerate(weights):
        parts = torch.from_numpy(row.astype(np.float64)).split([s.numel() for s in shapes.values()])
        states[f"{step:02}"] = {n: p.reshape(s) for (n, s), p in zip(shapes.items(), parts, strict=True)}
    expected = json.loads((data_folder / "trajectory.json").read_text())
    frozen = {"train": list(subject.data.batches("train"))}
    return build.subject(subject.model, states, frozen), components, expected


def test_that_the_trajectory_plane_agrees_with_the_golden_numbers(trajectory, gather):
    subject, _, expected = trajectory
    wanted = expected["uncentred_pca_anchored_at_final (Li et al. sec. 7 matrix)"]
    job = PlaneJob(
        project=subject.project, id="p", run="run", kind="trajectory", options=LandscapeOptions(grid=5)
    )
    session, _ = gather(analyse_plane(subject, job, CancelToken()))
    path = session.planes["p"].trajectories["run"]
    assert path.coordinates == pytest.approx(np.array(wanted["coords"]), rel=1e-6, abs=1e-9)
    assert path.residuals == pytest.approx(np.array(wanted["residual_norm_off_plane"]), rel=1e-6, abs=1e-6)
    assert path.explained == pytest.approx(np.array(wanted["energy_ratio"]), rel=1e-6)
    assert path.plane_loss == pytest.approx(np.array(wanted["loss_on_plane_at_coords_f64"]), rel=1e-6)
    assert path.true_loss == pytest.approx(np.array(expected["true_loss_f64"]), rel=1e-6)


def test_that_principal_directions_are_the_golden_components(trajectory):
    from landscope.weights.principal import principal_plane

    subject, components, _ = trajectory
    vector = ParameterVector(subject.model)
    names = subject.names
    found = principal_plane(vector, 12, 11, lambda i: vector.read_state(subject.state(names[i])))
    for flat, component in zip((found.pair.first, found.pair.second), components, strict=True):
        assert isinstance(flat, Flat)
        ordered = torch.cat([part.reshape(-1) for part in vector.views(flat).values()])
        assert ordered.numpy() == pytest.approx(component, abs=1e-9)
