"""Code written for delve, with our classes under delve's names: the calls that people make of it."""

import copy
import pickle
import sys
import types

import pytest
import torch
from torch import nn

import landscope.saturation.writers as our_writers
from landscope import SaturationTracker as OurTracker


@pytest.fixture(autouse=True)
def _delve(monkeypatch):
    """What ``import delve`` finds: our tracker, and our writers as ``delve.writers``."""
    delve = types.ModuleType("delve")
    delve.SaturationTracker, delve.CheckLayerSat, delve.writers = OurTracker, OurTracker, our_writers
    callback = types.ModuleType("delve.torchcallback")
    callback.SaturationTracker = OurTracker
    monkeypatch.setitem(sys.modules, "delve", delve)
    monkeypatch.setitem(sys.modules, "delve.writers", our_writers)
    monkeypatch.setitem(sys.modules, "delve.torchcallback", callback)


def _columns(path):
    return path.read_text().splitlines()[0].split(";")[1:]


def test_that_a_training_script_runs_with_a_list_of_layers_and_a_writer_by_its_other_name(tmp_path):
    pytest.importorskip("matplotlib")
    from delve import SaturationTracker

    model = nn.Sequential(nn.Linear(12, 3), nn.ReLU(), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    stats = SaturationTracker(
        f"{tmp_path}/regression/h3",
        save_to="csvplot",
        modules=[model[0], model[2]],
        device="cpu",
        stats=["lsat", "lsat_eval"],
    )
    for _ in range(2):
        model.train()
        loss = model(torch.randn(40, 12)).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        stats.add_scalar("test-loss", model(torch.randn(40, 12)).square().sum().item())
        stats.add_saturations()
    stats.close()
    rows = (tmp_path / "regression" / "h3.csv").read_text().splitlines()
    assert len(rows) == 3
    assert set(_columns(tmp_path / "regression" / "h3.csv")) == {
        "test-loss",
        *(f"{mode}-saturation_Module-{k}-Linear" for mode in ("train", "eval") for k in range(2)),
    }


@pytest.mark.parametrize("save_to", ["csv", "npy", "print", "plot", "plotcsv", "csvplot", "csvplotting"])
def test_that_each_writer_is_found_by_each_of_its_names(tmp_path, save_to):
    pytest.importorskip("matplotlib")
    from delve import CheckLayerSat

    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(16, 2))
    tracker = CheckLayerSat(str(tmp_path / "run"), save_to, model, stats=["idim", "lsat", "cov", "trc"])
    model(torch.randn(5, 1, 4, 4))
    tracker.add_saturations()
    tracker.save()
    tracker.close()
    assert save_to == "print" or any(tmp_path.iterdir())


def test_that_writers_are_made_by_hand_with_their_arguments(tmp_path):
    pytest.importorskip("matplotlib")
    from delve.writers import CompositWriter, CSVandPlottingWriter, CSVWriter, NPYWriter, PrintWriter

    model, path = nn.Sequential(nn.Linear(10, 8)), str(tmp_path / "run")
    writers = [CSVandPlottingWriter(path, fontsize=16, primary_metric="accuracy"), NPYWriter(path, zip=True)]
    tracker = OurTracker(path, [*writers, PrintWriter()], model, stats=["lsat", "idim"], device="cpu")
    model(torch.randn(5, 10))
    tracker.add_scalar("accuracy", 1.0)
    tracker.add_saturations()
    tracker.close()
    assert "accuracy" in _columns(tmp_path / "run.csv")
    assert (tmp_path / "run.zip").exists()
    other = CompositWriter([CSVWriter(str(tmp_path / "other"))])
    other.add_scalars("", {"a": 1.0})
    other.save()
    assert _columns(tmp_path / "other.csv") == ["a"]


def test_that_arguments_may_be_given_by_place(tmp_path):
    model = nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 3))
    options = (lambda layers: {"0": layers["0"]}, None, 1, None, ["lsat"], True, True, False, [], True)
    more = ("channelwise", "last_timestep", 0.99, False, False, "cuda:0", 0, None, 32)
    tracker = OurTracker(str(tmp_path / "run"), "csv", model, *options, *more)
    model(torch.randn(5, 6))
    tracker.add_saturations()
    tracker.close()
    assert _columns(tmp_path / "run.csv") == ["train-saturation_0"]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("samples", [False, True])
