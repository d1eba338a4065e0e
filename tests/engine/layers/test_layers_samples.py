from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from landscope.contract.errors import OptionError
from landscope.layers.kinds import observed_layers, unobservable
from landscope.layers.samples import map_samples, packed_samples, sequence_of, series_samples


def test_that_channelwise_makes_every_position_a_sample_without_copying():
    output = torch.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    rows = map_samples(output, 2, "channelwise")
    assert rows.shape == (2, 4, 5, 3)
    assert rows[1, 2, 3].tolist() == output[1, :, 2, 3].tolist()
    assert rows.data_ptr() == output.data_ptr()


@pytest.mark.parametrize("method", ["mean", "max", "median"])
def test_that_pooling_leaves_one_sample_per_picture(method):
    output = torch.randn(3, 2, 4, 4)
    flat = output.reshape(3, 2, 16)
    expected = {"mean": flat.mean(2), "max": flat.max(2).values, "median": flat.sort(2).values[:, :, 7]}
    torch.testing.assert_close(map_samples(output, 2, method), expected[method])


def test_that_one_dimensional_and_unbatched_maps_are_read_alike():
    output = torch.randn(3, 6)
    assert map_samples(output, 1, "channelwise").shape == (1, 6, 3)
    assert map_samples(output, 1, "flatten").shape == (1, 18)


def test_that_a_masked_series_uses_real_steps_only():
    output = torch.arange(2 * 3 * 2.0).reshape(2, 3, 2)
    real = torch.tensor([[True, True, False], [False, False, False]])
    assert series_samples(output, "timestepwise", real).tolist() == output[0, :2].tolist()
    assert series_samples(output, "last_timestep", real).tolist() == [output[0, 1].tolist()]


def test_that_a_packed_series_ends_at_its_own_last_step():
    long, short = torch.randn(4, 2), torch.randn(2, 2)
    packed = pack_sequence([short, long], enforce_sorted=False)
    assert packed_samples(packed, "timestepwise").shape == (6, 2)
    torch.testing.assert_close(packed_samples(packed, "last_timestep"), torch.stack([short[-1], long[-1]]))


def test_that_the_first_tensor_of_any_output_is_taken():
    tensor = torch.zeros(1)
    assert sequence_of((tensor, (torch.ones(1), torch.ones(1)))) is tensor
    assert sequence_of({"mask": None, "last_hidden_state": tensor}) is tensor
    assert sequence_of([None, "text"]) is None


class _Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.matrix = nn.Parameter(torch.zeros(3, 3))
        self.bank = nn.ParameterList([nn.Parameter(torch.zeros(2, 2)), nn.Parameter(torch.zeros(2))])
        self.norm = nn.LayerNorm([2, 2])
        self.embed = nn.Embedding(4, 3)
        self.attention = nn.MultiheadAttention(4, 2)
        self.act = nn.ReLU()


def test_that_kinds_are_chosen_as_documented():
    names = [layer.name for layer in observed_layers(_Odd())]
    assert names == ["attention"]
    assert [x.name for x in observed_layers(_Odd(), embeddings=True)] == ["embed", "attention"]
    assert [x.name for x in observed_layers(_Odd(), named=["act"])] == ["attention", "act"]
    with pytest.raises(OptionError, match="no module called 'nope'"):
        observed_layers(_Odd(), named=["nope"])


def test_that_weights_no_hook_can_see_are_named_with_the_reason():
    found = {one.layer: one.reason for one in unobservable(_Odd())}
    assert set(found) == {"attention.out_proj", "matrix", "bank.0"}
    assert "attention, whose output is observed" in found["attention.out_proj"]
    assert "functional code" in found["matrix"]


def test_that_a_parametrized_layer_keeps_its_kind():
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(2, 3)))
    assert [(layer.name, layer.kind) for layer in observed_layers(model)] == [("0", "Linear")]
    assert unobservable(model) == ()
