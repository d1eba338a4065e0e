"""The tracker in training loops: what it survives, leaves behind, tells apart and reports."""

from __future__ import annotations

import copy
import gc
import io
import logging
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.checkpoint import checkpoint

import landscope
from landscope import AbstractWriter, LandscopeError, SaturationTracker
from landscope.saturation.rethreshold import read_spectra
from landscope.saturation.spectra import SPECTRUM

SPECTRUM_0 = f"train{SPECTRUM}0"


class Kept(AbstractWriter):
    def __init__(self, fails=False):
        self.values, self.calls, self.fails = {}, [], fails

    def resume_from_saved_state(self, initial_epoch):
        self.calls.append(("resume", initial_epoch))

    def add_scalar(self, name, value, **kwargs):
        if self.fails:
            raise OSError("No space left on device")
        self.values.setdefault(name, []).append(value)

    def add_note(self, text):
        self.calls.append(("note", text))

    def save(self):
        self.calls.append("save")

    def close(self):
        self.calls.append("close")


def _mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(inplace=True), nn.Linear(8, 3))


def _hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def _idim(values, layer, mode="train"):
    return values[f"{mode}-intrinsic-dimensionality_{layer}"]


def _tracked(model, *inputs, **options):
    """What is reported after these forward passes."""
    writer = Kept()
    options.setdefault("stats", ["idim", "trc"])
    with SaturationTracker("", writer, model, **options) as tracker:
        for given in inputs:
            model(given)
        tracker.add_saturations()
        reasons = tracker.not_measured
    return writer.values, reasons


def _rows(values, layer, mode="train"):
    """Trace of a layer's outputs, a fingerprint of which rows were taken."""
    return values[f"{mode}-covariance-trace_{layer}"][-1]


def _trace(rows):
    rows = rows.detach().double().reshape(-1, rows.shape[-1])
    return float(rows.var(0, unbiased=False).sum())


STATS = ["lsat", "idim", "cov", "det", "trc", "dtrc", "embed", "spectrum", "logdet"]
STATS += ["participation_ratio", "effective_rank"]


@pytest.mark.parametrize(
    "batches",
    [
        [torch.full((4, 6), float("nan"))],
        [torch.full((4, 6), float("inf")), torch.randn(5, 6)],
        [torch.randn(1, 6)],
        [torch.zeros(7, 6)],
        [torch.empty(0, 6), torch.randn(3, 6)],
        [torch.randn(6)],
        [torch.full((3, 6), 1e30)],
    ],
    ids=["nan", "inf first", "one", "constant", "empty", "unbatched", "huge"],
)
def test_that_odd_batches_give_values_and_no_error(batches):
    values, reasons = _tracked(_mlp(), *batches, stats=STATS)
    assert reasons == {}
    assert len(values["train-saturation_0"]) == 1
    assert len(values["train-effective-rank_2"]) == 1


def test_that_rows_with_nan_are_left_out_and_told(caplog):
    model, good = _mlp(), torch.randn(20, 6)
    bad = torch.cat([good, torch.full((2, 6), float("nan"))])
    found, expected = _tracked(model, bad)[0], _tracked(model, good)[0]
    assert _rows(found, "2") == pytest.approx(_rows(expected, "2"), rel=1e-5)
    assert _idim(found, "2") == _idim(expected, "2")
    assert "2 rows held NaN or inf" in caplog.text


def test_that_layers_of_width_one_and_maps_of_three_dimensions_are_measured():
    model = nn.Sequential(nn.Conv3d(2, 3, 2), nn.Flatten(), nn.Linear(24, 1))
    values, _ = _tracked(model, torch.randn(9, 2, 3, 3, 3), layers=[nn.Conv3d], stats=STATS)
    assert _idim(values, "2") == [1]
    assert values["train-covariance-matrix_0"][0].shape == (3, 3)
    assert values["train-embedded-samples_2"][0].shape == (9, 2)


