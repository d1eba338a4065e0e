"""Random directions: reproducible, orthogonal as drawn, and as long as the weights they start from."""

import math

import pytest
import torch
from torch import nn

from landscope.contract.errors import OptionError
from landscope.weights.directions import gaussian, random_pair
from landscope.weights.normalise import NORMALIZATIONS
from landscope.weights.restore import preserved
from landscope.weights.units import unit_norms, units_of
from landscope.weights.vector import ParameterVector


def pair_of(model, seed=0, **options):
    vector = ParameterVector(model)
    return vector, random_pair(vector, model, seed, **options)


@pytest.mark.parametrize("name", ["conv", "tied"])
def test_that_a_seed_gives_the_same_bits_and_another_seed_others(name, request):
    model = request.getfixturevalue(name)
    _, once = pair_of(model, seed=3)
    torch.randn(5)
    _, again = pair_of(model, seed=3)
    _, other = pair_of(model, seed=4)
    assert once.sha256() == again.sha256()
    assert once.sha256()[0] != other.sha256()[0]


def test_that_the_global_generators_are_not_touched(conv):
    before = torch.get_rng_state()
    pair_of(conv)
    assert torch.equal(torch.get_rng_state(), before)


def test_that_draws_are_standard_normal():
    model = nn.Linear(300, 300, bias=False)
    vector = ParameterVector(model)
    draws = gaussian(vector, torch.Generator().manual_seed(0)).blocks[0]
    assert abs(draws.mean().item()) < 4 / 300
    assert draws.var().item() == pytest.approx(1, abs=0.02)
    assert (draws**4).mean().item() == pytest.approx(3, abs=0.1)


def test_that_filters_are_as_long_as_the_weights_filters(conv):
    vector, pair = pair_of(conv)
    units, base = units_of(conv), vector.views(vector.base)
    for direction in (pair.first, pair.second):
        for name, part in vector.views(direction).items():
            if units[name].kind == "fixed":
                assert not part.any()
            else:
                assert torch.allclose(
                    unit_norms(part, units[name]), unit_norms(base[name], units[name]), rtol=1e-5, atol=1e-6
                )


@pytest.mark.parametrize("normalization", ["tensor", "module", "model"])
def test_that_coarser_units_are_as_long_as_the_weights(conv, normalization):
    vector, pair = pair_of(conv, normalization=normalization, ignore_1d=False)
    moved, base = vector.views(pair.first), vector.views(vector.base)
    families = {
        "tensor": [[name] for name in moved],
        "module": [["0.weight", "0.bias"], ["1.weight", "1.bias"], ["4.weight", "4.bias"]],
        "model": [list(moved)],
    }[normalization]
    for names in families:
        lengths = [
            math.sqrt(sum(float((t[name].double() ** 2).sum()) for name in names)) for t in (moved, base)
        ]
        assert lengths[0] == pytest.approx(lengths[1], rel=1e-6)


def test_that_unnormalised_directions_are_orthogonal(conv):
    _, pair = pair_of(conv, normalization="none")
    assert abs(pair.cosine) < 1e-6


def test_that_the_remaining_cosine_is_that_of_the_directions_used(conv):
    _, pair = pair_of(conv)
    a, b = (d.blocks[0].double() for d in (pair.first, pair.second))
    assert pair.cosine == pytest.approx(float(a @ b / a.norm() / b.norm()), rel=1e-9)


def test_that_zero_filters_give_zero_directions(conv):
    with preserved(conv), torch.no_grad():
        conv[0].weight[1].zero_()
        vector, pair = pair_of(conv)
        part = vector.views(pair.first)["0.weight"]
        assert not part[1].any() and part[0].any()
        assert pair.first.is_finite()


def test_that_a_group_of_zero_weights_gives_a_zero_direction():
    model = nn.Linear(3, 3, bias=False)
    nn.init.zeros_(model.weight)
    for normalization in set(NORMALIZATIONS) - {"none"}:
        _, pair = pair_of(model, normalization=normalization)
        assert not pair.first.blocks[0].any()


def test_that_an_unknown_normalisation_is_refused(conv):
    with pytest.raises(OptionError, match='no normalisation "weight"'):
        pair_of(conv, normalization="weight")


def test_that_a_model_with_nothing_to_move_is_refused():
    with pytest.raises(OptionError, match="no weights that a random direction could move"):
        pair_of(nn.BatchNorm1d(3))
