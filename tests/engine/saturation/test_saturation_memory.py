"""Memory of the sums: estimated before running, and measured afterwards."""

import gc

import pytest
import torch
from torch import nn

from landscope import AbstractWriter, SaturationTracker
from landscope.layers.kinds import observed_layers
from landscope.saturation import memory
from landscope.saturation.covariance import Covariance


class Nowhere(AbstractWriter):
    def add_scalar(self, name, value, **kwargs):
        pass

    def save(self):
        pass

    def close(self):
        pass


def _held():
    gc.collect()
    storages = {}
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor:
            storage = thing.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


@pytest.mark.parametrize(
    ("dimension", "batches"),
    [(700, [1024, 1024, 300]), (300, [64] * 40), (5000, [512] * 3), (5000, [512] * 30)],
)
def test_that_no_covariance_holds_more_than_was_estimated_and_large_ones_hold_nearly_all(dimension, batches):
    before, covariance = _held(), Covariance(dimension)
    for rows in batches:
        covariance.add(torch.randn(rows, dimension))
    held, estimate = _held() - before, memory.covariance_bytes(dimension)
    assert held <= 1.02 * estimate
    full = len(batches) != 3 or dimension < 4096
    assert not full or held >= 0.7 * estimate


def test_that_a_tracker_estimates_its_layers_before_a_forward_pass_and_holds_no_more():
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 36, 700), nn.LSTM(700, 90, 1)
    )
    with SaturationTracker("", Nowhere(), model, stats=["lsat", "embed"]) as tracker:
        per_layer, total = tracker.memory_per_layer, tracker.memory_estimate
        assert list(per_layer) == ["0", "3", "4"]
        assert total == sum(per_layer.values())
        before = _held()
        with torch.no_grad():
            for mode in (True, False):
                for _ in range(3):
                    model.train(mode)(torch.randn(400, 3, 8, 8))
        held = _held() - before
        assert 0.4 * total <= held <= total
        assert tracker.memory_estimate == total


@pytest.mark.parametrize(
    ("layer", "features"),
    [
        (nn.Linear(3, 7), 7),
        (nn.ConvTranspose1d(3, 9, 2), 9),
        (nn.LSTM(3, 5, bidirectional=True), 10),
        (nn.LSTM(3, 5, proj_size=2), 2),
        (nn.GRUCell(3, 5), 5),
        (nn.MultiheadAttention(8, 2), 8),
        (nn.Embedding(9, 6), 6),
        (nn.BatchNorm2d(4), 4),
        (nn.LayerNorm((2, 6)), 6),
        (nn.ReLU(), None),
    ],
    ids=lambda one: type(one).__name__,
)
def test_that_the_features_of_a_layer_are_known_without_running_it(layer, features):
    (found,) = observed_layers(nn.Sequential(layer), embeddings=True, named=["0"])
    assert memory.features_of(found, "channelwise") == features


def test_that_flattened_maps_are_estimated_at_their_largest_and_exactly_once_met():
    model = nn.Sequential(nn.Conv2d(1, 4, 3))
    with SaturationTracker("", Nowhere(), model, conv_method="flatten") as tracker:
        unknown = tracker.memory_estimate
        model(torch.randn(5, 1, 6, 6))
        assert tracker.memory_estimate < unknown / 10
        assert unknown >= 2 * max(memory.covariance_bytes(size) for size in (100, 4096, 4097, 65536))


def test_that_samples_that_wait_for_the_worker_are_counted():
    model = nn.Sequential(nn.Linear(4, 3))
    with (
        SaturationTracker("", Nowhere(), model) as one,
        SaturationTracker("", Nowhere(), model, worker=True) as two,
    ):
        assert two.memory_estimate - one.memory_estimate == 32 * 4 << 20
        assert two.memory_per_layer == one.memory_per_layer


def test_that_too_little_memory_is_told_with_what_helps(monkeypatch, caplog):
    monkeypatch.setattr(memory, "free_bytes", lambda _: 1_000_000)
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 500))
    SaturationTracker("", Nowhere(), model).close()
    (record,) = caplog.records
    assert "most of it 1" in record.getMessage()
    assert "0.001 GB are free on cpu" in record.getMessage()
    assert "ignore_layer_names" in record.getMessage()


def test_that_free_memory_is_read_where_the_system_tells_it(tmp_path, monkeypatch):
    facts = tmp_path / "meminfo"
    facts.write_text("MemTotal:       9 kB\nMemAvailable:   2048 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", facts)
    assert memory.free_bytes(torch.device("cpu")) == 2 << 20
    facts.write_text("MemTotal: 9 kB\n")
    assert memory.free_bytes(torch.device("cpu")) is None
    assert memory.free_bytes(torch.device("meta")) is None
