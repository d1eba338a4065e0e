from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from landscope.layers.observe import Observer
from landscope.layers.samples import Sampling


def _watch(model, *inputs, sampling=None, size=None, **options):
    """Received samples by name, copied, and what was not observed."""
    seen = {}
    observer = Observer(
        model,
        lambda name, _layer, rows: seen.setdefault(name, []).append(rows.detach().clone()),
        sampling or Sampling(),
        **options,
    )
    with observer, observer.batch(size), torch.no_grad():
        model(*inputs)
    return seen, {one.layer: one.reason for one in observer.not_observed()}


def _hook_count(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


class _Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2, self.never = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.l2(torch.relu(self.l1.forward(x)))


def test_that_layers_not_called_as_modules_are_told():
    seen, missing = _watch(_Functional(), torch.randn(5, 3))
    assert list(seen) == ["l2"]
    assert set(missing) == {"l1", "never"}
    assert "not called as a module" in missing["l1"]


def test_that_an_in_place_activation_does_not_change_what_was_received():
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, 2))
    seen, missing = _watch(model, torch.randn(8, 1, 6, 6))
    assert (seen["0"][0] < 0).any()
    assert list(seen) == ["0", "3"] and not missing


class _Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Linear(4, 4)
        self.alias = self.block

    def forward(self, x):
        return self.block(torch.relu(self.alias(torch.relu(self.block(x)))))


def test_that_repeated_calls_are_numbered_anew_in_every_batch():
    model, names = _Shared(), []
    with Observer(model, lambda name, _layer, _rows: names.append(name)) as observer:
        for _ in range(2):
            with observer.batch():
                model(torch.randn(2, 4))
    assert names == ["block", "block#2", "block#3"] * 2


def test_that_only_our_hooks_go_even_when_the_forward_raises():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))
    model[0].register_forward_hook(lambda _module, _inputs, output: output * 2)
    before = _hook_count(model)
    fast_path = torch.backends.mha.get_fastpath_enabled()
    with pytest.raises(RuntimeError, match="shapes"):
        _watch(model, torch.randn(2, 3))
    assert _hook_count(model) == before == 1
    assert torch.backends.mha.get_fastpath_enabled() is fast_path


def test_that_a_users_own_hook_comes_first():
    model = nn.Sequential(nn.Linear(3, 4))
    model[0].register_forward_hook(lambda _module, _inputs, output: output * 0 + 7)
    seen, _ = _watch(model, torch.randn(2, 3))
    assert (seen["0"][0] == 7).all()


def test_that_forwards_outside_a_batch_are_not_recorded():
    model, names = nn.Linear(3, 4), []
    with Observer(model, lambda name, _layer, _rows: names.append(name)):
        model(torch.randn(2, 3))
    assert names == []


class _Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 6, padding_idx=0)
        self.lstm = nn.LSTM(6, 7, num_layers=2, bidirectional=True, batch_first=True, proj_size=3)
        self.gru = nn.GRU(6, 5)
        self.cell = nn.LSTMCell(6, 4)
        self.out = nn.Linear(6, 2)

    def forward(self, ids, lengths):
        embedded = self.embed(ids)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)
        self.gru(embedded.transpose(0, 1))
        state = None
        for t in range(ids.shape[1]):
            state = self.cell(embedded[:, t], state)
        return self.out(hidden[-2:].transpose(0, 1).flatten(1))


@pytest.fixture
def sequences():
    lengths = torch.tensor([5, 2, 3, 4])
    ids = torch.randint(1, 20, (4, 5))
    ids[torch.arange(5)[None] >= lengths[:, None]] = 0
    return ids, lengths


def test_that_padded_and_packed_sequences_count_real_steps_only(sequences):
    sampling = Sampling(timeseries_method="timestepwise")
    seen, missing = _watch(_Sequences(), *sequences, sampling=sampling, embeddings=True)
    rows = {
        name: sum(part.reshape(-1, part.shape[-1]).shape[0] for part in parts) for name, parts in seen.items()
    }
    assert rows == {"embed": 14, "lstm": 14, "gru": 14, "cell": 20, "out": 4}
    widths = {name: parts[0].shape[-1] for name, parts in seen.items()}
    assert widths == {"embed": 6, "lstm": 6, "gru": 5, "cell": 4, "out": 2}
    assert not missing


def test_that_the_last_step_is_the_last_real_one(sequences):
    model = _Sequences()
    seen, _ = _watch(model, *sequences)
    ids, lengths = sequences
    output, _ = model.gru(model.embed(ids).transpose(0, 1))
    expected = torch.stack([output[n - 1, b] for b, n in enumerate(lengths)])
    torch.testing.assert_close(seen["gru"][0], expected)
    assert len(seen["cell"]) == 1 and seen["cell"][0].shape == (4, 4)


def test_that_the_batch_size_tells_time_first_from_batch_first():
    model = nn.Linear(3, 2)
    series = torch.randn(7, 4, 3)
    expected = model(series)
    seen, _ = _watch(model, series, size=4)
    torch.testing.assert_close(seen[""][0], expected[-1])
    seen, _ = _watch(model, series, size=7)
    torch.testing.assert_close(seen[""][0], expected[:, -1])


class _Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(16, 2)

    def forward(self, x, padding=None):
        return self.out(self.encoder(self.embed(x), src_key_padding_mask=padding).mean(1))


def test_that_every_layer_of_a_transformer_is_seen_and_tokens_are_samples():
    model = _Tokens().eval()
    seen, missing = _watch(model, torch.randn(3, 5, 4))
    assert list(seen)[1:4] == [f"encoder.layers.0.{n}" for n in ("self_attn", "linear1", "linear2")]
    assert len(seen) == 8
    assert seen["encoder.layers.1.linear1"][0].shape == (3, 5, 32)
    assert seen["encoder.layers.1.self_attn"][0].shape == (3, 5, 16)
    assert set(missing) == {f"encoder.layers.{k}.self_attn.out_proj" for k in range(2)}


def test_that_padded_tokens_are_left_out():
    padding = torch.tensor([[False, False, True, True, True], [False] * 5])
    seen, _ = _watch(_Tokens().eval(), torch.randn(2, 5, 4), padding)
    assert seen["encoder.layers.0.linear1"][0].shape == (7, 32)
    assert seen["encoder.layers.0.self_attn"][0].shape == (7, 16)


class _Integers(nn.Module):
    def forward(self, x):
        return x.long()


def test_that_an_output_without_real_features_is_told():
    seen, missing = _watch(nn.Sequential(_Integers()), torch.randn(2, 3), named=["0"])
    assert not seen
    assert "int64" in missing["0"]


class _Gradients(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(3, 4), nn.Linear(3, 2)

    def forward(self, x):
        slopes = torch.func.vmap(torch.func.grad(lambda row: self.inner(row).sum()))(x)
        return self.outer(slopes)


def test_that_layers_inside_transforms_of_functions_are_told_and_do_no_harm():
    seen, missing = _watch(_Gradients(), torch.randn(5, 3))
    assert list(seen) == ["outer"]
    assert "torch.func" in missing["inner"]
