"""θ as one vector: layout, moving from the base, and giving every parameter its own tensor back."""

import pytest
import torch
from torch import nn

from landscope.contract.errors import CheckpointError, LandscopeError
from landscope.weights.directions import between, gaussian
from landscope.weights.vector import ParameterVector


def snapshot(model):
    return [(p, p.data_ptr(), p.stride(), p.detach().clone()) for p in model.parameters()]


def is_as_before(before):
    return all(
        p.data_ptr() == pointer and p.stride() == stride and torch.equal(p, values)
        for p, pointer, stride, values in before
    )


def some_direction(vector, seed=0):
    return gaussian(vector, torch.Generator().manual_seed(seed))


def test_that_ties_count_once_and_frozen_parameters_are_left_out(tied):
    vector = ParameterVector(tied)
    assert vector.names == ("embedding.weight", "up.weight", "norm.weight", "norm.bias")
    assert vector.size == 66 + 24 + 6 + 6
    assert vector.layout.aliases == {"head.weight": "embedding.weight", "down.weight": "up.weight"}


def test_that_all_parameters_can_be_taken(tied):
    assert "frozen.weight" in ParameterVector(tied, trainable_only=False).names


def test_that_tied_parameters_stay_tied_while_moved(tied):
    with ParameterVector(tied) as vector:
        vector.set(0.5, some_direction(vector))
        assert tied.down.weight.data_ptr() == tied.up.weight.data_ptr()
        assert torch.equal(tied.down.weight, tied.up.weight.t())
        assert not torch.equal(tied.up.weight, vector.views(vector.base)["up.weight"])


def test_that_moved_weights_are_base_plus_directions(conv):
    base = {name: p.detach().clone() for name, p in conv.named_parameters()}
    with ParameterVector(conv) as vector:
        d1, d2 = some_direction(vector, 1), some_direction(vector, 2)
        vector.set(0.7, d1, -0.3, d2)
        first, second = vector.views(d1), vector.views(d2)
        for name, parameter in conv.named_parameters():
            assert torch.allclose(
                parameter.data, base[name] + 0.7 * first[name] - 0.3 * second[name], rtol=1e-5, atol=1e-6
            )


def test_that_nothing_accumulates_over_many_points(conv):
    base = [p.detach().clone() for p in conv.parameters()]
    with ParameterVector(conv) as vector:
        d1, d2 = some_direction(vector, 1), some_direction(vector, 2)
        for step in range(300):
            vector.set(step * 0.1, d1, step * -0.37, d2)
        vector.set(0.25, d1, 0.5, d2)
        late = [p.detach().clone() for p in conv.parameters()]
        vector.set(0.0, d1, 0.0, d2)
        assert all(torch.equal(p, value) for p, value in zip(conv.parameters(), base, strict=True))
    with ParameterVector(conv) as fresh:
        fresh.set(0.25, d1, 0.5, d2)
        assert all(torch.equal(p, value) for p, value in zip(conv.parameters(), late, strict=True))


def test_that_every_parameter_gets_its_own_tensor_back(tied):
    before = snapshot(tied)
    with ParameterVector(tied) as vector:
        vector.set(1.0, some_direction(vector))
        assert not is_as_before(before)
    assert is_as_before(before)


def test_that_an_error_inside_changes_nothing(conv):
    before = snapshot(conv)
    with pytest.raises(ZeroDivisionError), ParameterVector(conv) as vector:
        vector.set(1.0, some_direction(vector))
        raise ZeroDivisionError
    assert is_as_before(before)