def test_that_an_output_that_cannot_be_measured_is_told_once_and_never_raised(caplog):
    class Odd(nn.Linear):
        def forward(self, x):
            return {"none": None}

    values, reasons = _tracked(nn.Sequential(Odd(3, 3)), torch.randn(2, 3), torch.randn(2, 3))
    assert values == {}
    assert "dict" in reasons["0"]
    assert len(caplog.records) == 1


def test_that_a_number_of_features_that_changes_is_told_and_the_first_is_measured():
    model = nn.Sequential(nn.Conv2d(1, 2, 1))
    first = torch.randn(5, 1, 4, 4)
    values, reasons = _tracked(model, first, torch.randn(5, 1, 6, 6), conv_method="flatten")
    assert _rows(values, "0") == pytest.approx(_trace(model(first).flatten(1)), rel=1e-5)
    assert "32 and 72" in reasons["0"]


def test_that_a_writer_that_fails_does_not_end_the_training(caplog):
    model = _mlp()
    with SaturationTracker("", Kept(fails=True), model) as tracker:
        model(torch.randn(4, 6))
        tracker.add_scalar("loss", 1.0)
        tracker.add_saturations()
    assert "No space left" in caplog.text


def test_that_hooks_are_removed_on_close_on_error_and_when_the_tracker_is_dropped():
    model = _mlp()
    tracker = SaturationTracker("", Kept(), model)
    assert _hooks(model) > 0
    tracker.close()
    tracker.close()
    assert _hooks(model) == 0
    assert tracker.writer.calls == ["close"]
    with pytest.raises(KeyError), SaturationTracker("", Kept(), model):
        raise KeyError
    assert _hooks(model) == 0
    tracker = SaturationTracker("", Kept(), model)
    model(torch.randn(4, 6))
    del tracker
    gc.collect()
    assert _hooks(model) == 0


def test_that_nothing_is_set_on_modules_and_outputs_and_gradients_stay():
    model, batch = _mlp(), torch.randn(4, 6)
    before = [sorted(vars(module)) for module in model.modules()]
    expected = model(batch)
    with SaturationTracker("", Kept(), model):
        found = model(batch)
        assert [sorted(vars(module)) for module in model.modules()] == before
    assert torch.equal(found, expected)
    found.sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_that_a_copy_works_and_is_not_tracked():
    model, writer = _mlp(), Kept()
    with SaturationTracker("", writer, model) as tracker:
        copy.deepcopy(model)(torch.randn(4, 6))
        tracker.add_saturations()
    assert writer.values == {}


