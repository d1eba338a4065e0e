"""Every kind of layer that a tracker can watch, against its rows taken by hand."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from landscope import AbstractWriter, SaturationTracker


class Kept(AbstractWriter):
    def __init__(self):
        self.values = {}

    def add_scalar(self, name, value, **kwargs):
        self.values[name] = value

    def save(self):
        pass

    def close(self):
        pass


def _matrices(model, *batches, run=None, **options):
    """The covariance of every layer after these forward passes, and what was not measured."""
    writer = Kept()
    with SaturationTracker("", writer, model, stats=["cov"], **options) as tracker:
        for batch in batches:
            (run or model)(batch)
        tracker.add_saturations()
        reasons = tracker.not_measured
    cut = len("train-covariance-matrix_")
    return {name[cut:]: found for name, found in writer.values.items()}, reasons


def _covariance(rows):
    rows = rows.detach().double().reshape(-1, rows.shape[-1])
    centred = rows - rows.mean(0)
    return (centred.T @ centred / len(rows)).numpy()


def _agrees(found, rows):
    expected = _covariance(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


MAPS = [
    (nn.Conv1d(3, 5, 2), (7, 3, 6)),
    (nn.Conv2d(3, 5, 2, groups=1, stride=2), (7, 3, 6, 6)),
    (nn.Conv3d(3, 5, 2), (7, 3, 4, 4, 4)),
    (nn.ConvTranspose1d(3, 5, 2), (7, 3, 6)),
    (nn.ConvTranspose2d(3, 5, 2), (7, 3, 4, 5)),
    (nn.ConvTranspose3d(3, 5, 2), (7, 3, 3, 3, 3)),
]


@pytest.mark.parametrize(("layer", "shape"), MAPS, ids=lambda one: getattr(type(one), "__name__", ""))
@pytest.mark.parametrize("method", ["channelwise", "mean", "max", "median", "flatten"])
def test_that_maps_of_any_number_of_dimensions_are_measured(layer, shape, method):
    model, batches = nn.Sequential(layer), [torch.randn(shape), torch.randn(shape)]
    found, _ = _matrices(model, *batches, layers=[type(layer)], conv_method=method)
    maps = torch.cat([model(batch) for batch in batches]).flatten(2)
    rows = {
        "channelwise": maps.transpose(1, 2),
        "mean": maps.mean(2),
        "max": maps.amax(2),
        "median": maps.median(2).values,
        "flatten": maps.flatten(1),
    }
    _agrees(found["0"], rows[method])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("method", ["last_timestep", "timestepwise"])
def test_that_recurrent_layers_give_their_steps(kind, first, method):
    model = kind(3, 4, 2, batch_first=first, bidirectional=True)
    batch = torch.randn(9, 6, 3)
    found, _ = _matrices(model, batch, layers=[kind], timeseries_method=method)
    output = model(batch)[0]
    output = output if first else output.transpose(0, 1)
    _agrees(found[kind.__name__], output[:, -1] if method == "last_timestep" else output)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("layers", [[], [nn.GRU]])
def test_that_layers_behind_time_first_recurrence_take_the_last_step_whether_that_is_watched_or_not(
    kind, layers
):
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.fc = kind(3, 4), nn.Linear(4, 5)

        def forward(self, x):
            return self.fc(self.rnn(input=x)[0])

    model, batch = Tagger(), torch.randn(6, 9, 3)
    found, _ = _matrices(model, batch, layers=layers)
    _agrees(found["fc"], model(batch)[-1])


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("method", ["last_timestep", "timestepwise"])
def test_that_layers_behind_packed_sequences_take_their_real_steps(first, method):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.fc = nn.GRU(3, 4, batch_first=first), nn.Linear(4, 5)

        def forward(self, packed):
            return self.fc(pad_packed_sequence(self.rnn(packed)[0], batch_first=first)[0])

    lengths = torch.tensor([2, 6, 1, 6, 4])
    batch = torch.randn(5, 6, 3)
    given = pack_padded_sequence(
        batch if first else batch.transpose(0, 1), lengths, batch_first=first, enforce_sorted=False
    )
    model = Reader()
    found, _ = _matrices(model, given, timeseries_method=method)
    output = model(given) if first else model(given).transpose(0, 1)
    last = torch.stack([output[k, length - 1] for k, length in enumerate(lengths)])
    every = torch.cat([output[k, :length] for k, length in enumerate(lengths)])
    _agrees(found["fc"], last if method == "last_timestep" else every)


def test_that_items_of_a_time_first_transformer_are_counted_by_its_batch():
    model = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 1, enable_nested_tensor=False
    )
    batch = torch.randn(6, 9, 4)
    found, _ = _matrices(model, batch, max_samples=2)
    expected, _ = _matrices(model, batch[:, :2])
    np.testing.assert_allclose(found["layers-0-linear1"], expected["layers-0-linear1"], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("kind", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
@pytest.mark.parametrize("method", ["last_timestep", "timestepwise"])
def test_that_cells_give_their_steps(kind, method):
    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = kind(3, 4)

        def forward(self, x):
            state, outputs = None, []
            for step in x.unbind(1):
                state = self.cell(step, state)
                outputs.append(state[0] if isinstance(state, tuple) else state)
            return torch.stack(outputs, 1)

    model, batch = Steps(), torch.randn(9, 5, 3)
    found, _ = _matrices(model, batch, layers=[kind], timeseries_method=method)
    output = model(batch)
    _agrees(found["cell"], output[:, -1] if method == "last_timestep" else output)


@pytest.mark.parametrize("first", [True, False])
def test_that_attention_and_the_layers_of_its_model_take_every_token(first):
    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention, self.fc = nn.MultiheadAttention(4, 2, batch_first=first), nn.Linear(4, 3)

        def forward(self, x):
            return self.fc(self.attention(x, x, x)[0])

    model, batch = Attending(), torch.randn(9, 5, 4)
    found, _ = _matrices(model, batch, layers=[nn.MultiheadAttention])
    _agrees(found["attention"], model.attention(batch, batch, batch)[0])
    _agrees(found["fc"], model(batch))


def test_that_every_part_of_encoder_and_decoder_blocks_is_measured():
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True, dropout=0.0)
    batch = torch.randn(6, 5, 8)
    found, reasons = _matrices(model, batch, run=lambda x: model(x, x), layers=[nn.MultiheadAttention])
    parts = ["encoder-layers-0-self_attn", "decoder-layers-0-self_attn", "decoder-layers-0-multihead_attn"]
    linears = [f"{side}-layers-0-linear{k}" for side in ("encoder", "decoder") for k in (1, 2)]
    assert set(found) == {*parts, *linears}
    assert set(reasons) == {f"{part}-out_proj" for part in parts}


def test_that_embeddings_norms_and_functions_are_measured_by_class_or_name():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.body = nn.Embedding(11, 4), nn.Sequential(nn.LayerNorm(4), nn.ReLU())

        def forward(self, ids):
            return self.body(self.words(ids))

    model, ids = Words(), torch.randint(0, 11, (9, 6))
    found, _ = _matrices(model, ids, layers=[nn.Embedding, "body.1"], timeseries_method="timestepwise")
    assert set(found) == {"words", "body-1"}
    _agrees(found["words"], model.words(ids))
    _agrees(found["body-1"], model(ids))


def test_that_named_modules_with_outputs_of_five_dimensions_are_measured_by_channel():
    class Windows(nn.Module):
        def forward(self, x):
            return x.unflatten(2, (2, 3))

    model, batch = nn.Sequential(Windows()), torch.randn(7, 4, 6, 5)
    found, _ = _matrices(model, batch, layers=["0"])
    _agrees(found["0"], model(batch).movedim(1, -1))


def test_that_names_of_nested_parts_are_joined_by_dashes():
    model = nn.ModuleDict({"a": nn.Sequential(nn.Sequential(nn.Linear(2, 3)))})
    found, _ = _matrices(model, torch.randn(5, 2), run=model["a"])
    assert list(found) == ["a-0-0"]


def test_that_a_module_that_hangs_in_two_places_is_measured_once_per_call():
    shared = nn.Linear(4, 4)
    model = nn.Sequential(shared, nn.Sequential(nn.ReLU(), shared))
    batch = torch.randn(9, 4)
    found, _ = _matrices(model, batch, batch)
    assert set(found) == {"0", "0#2"}
    _agrees(found["0#2"], model(batch))


@pytest.mark.parametrize("layer", [nn.LSTM(3, 4), nn.Conv2d(3, 4, 1), nn.Linear(3, 4), nn.Conv1d(3, 4, 1)])
def test_that_an_input_without_a_batch_is_one_item(layer):
    shapes = {nn.LSTM: (6, 3), nn.Conv2d: (3, 5, 5), nn.Linear: (3,), nn.Conv1d: (3, 5)}
    batch = torch.randn(shapes[type(layer)])
    found, reasons = _matrices(nn.Sequential(layer), batch, layers=[nn.Conv1d])
    output = layer(batch)
    rows = {nn.LSTM: lambda: output[0][-1:], nn.Linear: lambda: output[None]}
    _agrees(found["0"], rows.get(type(layer), lambda: output.flatten(1).T)())
    assert reasons == {}


def test_that_an_output_changed_in_place_later_is_measured_as_it_was():
    class Overwritten(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 4)

        def forward(self, x):
            output = self.fc(x)
            with torch.no_grad():
                output.zero_()
            return output

    model, batch = Overwritten(), torch.randn(9, 3)
    found, _ = _matrices(model, batch)
    _agrees(found["fc"], nn.functional.linear(batch, model.fc.weight, model.fc.bias))


def test_that_data_parallel_replicas_count_as_their_model():
    model, batch = nn.DataParallel(nn.Sequential(nn.Linear(3, 4))), torch.randn(9, 3)
    found, _ = _matrices(model, batch)
    _agrees(found["module-0"], model(batch))


def test_that_a_copy_can_be_tracked_beside_its_original():
    model = nn.Sequential(nn.Linear(3, 4))
    with SaturationTracker("", Kept(), model):
        other = copy.deepcopy(model)
        nn.init.normal_(other[0].weight)
        batch = torch.randn(9, 3)
        found, _ = _matrices(other, batch)
        _agrees(found["0"], other(batch))
    assert not other[0]._forward_hooks or other(batch).shape == (9, 4)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_that_a_model_compiled_for_real_gives_the_same_values(monkeypatch):
    monkeypatch.setattr("torch._inductor.config.compile_threads", 1)  # no processes that outlive the test
    model, batch = (
        nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5)),
        torch.randn(9, 1, 6, 6),
    )
    expected, _ = _matrices(model, batch)
    found, _ = _matrices(model, batch, run=torch.compile(model))
    assert found.keys() == expected.keys()
    for name, matrix in expected.items():
        np.testing.assert_allclose(found[name], matrix, rtol=1e-4, atol=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_that_a_model_compiled_before_the_tracker_is_told_to_be_so():
    model, batch = nn.Sequential(nn.Linear(3, 4)), torch.randn(9, 3)
    compiled = torch.compile(model, backend="eager")
    compiled(batch)
    found, reasons = _matrices(model, batch, run=compiled)
    assert found == {}
    assert "compiled before the tracker" in reasons["0"]
