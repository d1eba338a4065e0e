"""What loops do now and then: half precision, parts called by themselves, many steps, batches without any."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from landscope import AbstractWriter, SaturationTracker
from landscope.saturation.memory import covariance_bytes


class Kept(AbstractWriter):
    def __init__(self):
        self.values = {}

    def add_scalar(self, name, value, **kwargs):
        self.values[name] = value

    def save(self):
        pass

    def close(self):
        pass


def _matrices(model, *batches, **options):
    """The covariance of every layer after these forward passes."""
    writer = Kept()
    with SaturationTracker("", writer, model, stats=["cov"], **options) as tracker:
        for batch in batches:
            model(batch)
        tracker.add_saturations()
        assert not tracker.not_measured
    return {name.removeprefix("train-covariance-matrix_"): found for name, found in writer.values.items()}


def _agrees(found, rows):
    rows = rows.detach().double().reshape(-1, rows.shape[-1])
    expected = np.cov(rows.numpy().T, bias=True)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("strategy", [None, "nearest", "area", "bilinear"])
def test_that_averages_of_maps_in_half_precision_are_not_rounded(kind, strategy):
    maps = (20 * torch.randn(80, 3, 8, 8) + 300).to(kind)
    found = _matrices(
        nn.Sequential(nn.Identity()),
        maps,
        layers=["0"],
        conv_method="mean",
        interpolation_strategy=strategy,
        interpolation_downsampling=4,
    )
    exact = maps.float() if strategy is None else functional.interpolate(maps.float(), (4, 4), mode=strategy)
    _agrees(found["0"], exact.mean((2, 3)))


@pytest.mark.parametrize(
    "layer", [nn.LayerNorm(4), nn.Bilinear(4, 4, 5), *([nn.RMSNorm(4)] if hasattr(nn, "RMSNorm") else [])]
)
def test_that_layers_which_work_on_the_last_dimension_have_their_features_there(layer):
    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = layer

        def forward(self, x):
            return self.inner(x, x) if isinstance(layer, nn.Bilinear) else self.inner(x)

    model, batch = Around(), torch.randn(6, 7, 8, 4)
    _agrees(_matrices(model, batch, layers=["inner"])["inner"], model(batch))


def test_that_a_norm_with_a_forward_of_its_own_keeps_its_channels_first():
    class OfMaps(nn.LayerNorm):
        def forward(self, input):
            return super().forward(input.movedim(1, -1)).movedim(-1, 1)

    model, batch = nn.Sequential(OfMaps(4)), torch.randn(6, 4, 7, 8)
    _agrees(_matrices(model, batch, layers=["0"])["0"], model(batch).movedim(1, -1))


@pytest.mark.parametrize("method", ["last_timestep", "timestepwise"])
def test_that_steps_of_a_cell_count_as_one_forward_pass(method):
    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(3, 4)

        def forward(self, x):
            states = [None]
            for step in x.unbind(1):
                states.append(self.cell(step, states[-1]))
            return torch.stack(states[1:], 1)

    model, batches = Steps(), torch.randn(4, 9, 5, 3).unbind()
    options = {"layers": [nn.GRUCell], "timeseries_method": method, "log_interval": 2, "max_samples": 12}
    found = _matrices(model, *batches, **options)
    rows = torch.cat([model(batches[1]), model(batches[3])[:3]])
    _agrees(found["cell"], rows[:, -1] if method == "last_timestep" else rows)


def test_that_late_calls_of_a_layer_in_a_loop_count_as_one_forward_pass():
    class Loop(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            outputs = []
            for _ in range(20):
                x = self.fc(x)
                outputs.append(x)
            return torch.stack(outputs, 1)

    model, batches = Loop(), torch.randn(4, 30, 3).unbind()
    found = _matrices(model, *batches, log_interval=2)
    _agrees(found["fc#16"], torch.cat([model(batches[1]), model(batches[3])])[:, 15:])


def test_that_parts_called_by_themselves_remember_a_bounded_number_of_masks():
    parts = nn.ModuleDict({"words": nn.Embedding(9, 4, padding_idx=0), "fc": nn.Linear(4, 3)})
    writer, rows = Kept(), []
    with SaturationTracker("", writer, parts, stats=["cov"], timeseries_method="timestepwise") as tracker:
        for _ in range(40):
            words = torch.randint(0, 9, (5, 6))
            rows.append(parts["fc"](parts["words"](words))[words != 0])
        assert len(tracker._recorder._order._seen) < 20
        tracker.add_saturations()
    _agrees(writer.values["train-covariance-matrix_fc"], torch.cat(rows))


@pytest.mark.parametrize("method", ["last_timestep", "timestepwise"])
def test_that_sequences_without_steps_are_passed_over(method):
    model, batch = nn.Sequential(nn.Linear(3, 2)), torch.randn(40, 6, 3)
    found = _matrices(model, batch[:, :0], batch, batch[:0], timeseries_method=method)
    _agrees(found["0"], model(batch)[:, -1] if method == "last_timestep" else model(batch))


def test_that_a_report_without_any_row_has_no_values():
    writer = Kept()
    model, method = nn.Sequential(nn.Linear(3, 2)), "timestepwise"
    with SaturationTracker("", writer, model, timeseries_method=method) as tracker:
        model(torch.empty(4, 0, 3))
        tracker.add_saturations()
    assert not writer.values


@pytest.mark.parametrize("size", [None, [3, 4], "large", 0])
def test_that_attributes_of_modules_of_ones_own_may_mean_anything(size):
    class Own(nn.Module):
        hidden_size = num_features = size

        def forward(self, x):
            return x

    model = nn.Sequential(Own(), nn.LazyBatchNorm1d())
    found = _matrices(model, torch.randn(90, 3), layers=["0", nn.LazyBatchNorm1d])
    assert {name: len(matrix) for name, matrix in found.items()} == {"0": 3, "1": 3}


def test_that_very_wide_layers_keep_fewer_embedded_rows():
    width = 200_000
    writer, model = Kept(), nn.Sequential(nn.Linear(1, width))
    with SaturationTracker("", writer, model, stats=["embed"]) as tracker, torch.no_grad():
        estimate = tracker.memory_estimate
        model(torch.randn(100, 1))
        tracker.add_saturations()
    assert len(writer.values["train-embedded-samples_0"]) == (64 << 20) // (4 * width)
    assert estimate < 2 * (covariance_bytes(width) + (65 << 20))