def test_that_a_pickled_model_loads_without_this_package():
    model, file = (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1),
        io.BytesIO(),
    )
    with SaturationTracker("", Kept(), model):
        torch.save(model, file)
    code = (
        "import sys, io, torch; sys.modules['landscope'] = None\n"
        "m = torch.load(io.BytesIO(sys.stdin.buffer.read()), weights_only=False)\n"
        "print(tuple(m(torch.zeros(2, 3, 4)).shape))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=file.getvalue(), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "(2, 3, 4)"


def test_that_two_trackers_on_one_model_do_not_meet():
    model, first, second = _mlp(), Kept(), Kept()
    one = SaturationTracker("", first, model)
    with SaturationTracker("", second, model, stats=["idim"]) as two:
        model(torch.randn(9, 6))
        two.add_saturations()
    model(torch.randn(9, 6))
    one.add_saturations()
    one.close()
    assert set(first.values) == {"train-saturation_0", "train-saturation_2"}
    assert set(second.values) == {"train-intrinsic-dimensionality_0", "train-intrinsic-dimensionality_2"}
    assert _hooks(model) == 0


def test_that_train_and_eval_are_apart_by_the_model_and_not_by_a_frozen_part():
    model = _mlp()
    writer = Kept()
    with SaturationTracker("", writer, model, stats=["trc"]) as tracker:
        model[0].eval()
        model(torch.randn(9, 6))
        tracker.add_saturations()
        model.eval()
        with torch.inference_mode():
            model(torch.randn(9, 6))
        model(torch.randn(9, 6))
        tracker.add_saturations()
    assert {name: len(found) for name, found in writer.values.items()} == {
        f"{mode}-covariance-trace_{layer}": 1 for mode in ("train", "eval") for layer in "02"
    }


def test_that_covariances_go_on_across_reports_if_asked():
    model, writer = _mlp(), Kept()
    first, second = torch.randn(9, 6), torch.randn(9, 6)
    with SaturationTracker("", writer, model, stats=["trc"], reset_covariance=False) as tracker:
        for batch in (first, second):
            model(batch)
            tracker.add_saturations()
        tracker.add_saturations()
    both = _trace(model[0](torch.cat([first, second])))
    assert len(writer.values["train-covariance-trace_0"]) == 2
    assert _rows(writer.values, "0") == pytest.approx(both, rel=1e-5)
    assert _rows(_tracked(model, second)[0], "0") == pytest.approx(_trace(model[0](second)), rel=1e-5)


def test_that_items_are_counted_anew_in_every_report():
    model, writer = _mlp(), Kept()
    batch = torch.randn(9, 6)
    with SaturationTracker("", writer, model, stats=["trc"], max_samples=4) as tracker:
        for _ in range(2):
            model(batch)
            tracker.add_saturations()
    expected = _trace(model[0](batch[:4]))
    assert writer.values["train-covariance-trace_0"] == pytest.approx([expected] * 2, rel=1e-5)


def test_that_stop_and_resume_leave_out_what_runs_between():
    model, writer = _mlp(), Kept()
    with SaturationTracker("", writer, model) as tracker:
        tracker.stop()
        model(torch.randn(9, 6))
        tracker.add_saturations()
        assert writer.values == {}
        tracker.resume()
        model(torch.randn(9, 6))
        tracker.add_saturations()
    assert len(writer.values) == 2


def test_that_layers_are_chosen_by_filter_ignoring_kind_and_class():
    model = nn.Sequential(nn.Conv1d(2, 3, 1), nn.Conv2d(3, 4, 1), nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    names = lambda **options: list(SaturationTracker("", Kept(), model, **options).layers)  # noqa: E731
    assert names() == ["1", "2-0"]
    assert names(include_conv=False) == ["2-0"]
    assert names(ignore_layer_names=["2.0"]) == names(ignore_layer_names=["2-0"]) == ["1"]
    assert names(layer_filter=lambda found: {k: v for k, v in found.items() if k != "1"}) == ["2-0"]
    assert names(layers=[nn.Conv1d, "2.1"]) == ["0", "1", "2-0", "2-1"]


def test_that_a_list_of_modules_is_watched_under_names_of_its_own():
    layers = [nn.Linear(6, 4), nn.Linear(4, 3)]
    writer = Kept()
    with SaturationTracker("", writer, layers) as tracker:
        for _ in range(3):
            layers[1](layers[0](torch.randn(9, 6)))
        tracker.add_saturations()
    assert set(writer.values) == {"train-saturation_Module-0-Linear", "train-saturation_Module-1-Linear"}


def test_that_calls_of_a_reused_layer_are_recorded_apart():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(5, 5)

        def forward(self, x):
            return self.fc(self.fc(x))

    model, batch = Twice(), torch.randn(9, 5)
    values, _ = _tracked(model, batch, batch)
    assert _rows(values, "fc") == pytest.approx(_trace(model.fc(batch)), rel=1e-5)
    assert _rows(values, "fc#2") == pytest.approx(_trace(model(batch)), rel=1e-5)
    assert len(values) == 4


def test_that_recomputed_activations_count_once():
    class Saving(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(5, 5)

        def forward(self, x):
            return checkpoint(self.fc, x, use_reentrant=False)

    model, writer = Saving(), Kept()
    with SaturationTracker("", writer, model, stats=["trc"], max_samples=18) as tracker:
        first = torch.randn(9, 5)
        model(first).sum().backward()
        second = torch.randn(9, 5)
        model(second)
        tracker.add_saturations()
    expected = _trace(model.fc(torch.cat([first, second])))
    assert _rows(writer.values, "fc") == pytest.approx(expected, rel=1e-5)


def test_that_packed_sequences_use_their_real_steps():
    lstm = nn.LSTM(3, 4)
    batch = torch.randn(6, 2, 3)
    packed = pack_padded_sequence(batch, torch.tensor([6, 3]))
    output = lstm(batch)[0]
    last = torch.stack([output[5, 0], output[2, 1]])
    every = torch.cat([output[:, 0], output[:3, 1]])
    values, _ = _tracked(lstm, packed)
    assert _rows(values, "LSTM") == pytest.approx(_trace(last), rel=1e-5)
    values, _ = _tracked(lstm, packed, timeseries_method="timestepwise")
    assert _rows(values, "LSTM") == pytest.approx(_trace(every), rel=1e-5)
    values, _ = _tracked(lstm, packed, timeseries_method="timestepwise", max_samples=1)
    assert _rows(values, "LSTM") == pytest.approx(_trace(output[:, 0]), rel=1e-5)


def test_that_a_layer_after_time_first_recurrence_takes_the_last_step_of_each_sequence():
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.fc = nn.LSTM(3, 4), nn.Linear(4, 5)

        def forward(self, x):
            return self.fc(self.lstm(x)[0])

    model, batch = Tagger(), torch.randn(6, 9, 3)
    values, _ = _tracked(model, batch)
    assert _rows(values, "fc") == pytest.approx(_trace(model(batch)[-1]), rel=1e-5)


def test_that_a_cell_gives_its_last_step():
    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(3, 4)

        def forward(self, x):
            state = None
            for step in x.unbind(1):
                state = self.cell(step, state)
            return state

    model, batch = Steps(), torch.randn(9, 5, 3)
    values, _ = _tracked(model, batch, layers=[nn.GRUCell])
    assert _rows(values, "cell") == pytest.approx(_trace(model(batch)), rel=1e-5)


def test_that_a_transformer_is_measured_in_eval_where_its_layers_would_be_fused():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).eval()
    fast = torch.backends.mha.get_fastpath_enabled()
    with torch.no_grad():
        values, reasons = _tracked(model, torch.randn(9, 5, 4), stats=["lsat"])
    assert len(values) == 4
    assert set(reasons) == {"layers-0-self_attn-out_proj", "layers-1-self_attn-out_proj"}
    assert torch.backends.mha.get_fastpath_enabled() is fast


def test_that_the_fused_path_is_back_after_a_forward_pass_that_fails():
    model = _mlp()
    fast = torch.backends.mha.get_fastpath_enabled()
    with SaturationTracker("", Kept(), model), pytest.raises(RuntimeError):
        model(torch.randn(2, 99))
    assert torch.backends.mha.get_fastpath_enabled() is fast


def test_that_an_interrupted_forward_pass_leaves_nothing_behind():
    class Interrupted(nn.Sequential):
        def forward(self, x):
            out = super().forward(x)
            if len(x) == 1:
                raise KeyboardInterrupt
            return out

    model, writer = Interrupted(nn.Linear(6, 8)), Kept()
    fast = torch.backends.mha.get_fastpath_enabled()
    with SaturationTracker("", writer, model) as tracker:
        for size in (9, 1, 9, 9, 1):
            try:
                model(torch.randn(size, 6))
            except KeyboardInterrupt:
                continue
        tracker.add_saturations()
    assert set(writer.values) == {"train-saturation_0"}
    assert torch.backends.mha.get_fastpath_enabled() is fast


@pytest.mark.parametrize("kind", ["bf16", "autocast", "channels_last"])
def test_that_low_precision_and_memory_order_are_measured(kind):
    model, batch = nn.Sequential(nn.Conv2d(3, 8, 3)), torch.randn(4, 3, 6, 6)
    expected, _ = _tracked(model, batch)
    if kind == "bf16":
        found, _ = _tracked(model.bfloat16(), batch.bfloat16())
    elif kind == "channels_last":
        found, _ = _tracked(
            model.to(memory_format=torch.channels_last), batch.to(memory_format=torch.channels_last)
        )
    else:
        with torch.autocast("cpu", torch.bfloat16):
            found, _ = _tracked(model, batch)
    assert _rows(found, "0") == pytest.approx(_rows(expected, "0"), rel=2e-2)


def test_that_a_layer_of_many_features_needs_no_matrix_of_their_square():
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1))
    values, _ = _tracked(model, torch.randn(12, 1, 64, 64), conv_method="flatten", stats=STATS)
    assert len(values[SPECTRUM_0][0]) == 12
    assert "train-covariance-matrix_0" not in values
    assert values["train-embedded-samples_0"][0].shape == (12, 2)


