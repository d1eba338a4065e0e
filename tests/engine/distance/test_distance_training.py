"""Quantities inside a training loop, against the same independent NumPy computation as those of files."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from landscope import Distance, GradNorm, UpdateSize, schedules
from landscope.contract.errors import OptionError
from landscope.distance.training.norms import difference_norms, norms

DATA = Path(__file__).parents[2] / "data" / "distance"
CASES = ("mlp_sgd", "cnn_bn_momentum", "mlp_diverge")
ALWAYS = schedules.linear(1)


@cache
def _expected(case):
    return json.loads((DATA / case / "expected_float64.json").read_text())


@cache
def _weights(case):
    """θ at every step: the trainable parameters by name."""
    names = _expected(case)["parameter_names"]
    states = (
        torch.load(path, weights_only=True)["model"]
        for path in sorted((DATA / case).glob("checkpoints/*.pt"))
    )
    return [{name: state[name] for name in names} for state in states]


def _floats(values):
    """As the expected numbers have it, NaN for whatever is not finite."""
    found = np.array([np.nan if value is None else value for value in values], np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def _follow(quantity, case):
    for step, parameters in enumerate(_weights(case)):
        quantity.track(step, parameters)
    return quantity


@pytest.mark.parametrize("kind", [Distance, UpdateSize])
@pytest.mark.parametrize("case", CASES)
def test_that_distances_and_updates_equal_the_independent_ones(case, kind):
    found, expected = _follow(kind(ALWAYS), case), _expected(case)
    assert found.names == tuple(expected["parameter_names"])
    assert set(found.get_output()) == {int(step) for step in expected[kind.__name__]}
    for step, values in expected[kind.__name__].items():
        np.testing.assert_allclose(_floats(found.output[int(step)]), _floats(values), rtol=1e-7)
        total = expected[f"{kind.__name__}_total"][step]
        np.testing.assert_allclose(_floats([found.total(int(step))]), _floats([total]), rtol=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_that_gradient_norms_equal_the_independent_ones(case):
    gradients, expected = np.load(DATA / case / "grads.npz"), _expected(case)
    quantity = GradNorm(ALWAYS)
    for step, values in expected["GradNorm"].items():
        parameters = {n: nn.Parameter(w.clone()) for n, w in _weights(case)[int(step)].items()}
        for name, parameter in parameters.items():
            parameter.grad = torch.from_numpy(gradients[f"{int(step):04d}/{name}"])
        quantity.track(int(step), parameters)
        np.testing.assert_allclose(
            _floats(quantity.output[int(step)]), _floats(values), rtol=1e-7, atol=1e-15
        )


def test_that_a_diverged_run_is_flagged_and_goes_on():
    quantity = _follow(Distance(ALWAYS), "mlp_diverge")
    assert all("nonfinite" in flags for flags in quantity.flags.values())
    assert np.isfinite(quantity.total(3)) and not np.isfinite(quantity.total(5))


def test_that_schedules_choose_the_steps_and_the_start_is_kept_all_the_same():
    quantity = Distance(schedules.linear(5, offset=3))
    _follow(quantity, "mlp_sgd")
    assert list(quantity.output) == [3, 8, 13, 18]
    assert quantity.reference_step == 0
    full = _follow(Distance(ALWAYS), "mlp_sgd")
    assert quantity.output[18] == full.output[18]
    updates = _follow(UpdateSize(schedules.linear(5, offset=3)), "mlp_sgd")
    assert list(updates.output) == [3, 8, 13, 18]
    assert updates.output[8] == _follow(UpdateSize(ALWAYS), "mlp_sgd").output[8]


def test_that_a_resumed_run_keeps_its_start_or_says_from_where_it_is_measured():
    weights, whole = _weights("mlp_sgd"), _follow(Distance(ALWAYS), "mlp_sgd")
    first, second, late = Distance(ALWAYS), Distance(ALWAYS), Distance(ALWAYS)
    for step in range(8):
        first.track(step, weights[step])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    for step in range(8, 21):
        second.track(step, weights[step])
        late.track(step, weights[step])
    assert second.output == whole.output
    assert late.reference_step == 8
    assert late.total(8) == 0.0
    with pytest.raises(OptionError, match="not one of a Distance"):
        late.load_state_dict({})


def test_that_the_last_update_is_seen_by_one_more_call_and_accumulated_steps_count_once():
    torch.manual_seed(0)
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    distance, update, gradient = Distance(ALWAYS), UpdateSize(ALWAYS), GradNorm(ALWAYS)
    history = [[p.detach().clone().double() for p in model.parameters()]]
    for step in range(4):
        optimizer.zero_grad()
        for _ in range(2):  # two halves of a batch
            model(torch.randn(6, 5)).square().mean().backward()
            for quantity in (distance, update, gradient):
                quantity.track(step, model.named_parameters())
        assert gradient.output[step] == pytest.approx([p.grad.norm().item() for p in model.parameters()])
        optimizer.step()
        history.append([p.detach().clone().double() for p in model.parameters()])
    for quantity in (distance, update):
        quantity.track(4, model.named_parameters())
    expected = [float((a - b).norm()) for a, b in zip(history[4], history[3], strict=True)]
    assert update.output[3] == pytest.approx(expected, rel=1e-7)
    expected = [float((a - b).norm()) for a, b in zip(history[4], history[0], strict=True)]
    assert distance.output[4] == pytest.approx(expected, rel=1e-7)
    assert distance.names == ("weight", "bias")


def test_that_frozen_tied_and_gradient_less_parameters_are_named():
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 4), nn.Linear(4, 7, bias=False))
    model[2].weight = model[0].weight
    model[1].requires_grad_(False)
    distance, gradient = Distance(ALWAYS), GradNorm(ALWAYS)
    for quantity in (distance, gradient):
        quantity.track(0, model)
    assert distance.names == ("0.weight", "1.weight", "1.bias")
    assert distance.output[0] == [0.0, 0.0, 0.0]
    assert distance.flags == {"1.weight": {"frozen"}, "1.bias": {"frozen"}}
    assert np.isnan(gradient.output[0]).all() and gradient.total(0) == 0.0
    assert gradient.flags["0.weight"] == {"undefined"}
    model(torch.tensor([[1, 2]])).sum().backward()
    gradient.track(1, model)
    assert gradient.total(1) == pytest.approx(float(model[0].weight.grad.norm()))


def test_that_plain_parameters_go_by_their_place_and_changed_ones_are_refused():
    model = nn.Linear(3, 2)
    quantity = Distance(ALWAYS)
    quantity.track(0, list(model.parameters()), batch_loss=torch.zeros(()))
    assert quantity.names == ("0", "1")
    assert (quantity.extensions(0), quantity.extension_hooks(0), quantity.create_graph(0)) == ([], [], False)
    with pytest.raises(OptionError, match="1 is gone"):
        quantity.track(1, list(model.parameters())[:1])
    with pytest.raises(OptionError, match="no tensor"):
        quantity.track(1, [1.0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_that_other_precisions_are_widened_before_subtracting(dtype):
    torch.manual_seed(0)
    then, now = torch.randn(30_000).to(dtype), torch.randn(30_000).to(dtype)
    exact = float((now.double() - then.double()).norm())
    assert difference_norms([now], [then])[0] == pytest.approx(exact, rel=1e-7)
    assert norms([now])[0] == pytest.approx(float(now.double().norm()), rel=1e-7)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e25])
@pytest.mark.parametrize("size", [1, 4_095, 20_000, 300_001])
def test_that_norms_hold_seven_digits_whatever_size_and_scale(size, scale):
    torch.manual_seed(size)
    then = torch.randn(size) * scale
    now = then + 1e-3 * scale * torch.randn(size)
    assert difference_norms([now], [then])[0] == pytest.approx(
        float((now.double() - then.double()).norm()), rel=1e-7
    )


def test_that_layouts_do_not_matter_and_shapes_that_differ_are_undefined():
    now = torch.randn(3, 5, 4, 4).to(memory_format=torch.channels_last)
    then = torch.randn(3, 5, 4, 4)
    assert difference_norms([now], [then])[0] == pytest.approx(float((now - then).double().norm()), rel=1e-6)
    assert np.isnan(difference_norms([torch.zeros(2)], [torch.zeros(3)])[0])
    assert difference_norms([torch.zeros(0)], [torch.zeros(0)]) == [0.0]


def test_that_a_sparse_gradient_has_a_norm():
    layer = nn.Embedding(9, 3, sparse=True)
    layer(torch.tensor([1, 1, 4])).square().sum().backward()
    quantity = GradNorm(ALWAYS)
    quantity.track(0, layer)
    assert quantity.output[0] == pytest.approx([float(layer.weight.grad.to_dense().norm())])


def test_that_linear_schedules_begin_at_their_offset():
    assert [step for step in range(12) if schedules.linear(4, offset=2)(step)] == [2, 6, 10]
    with pytest.raises(OptionError, match="interval"):
        schedules.linear(0)


def test_that_logarithmic_schedules_hold_whole_powers_and_step_zero_if_asked():
    chosen = [step for step in range(2000) if schedules.logarithmic(0, 3, steps=4)(step)]
    assert chosen == [0, 1, 10, 100, 1000]
    assert not schedules.logarithmic(0, 3, steps=4, init=False)(0)
    assert [k for k in range(20) if schedules.logarithmic(0, 4, steps=5, base=2, init=False)(k)] == [
        1, 2, 4, 8, 16,
    ]  # fmt: skip
    with pytest.raises(OptionError, match="steps"):
        schedules.logarithmic(0, 1, steps=0)


def test_that_a_schedule_must_be_a_function():
    with pytest.raises(OptionError, match=r"schedules\.linear"):
        Distance(10)