def test_that_a_writer_of_ones_own_gets_all_values_of_a_layer_at_once(several, samples):
    from delve.writers import AbstractWriter

    class Batches(AbstractWriter):
        def __init__(self):
            super().__init__()
            self.batches, self.single, self.saved, self.samples = [], {}, 0, []

        def resume_from_saved_state(self, initial_epoch):
            raise NotImplementedError

        def add_scalar(self, name, value, **kwargs):
            self.single[name] = value

        def add_scalars(self, prefix, value_dict, sample_value_dict, **kwargs):
            self.batches.append(value_dict)
            self.samples.append(sample_value_dict)

        def add_figure(self, name):
            self.single[name] = "figure"

        def save(self):
            self.saved += 1

        def close(self):
            self.saved = -self.saved

    model, writer = nn.Sequential(nn.Linear(6, 4), nn.Linear(4, 3)), Batches()
    stats = ["lsat", "idim", *(["embed"] if samples else [])]
    tracker = OurTracker("", [writer] if several else writer, model, stats=stats, initial_epoch=2)
    model(torch.randn(5, 6))
    tracker.add_scalar("loss", 0.5)
    if not several:
        tracker.add_figure("picture")
    tracker.add_saturations(False)
    tracker.save()
    tracker.close()
    assert [list(batch) for batch in writer.batches] == [
        [f"train-saturation_{layer}", f"train-intrinsic-dimensionality_{layer}"] for layer in "01"
    ]
    assert [len(found) for found in writer.samples] == [int(samples)] * 2
    assert writer.single == {"loss": 0.5} | ({} if several else {"picture": "figure"})
    assert writer.saved == -1


def test_that_recording_stops_and_goes_on(tmp_path):
    model = nn.Sequential(nn.Linear(6, 4))
    tracker = OurTracker(str(tmp_path / "run"), "csv", model)
    for epoch in range(4):
        (tracker.resume if epoch % 2 else tracker.stop)()
        assert tracker.is_recording() is bool(epoch % 2)
        model(torch.randn(9, 6))
        tracker.add_scalar("accuracy", epoch)
        tracker.add_saturations()
        tracker.save()
    tracker.close()
    cells = [line.split(";") for line in (tmp_path / "run.csv").read_text().splitlines()[1:]]
    assert [(row[1], row[2] != "") for row in cells] == [("0", False), ("1", True), ("2", False), ("3", True)]


def test_that_a_training_goes_on_at_an_epoch(tmp_path):
    from delve.torchcallback import SaturationTracker

    model = nn.Sequential(nn.Linear(6, 4))
    for first, epochs in ((0, 3), (2, 2)):
        tracker = SaturationTracker(str(tmp_path / "run"), "csv", model, initial_epoch=first)
        for _ in range(epochs):
            model(torch.randn(9, 6))
            tracker.add_saturations()
        tracker.close()
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert [line.split(";")[0] for line in lines[1:]] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("method", ["timestepwise", "last_timestep"])
def test_that_recurrent_layers_with_attributes_of_ones_own_are_watched(tmp_path, method):
    pytest.importorskip("matplotlib")
    model = nn.Sequential()
    lstm = nn.LSTM(10, 8, 2)
    lstm.name = "lstm2"
    model.add_module("lstm", lstm)
    arguments = {"figsize": [8, 8]}
    tracker = OurTracker(
        str(tmp_path / "run"),
        "plot",
        model,
        stats=["lsat", "embed"],
        timeseries_method=method,
        include_conv=False,
        writer_args=arguments,
        verbose=1,
    )
    model(torch.randn(5, 3, 10))
    tracker.add_saturations()
    tracker.close()
    assert _columns(tmp_path / "run.csv") == ["train-saturation_lstm"]
    assert arguments == {"figsize": [8, 8]}


def test_that_a_watched_model_is_pickled_and_copied():
    model = nn.Sequential(nn.Linear(6, 4))
    with OurTracker("", "print", model):
        batch = torch.randn(2, 6)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert torch.equal(other(batch), model(batch))


def test_that_what_is_no_writer_and_no_model_is_told_in_a_sentence(tmp_path):
    from landscope import LandscopeError

    model = nn.Linear(2, 2)
    for save_to, modules in (("excel", model), (object(), model), ("print", [model, "fc"]), ("print", 3)):
        for nosave in (False, True):
            with pytest.raises(LandscopeError):
                OurTracker(str(tmp_path / "run"), save_to, modules, nosave=nosave)
