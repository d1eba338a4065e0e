"""The table of units: which part of which layer counts as one."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from landscope.weights.units import Unit, grouped, unit_norms, units_of


class Conv1D(nn.Module):
    """Like the layer of GPT-2: weights are (inputs, outputs)."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(3, 5)), nn.Parameter(torch.ones(5))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.positions = nn.Parameter(torch.ones(1, 7, 4))
        self.lora_A = nn.Linear(4, 2, bias=False)
        self.scale = nn.Parameter(torch.tensor(1.0))


ROW, FIXED = Unit("row", 0), Unit("fixed")


@pytest.mark.parametrize(
    "module,wanted",
    [
        (nn.Linear(2, 3), {"weight": ROW, "bias": FIXED}),
        (nn.Conv2d(2, 4, 3), {"weight": ROW, "bias": FIXED}),
        (nn.ConvTranspose2d(2, 4, 3), {"weight": Unit("row", 1), "bias": FIXED}),
        (nn.ConvTranspose1d(4, 6, 3, groups=2), {"weight": Unit("row", 1, 2), "bias": FIXED}),
        (Conv1D(), {"weight": Unit("row", 1), "bias": FIXED}),
        (nn.Embedding(5, 2), {"weight": Unit("token", 0)}),
        (nn.BatchNorm2d(3), {"weight": FIXED, "bias": FIXED}),
        (nn.LayerNorm((2, 3)), {"weight": FIXED, "bias": FIXED}),
        (nn.LSTM(2, 3, bias=False), {"weight_ih_l0": ROW, "weight_hh_l0": ROW}),
        (
            nn.MultiheadAttention(4, 2, bias=False),
            {"in_proj_weight": ROW, "out_proj.weight": ROW},
        ),
        (Tokens(), {"positions": Unit("position", 1), "lora_A.weight": Unit("tensor"), "scale": FIXED}),
        (
            parametrizations.weight_norm(nn.ConvTranspose1d(2, 3, 2, bias=False), dim=1),
            {
                "parametrizations.weight.original0": Unit("row", 1),
                "parametrizations.weight.original1": Unit("row", 1),
            },
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_that_every_kind_of_layer_has_its_unit(module, wanted):
    assert units_of(module) == wanted


def test_that_outputs_of_a_grouped_transposed_convolution_are_counted_per_group():
    layer = nn.ConvTranspose1d(4, 6, 3, groups=2, bias=False)
    unit = units_of(layer)["weight"]
    norms = unit_norms(layer.weight, unit)
    by_hand = [layer.weight[2 * g : 2 * g + 2, k].norm().item() for g in range(2) for k in range(3)]
    assert norms.flatten().tolist() == pytest.approx(by_hand, rel=1e-6)


def test_that_a_grouped_view_writes_into_its_parameter():
    weight = torch.ones(4, 3, 2).transpose(1, 2).contiguous().transpose(1, 2)
    grouped(weight, Unit("row", 1, 2)).mul_(5)
    assert torch.equal(weight, torch.full((4, 3, 2), 5.0))


def test_that_norms_are_summed_in_double_precision():
    values = torch.full((1, 1 << 20), 1e-3)
    exact = 1e-3 * 2**10
    assert unit_norms(values, ROW).item() == pytest.approx(exact, rel=1e-7)