def test_that_embedded_samples_lie_along_the_first_two_directions():
    model, batch = _mlp(), torch.randn(50, 6)
    values, _ = _tracked(model, batch, stats=["embed", "spectrum"])
    placed = values["train-embedded-samples_0"][0]
    np.testing.assert_allclose(placed.var(0), values[SPECTRUM_0][0][:2], rtol=1e-5)


def test_that_averages_are_written_with_or_without_layers():
    model = _mlp()
    values, _ = _tracked(model, torch.randn(30, 6), stats=["lsat"], average_sat=True)
    mean = (values["train-saturation_0"][0] + values["train-saturation_2"][0]) / 2
    assert values["average-train-sat"] == [mean]
    assert "average-eval-sat" not in values
    values, _ = _tracked(model, torch.randn(30, 6), stats=["idim"], average_sat=True, layerwise_sat=False)
    assert set(values) == {"average-train-sat"}


def test_that_writers_are_resumed_saved_and_reached_for_more():
    model, writer = _mlp(), Kept()
    with SaturationTracker("", writer, model, initial_epoch=3) as tracker:
        tracker.add_scalars("loss", {"train": 1.0, "test": 2.0})
        tracker.add_note("hello")
        tracker.add_saturations(save=False)
        tracker.save()
        with pytest.raises(AttributeError):
            tracker.subtract_note("hello")
    assert writer.values == {"loss_train": [1.0], "loss_test": [2.0]}
    assert writer.calls == [("resume", 3), ("note", "hello"), "save", "close"]