def test_that_channels_last_strides_are_kept(conv):
    conv.to(memory_format=torch.channels_last)
    strides = [p.stride() for p in conv.parameters()]
    with ParameterVector(conv) as vector:
        vector.set(1.0, some_direction(vector))
        assert [p.stride() for p in conv.parameters()] == strides
        assert conv[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_that_a_seed_gives_the_same_direction_in_every_memory_format(conv):
    plain = {k: v.clone() for k, v in _drawn(conv).items()}
    conv.to(memory_format=torch.channels_last)
    assert all(torch.equal(part, plain[name]) for name, part in _drawn(conv).items())


def _drawn(model):
    vector = ParameterVector(model)
    return vector.views(some_direction(vector, 5))


def test_that_interpolation_is_exact_at_both_ends(conv):
    end = {name: p.detach() * 3.3 + 0.1 for name, p in conv.named_parameters()}
    base = {name: p.detach().clone() for name, p in conv.named_parameters()}
    with ParameterVector(conv) as vector:
        target = vector.read_state(end)
        for t, wanted in ((1.0, end), (0.0, base)):
            vector.interpolate(target, t)
            assert all(torch.equal(p, wanted[name]) for name, p in conv.named_parameters())
        vector.interpolate(target, 1.5)
        for name, p in conv.named_parameters():
            assert torch.allclose(p.data, base[name] + 1.5 * (end[name] - base[name]), rtol=1e-5, atol=1e-6)


def test_that_half_precision_is_added_in_single_and_rounded_once():
    model = nn.Linear(8, 8).to(torch.bfloat16)
    base = model.weight.detach().float()
    with ParameterVector(model) as vector:
        d1, d2 = some_direction(vector, 1), some_direction(vector, 2)
        vector.set(0.01, d1, 0.01, d2)
        assert d1.blocks[0].dtype == torch.float32
        exact = base + 0.01 * vector.views(d2)["weight"] + 0.01 * vector.views(d1)["weight"]
        assert torch.equal(model.weight.data, exact.to(torch.bfloat16))
    assert torch.equal(model.weight.detach().float(), base)


def test_that_mixed_and_complex_types_move_together():
    model = nn.Module()
    model.a = nn.Parameter(torch.ones(3, dtype=torch.complex64))
    model.b = nn.Parameter(torch.ones(2, 2, dtype=torch.float64))
    model.c = nn.Parameter(torch.tensor(2.0))
    model.d = nn.Parameter(torch.tensor([1, 2]), requires_grad=False)
    with ParameterVector(model, trainable_only=False) as vector:
        assert vector.names == ("a", "b", "c")
        direction = some_direction(vector)
        vector.set(2.0, direction)
        for name, part in vector.views(direction).items():
            assert torch.allclose(
                getattr(model, name).data, vector.views(vector.base)[name] + 2 * part, rtol=1e-5, atol=1e-6
            )
    assert torch.equal(model.c.detach(), torch.tensor(2.0))


def test_that_half_used_memory_keeps_its_gaps():
    memory = torch.arange(12.0)
    model = nn.Module()
    model.even = nn.Parameter(memory[::2])
    model.odd = nn.Parameter(memory[1::2])
    with ParameterVector(model) as vector:
        assert vector.names == ("even", "odd")
        direction = vector.zeros()
        vector.views(direction)["even"].fill_(1.0)
        vector.set(1.0, direction)
        assert torch.equal(model.even.data, memory[::2] + 1)
        assert torch.equal(model.odd.data, memory[1::2])


def test_that_a_direction_between_states_reaches_the_other(conv):
    end = {name: p.detach() + 1 for name, p in conv.named_parameters()}
    with ParameterVector(conv) as vector:
        vector.set(1.0, between(vector, end))
        for name, p in conv.named_parameters():
            assert torch.allclose(p.data, end[name], rtol=1e-5, atol=1e-6)


def test_that_a_state_under_the_other_name_of_a_tie_is_found(tied):
    state = {name: p.detach() for name, p in tied.named_parameters(remove_duplicate=False)}
    del state["embedding.weight"]
    vector = ParameterVector(tied)
    assert torch.equal(vector.views(vector.read_state(state))["embedding.weight"], state["head.weight"])


def test_that_a_missing_parameter_is_named(conv):
    state = {name: p.detach() for name, p in conv.named_parameters()}
    del state["4.bias"]
    with pytest.raises(CheckpointError, match=r'no tensor for the parameter "4\.bias"'):
        ParameterVector(conv).read_state(state)


def test_that_another_shape_is_refused_with_both(conv):
    state = {name: p.detach() for name, p in conv.named_parameters()} | {"4.bias": torch.zeros(7)}
    with pytest.raises(CheckpointError, match=r"shape \(7,\), the model's has \(5,\)"):
        ParameterVector(conv).read_state(state)


def test_that_a_closed_vector_does_not_move(conv):
    vector = ParameterVector(conv)
    with pytest.raises(LandscopeError, match="context is open"):
        vector.set(1.0, vector.zeros())


def test_that_weights_move_inside_inference_mode(conv):
    before = snapshot(conv)
    with ParameterVector(conv) as vector, torch.inference_mode():
        vector.set(1.0, some_direction(vector))
        conv(torch.zeros(1, 3, 8, 8))
    assert is_as_before(before)
    conv(torch.zeros(1, 3, 8, 8)).sum().backward()
