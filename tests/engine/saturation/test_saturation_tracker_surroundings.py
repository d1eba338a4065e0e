"""A tracker amid what else a program does: threads, other trackers, exports, copies, settings of torch."""

import copy
import pickle
import threading

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.utils.rnn import pack_padded_sequence

from landscope import AbstractWriter, SaturationTracker
from landscope.contract.errors import StatisticsFileError


class Kept(AbstractWriter):
    def __init__(self):
        self.values = {}

    def add_scalar(self, name, value, **kwargs):
        self.values[name] = value

    def save(self):
        pass

    def close(self):
        pass


def _mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(inplace=True), nn.Linear(16, 4))


def _fused():
    return torch.backends.mha.get_fastpath_enabled()


def test_that_two_trackers_on_one_model_leave_the_fused_path_as_it_was():
    model = _mlp()
    with SaturationTracker("", Kept(), model), SaturationTracker("", Kept(), model):
        model(torch.randn(5, 6))
        assert _fused()


def test_that_overlapping_forward_passes_of_two_threads_leave_the_fused_path_as_it_was():
    both_began, first_ended = threading.Barrier(2), threading.Event()

    class Waits(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = _mlp()

        def forward(self, inputs, ends_last):
            both_began.wait(60)
            if ends_last:
                assert first_ended.wait(60)
            assert not _fused()
            return self.inner(inputs)

    model = Waits()
    with SaturationTracker("", writer := Kept(), model, stats=["idim"]) as tracker:
        other = threading.Thread(target=model, args=(torch.randn(50, 6), True))
        other.start()
        model(torch.randn(50, 6), False)
        first_ended.set()
        other.join()
        assert _fused()
        tracker.add_saturations()
    assert writer.values["train-intrinsic-dimensionality_inner-0"] == 6


def test_that_a_default_device_elsewhere_disturbs_neither_packed_sequences_nor_labels():
    model = nn.LSTM(3, 4, batch_first=True)
    packed = pack_padded_sequence(torch.randn(4, 5, 3), [5, 4, 2, 1], batch_first=True)
    writer = Kept()
    with SaturationTracker("", writer, model, stats=["embed"], timeseries_method="timestepwise") as tracker:
        tracker.set_labels([0, 1, 0, 1])
        try:
            torch.set_default_device("meta")
            model(packed)
            tracker.add_saturations()
        finally:
            torch.set_default_device(None)
        assert not tracker.not_measured
    assert sorted(writer.values["train-embedded-samples_LSTM_labels"]) == [0] * 7 + [1] * 5


def test_that_a_failure_while_masks_are_read_is_told_and_never_raised():
    class Odd(torch.Tensor):
        def ne(self, other):
            raise RuntimeError("no such comparison")

    model = nn.Sequential(nn.Embedding(9, 3, padding_idx=0), nn.Linear(3, 2))
    with SaturationTracker("", Kept(), model) as tracker:
        model(torch.randint(0, 9, (4, 5)).as_subclass(Odd))
        assert "no such comparison" in tracker.not_measured["Embedding"]


def test_that_a_report_made_in_inference_mode_goes_on_afterwards(caplog):
    model, writer = _mlp().eval(), Kept()
    with SaturationTracker("", writer, model, reset_covariance=False, stats=["trc"]) as tracker:
        found = []
        for batch in torch.randn(3, 50, 6):
            with torch.inference_mode():
                model(batch)
                tracker.add_saturations()
            found.append(writer.values["eval-covariance-trace_0"])
    assert len(set(found)) == 3
    assert "cannot be computed" not in caplog.text


@pytest.mark.parametrize("strict", [True, False])
def test_that_a_watched_model_can_be_exported(strict):
    model, batch, writer = _mlp(), torch.randn(50, 6), Kept()
    with SaturationTracker("", writer, model, stats=["idim"]) as tracker:
        exported = torch.export.export(model, (batch,), strict=strict)
        assert not any(tracker._recorder.sums.series.values())
        expected = model(batch)
        tracker.add_saturations()
        assert not tracker.not_measured
    assert torch.equal(exported.module()(batch), expected)
    assert writer.values["train-intrinsic-dimensionality_0"] == 6


def test_that_dry_runs_for_shapes_alone_leave_nothing_behind():
    model, writer = _mlp(), Kept()
    with SaturationTracker("", writer, model, stats=["idim"]) as tracker:
        copy.deepcopy(model).to("meta")(torch.empty(5, 6, device="meta"))
        with FakeTensorMode(allow_non_fake_inputs=True):
            model(torch.randn(5, 6))
        model(torch.randn(50, 6))
        tracker.add_saturations()
        assert not tracker.not_measured
    assert writer.values["train-intrinsic-dimensionality_0"] == 6


def test_that_a_model_that_holds_its_tracker_can_be_copied_and_pickled():
    model = _mlp()
    with SaturationTracker("", writer := Kept(), model, stats=["idim"]) as tracker:
        model.tracker = tracker
        copied, loaded = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
        copied(torch.zeros(50, 6))
        model(torch.randn(50, 6))
        tracker.add_saturations()
    assert copied.tracker is tracker
    assert loaded.tracker is None
    assert writer.values["train-intrinsic-dimensionality_0"] == 6


def test_that_a_layer_in_a_long_loop_has_a_bounded_number_of_sums():
    class Unrolled(nn.Module):
        def __init__(self):
            super().__init__()
            self.step = nn.Linear(6, 6)

        def forward(self, state):
            for _ in range(40):
                state = torch.tanh(self.step(state))
            return state

    with SaturationTracker("", writer := Kept(), model := Unrolled(), stats=["cov"]) as tracker:
        model(torch.randn(30, 6))
        series = tracker._recorder.sums.series["train"]
        assert [one.covariance.samples for one in series.values()] == [30] * 15 + [25 * 30]
        tracker.add_saturations()
    assert len(writer.values) == 16


def test_that_modules_may_come_from_an_iterator_and_single_things_need_no_list():
    class Functional(nn.Module):
        def __init__(self):
            super().__init__()
            self.matrix = nn.Parameter(torch.eye(6))

        def forward(self, inputs):
            return nn.functional.linear(inputs, self.matrix)

    model = nn.Sequential(Functional(), nn.Conv1d(6, 2, 1), nn.Linear(3, 2))
    with SaturationTracker(
        "", Kept(), model.children(), layers=nn.Conv1d, ignore_layer_names=None, device=None
    ) as tracker:
        assert set(tracker.layers) == {"Module-1-Conv1d", "Module-2-Linear"}
        assert "matrix" in tracker.not_measured


def test_that_a_writer_that_goes_on_failing_is_told_once_until_it_works_again(caplog):
    class Full(Kept):
        broken = True

        def add_scalar(self, name, value, **kwargs):
            if self.broken:
                raise OSError("disk full")

    with SaturationTracker("", writer := Full(), model := _mlp()) as tracker:
        for broken in (True, True, False, True):
            writer.broken = broken
            model(torch.randn(50, 6))
            tracker.add_saturations()
    told = [record for record in caplog.records if "failed in add_scalars" in record.message]
    assert len(told) == 2


def test_that_a_place_that_cannot_be_written_to_is_told_in_one_line(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    with SaturationTracker(str(tmp_path / "file" / "run"), ["csv", "npy"], model := _mlp()) as tracker:
        model(torch.randn(200, 6))
        tracker.add_saturations()
    (told,) = [record for record in caplog.records if "failed in save" in record.message]
    assert "could not be written to" in told.message
    assert told.exc_info is None


def test_that_writers_that_cannot_resume_are_told_by_name_and_keep_no_error_of_others_back(tmp_path, caplog):
    class CannotResume(Kept):
        def resume_from_saved_state(self, initial_epoch):
            raise NotImplementedError

    (tmp_path / "run.csv").write_text(";loss\n0;1;2\n")
    with pytest.raises(StatisticsFileError, match="no table of statistics"):
        SaturationTracker(str(tmp_path / "run"), [CannotResume(), "csv"], _mlp(), initial_epoch=1)
    assert "CannotResume cannot go on" in caplog.text


def test_that_names_with_the_sign_of_further_calls_are_names_like_others():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("fc#a", nn.Linear(6, 6))

        def forward(self, inputs):
            (layer,) = self.children()
            return layer(layer(inputs))

    with SaturationTracker("", Kept(), model := Twice()) as tracker:
        model(torch.randn(5, 6))
        assert list(tracker.memory_per_layer) == ["fc#a", "fc#a#2"]
        assert not tracker.not_measured


@pytest.mark.parametrize("comes", ["before", "after"])
@pytest.mark.parametrize("turned", [False, True])
def test_that_an_interrupt_at_the_switch_of_the_fused_path_leaves_it_as_it_was(monkeypatch, turned, comes):
    switch = torch.backends.mha.set_fastpath_enabled

    def interrupted(enabled):
        if enabled != turned or comes == "after":
            switch(enabled)
        if enabled == turned:
            raise KeyboardInterrupt

    model = _mlp()
    with SaturationTracker("", Kept(), model):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(torch.backends.mha, "set_fastpath_enabled", interrupted)
            model(torch.randn(5, 6))
        model(torch.randn(5, 6))
        assert _fused()
    assert _fused()
