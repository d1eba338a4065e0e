"""The item of every row, told by giving each item of a batch its own value."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from landscope.layers.observe import Observer
from landscope.layers.samples import Sampling

SIZE = 5


def _marked(model):
    """Layers put out what they are given, so that a row says which item it came from."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for module in model.modules():
            if isinstance(module, nn.Conv2d):
                module.weight[:, 0, 1, 1] = 1.0
            elif isinstance(module, nn.Linear):
                module.weight.copy_(torch.eye(*module.weight.shape))
    return model


def _told(model, *inputs, size=SIZE, series="last_timestep"):
    """Per received call the item of every row, and its first feature."""
    found = []

    def receive(_name, _layer, samples):
        items = observer.items(samples)
        rows = samples.reshape(-1, samples.shape[-1])
        each = len(rows) // len(samples)
        found.append((None if items is None else items.repeat_interleave(each).tolist(), rows[:, 0].tolist()))

    observer = Observer(model, receive, Sampling("channelwise", series))
    with observer, observer.batch(size), torch.no_grad():
        model(*inputs)
    return found


def _check(found):
    assert found
    for items, values in found:
        assert items == [round(value) for value in values]


def test_that_rows_of_a_map_belong_to_their_picture():
    pictures = torch.arange(SIZE).float().reshape(SIZE, 1, 1, 1).expand(SIZE, 1, 4, 3)
    _check(
        _told(_marked(nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 3, 3, padding=1))), pictures)
    )


@pytest.mark.parametrize("series", ["last_timestep", "timestepwise"])
def test_that_steps_belong_to_their_sequence(series):
    steps = torch.arange(SIZE).float().reshape(SIZE, 1, 1).expand(SIZE, 4, 2)
    _check(_told(_marked(nn.Sequential(nn.Linear(2, 2))), steps, series=series))


class _Padded(nn.Module):
    """Ids are the item's number; item 2 has no step at all."""

    def __init__(self, packed):
        super().__init__()
        self.embed, self.linear = nn.Embedding(9, 3, padding_idx=8), nn.Linear(3, 3)
        self.rnn = nn.RNN(3, 3, batch_first=True)
        self.packed = packed

    def forward(self, ids):
        values = self.embed(ids)
        if self.packed:
            lengths = (ids != 8).sum(1)
            self.rnn(pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False))
        return self.linear(values)


def _ids(empty):
    ids = torch.full((SIZE, 6), 8)
    for item, length in enumerate((2, 6, 0 if empty else 1, 3, 5)):
        ids[item, :length] = item
    return ids


@pytest.mark.parametrize("series", ["last_timestep", "timestepwise"])
def test_that_steps_of_padded_sequences_belong_to_their_sequence(series):
    model = _marked(_Padded(packed=False))
    with torch.no_grad():
        model.embed.weight[:, 0] = torch.arange(9).float()
    found = _told(model, _ids(empty=True), series=series)
    assert 2 not in found[0][0]
    _check(found)


@pytest.mark.parametrize("series", ["last_timestep", "timestepwise"])
def test_that_steps_of_packed_sequences_belong_to_their_sequence(series):
    model = _marked(_Padded(packed=True))
    with torch.no_grad():
        model.embed.weight[:, 0] = 0.01 * torch.arange(9).float()
        model.rnn.weight_ih_l0.copy_(torch.eye(3))
    (items, values), _ = _told(model, _ids(empty=False), series=series)
    assert items == [round(100 * value) for value in values]


def test_that_items_of_a_batch_that_the_model_reshapes_are_not_guessed():
    model = nn.Sequential(nn.Flatten(0, 1), nn.Linear(2, 2))
    assert _told(model, torch.randn(SIZE, 4, 2))[0][0] is None
    assert _told(nn.Linear(2, 2), torch.randn(SIZE, 2), size=None)[0][0] is None