def test_that_nosave_writes_no_files(tmp_path, capsys):
    model = _mlp()
    with SaturationTracker(str(tmp_path / "run"), ["csv", "print"], model, nosave=True) as tracker:
        model(torch.randn(9, 6))
        tracker.add_saturations()
    assert list(tmp_path.iterdir()) == []
    assert "train-saturation_0" in capsys.readouterr().out


def test_that_a_table_is_written_by_name(tmp_path):
    model = _mlp()
    with SaturationTracker(str(tmp_path / "run"), "csv", model) as tracker:
        for _ in range(2):
            model(torch.randn(9, 6))
            tracker.add_saturations()
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert len(lines) == 3
    assert "train-saturation_0" in lines[0]


def test_that_verbose_tells_what_is_watched_and_found(caplog):
    with caplog.at_level(logging.INFO, "landscope.saturation"):
        _tracked(_mlp(), torch.randn(9, 6), verbose=True)
    assert "watching 0, 2" in caplog.text
    assert "train 0: saturation" in caplog.text


def test_that_layers_that_were_never_called_are_told():
    model = nn.ModuleDict({"used": nn.Linear(2, 2), "idle": nn.Linear(2, 2)})
    with SaturationTracker("", Kept(), model) as tracker:
        model["used"](torch.randn(3, 2))
        assert set(tracker.not_measured) == {"idle"}


@pytest.mark.parametrize(
    "options",
    [
        {"stats": ["lsat", "nothing"]},
        {"conv_method": "widest"},
        {"timeseries_method": "first"},
        {"sat_threshold": 1.5},
        {"log_interval": 0},
        {"interpolation_strategy": "magic"},
        {"device": "toaster"},
        {"layers": ["no.such"]},
        {"idim_rule": "guess"},
        {"stats": None},
        {"stats": [5]},
        {"stats": [["lsat"]]},
        {"sat_threshold": "0.9"},
        {"sat_threshold": [0.9, 0.99]},
        {"sat_threshold": torch.tensor(0.9)},
        {"sat_threshold": None},
        {"max_samples": 0},
        {"max_samples": 2.5},
        {"max_samples": "5"},
        {"log_interval": 2.5},
        {"log_interval": float("nan")},
        {"log_interval": None},
        {"interpolation_downsampling": "32"},
        {"row_share": "half"},
        {"initial_epoch": "5"},
        {"initial_epoch": -1},
        {"verbose": "yes"},
        {"device": []},
        {"layers": [nn.Linear(2, 2)]},
        {"layers": [int]},
        {"layers": 5},
        {"ignore_layer_names": [5]},
        {"layer_filter": "0"},
        {"layer_filter": lambda layers: layers.clear()},
        {"writer_args": 5},
        {"writer_args": [5]},
        {"writer_args": {5: 6}},
        {"writer_args": 5, "nosave": True},
        {"writer_args": [{}, {}], "nosave": True},
    ],
    ids=lambda options: " ".join(options) + f" {next(iter(options.values()))!r:.20}",
)
def test_that_an_option_that_cannot_be_used_is_refused_in_a_sentence(options):
    model = _mlp()
    with pytest.raises(LandscopeError, match=next(iter(options)) + "|writer"):
        SaturationTracker("", Kept(), model, **options)
    assert _hooks(model) == 0


@pytest.mark.parametrize("nosave", [False, True])
@pytest.mark.parametrize("collection", [set, iter, tuple])
def test_that_several_names_may_come_in_any_collection(collection, nosave):
    with SaturationTracker("", collection(["print"]), _mlp(), nosave=nosave) as tracker:
        assert [type(one).__name__ for one in tracker.writer.writers] == ["PrintWriter"]


def test_that_a_path_among_the_arguments_of_writers_gives_way_to_the_savefile(tmp_path):
    given = {"savepath": str(tmp_path / "other")}
    with SaturationTracker(str(tmp_path / "run"), "csv", model := _mlp(), writer_args=given) as tracker:
        model(torch.randn(9, 6))
        tracker.add_saturations()
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]


def test_that_a_device_that_is_not_there_is_replaced_by_where_the_tensors_are():
    values, _ = _tracked(_mlp(), torch.randn(9, 6), device="cuda:99")
    assert len(values) == 4


def test_that_importing_the_package_does_not_import_torch():
    code = "import sys, landscope; print('torch' in sys.modules, 'SaturationTracker' in dir(landscope))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.decode().split() == ["False", "True"]
    assert landscope.SaturationTracker is SaturationTracker


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch's own, at any graph break
def test_that_a_compiled_model_and_one_on_several_devices_give_the_same_values():
    model, batch = _mlp(), torch.randn(9, 6)
    expected, _ = _tracked(model, batch)
    writer = Kept()
    with SaturationTracker("", writer, model, stats=["idim", "trc"]) as tracker:
        torch.compile(model, backend="eager")(batch)
        tracker.add_saturations()
    assert writer.values == expected
    found, _ = _tracked(nn.DataParallel(model), batch)
    assert found == {name.replace("_", "_module-"): value for name, value in expected.items()}


def test_that_a_resumed_training_goes_on_in_its_files_and_keeps_spectra_for_other_thresholds(tmp_path):
    model, savefile = _mlp(), str(tmp_path / "run")
    for first, epochs in ((0, 2), (2, 1)):
        with SaturationTracker(
            savefile, ["csv", "npy"], model, stats=["idim", "spectrum"], initial_epoch=first
        ) as tracker:
            for _ in range(epochs):
                model(torch.randn(30, 6))
                tracker.add_saturations()
    assert len((tmp_path / "run.csv").read_text().splitlines()) == 4
    assert sorted({one.epoch for one in read_spectra(tmp_path / "run.csv")}) == [0, 1, 2]
    assert {one.dimension for one in read_spectra(tmp_path / "run")} == {8, 3}
