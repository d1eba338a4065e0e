from __future__ import annotations

import gc
import os
import signal
import threading
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from landscope import SaturationTracker
from landscope.contract.errors import OptionError
from landscope.saturation.covariance import Covariance
from landscope.saturation.thinning import thinned
from landscope.saturation.tracking.worker import Worker
from landscope.saturation.writers.base import AbstractWriter


class Kept(AbstractWriter):
    def __init__(self):
        self.values = {}

    def resume_from_saved_state(self, initial_epoch):
        pass

    def add_scalar(self, name, value, **_):
        self.values[name] = value

    def add_scalars(self, prefix, value_dict, sample_value_dict=None, **_):
        self.values |= dict(value_dict) | dict(sample_value_dict or {})

    def save(self):
        pass

    def close(self):
        pass


def _net():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(8 * 36, 20), nn.ReLU(inplace=True)
    )


def _found(batches, **options):
    model, writer = _net(), Kept()
    with SaturationTracker(
        "", writer, model, stats=["lsat", "trc", "spectrum", "embed"], **options
    ) as tracker:
        for batch in batches:
            model(batch)
        tracker.add_saturations()
    return writer.values


def _ours():
    return [thread for thread in threading.enumerate() if thread.name == "landscope-saturation"]


def test_that_a_worker_finds_the_same_values_and_ends():
    batches = [torch.randn(40, 3, 8, 8) for _ in range(70)]
    alone, beside = _found(batches), _found(batches, worker=True)
    assert alone.keys() == beside.keys() and len(alone) == 8
    for name, value in alone.items():
        np.testing.assert_array_equal(value, beside[name])
    assert not _ours()


def test_that_the_training_thread_waits_when_too_much_is_waiting(monkeypatch):
    free, counted = threading.Event(), []
    worker = Worker()
    worker.put(free.wait)
    for number in range(32):
        worker.put(lambda number=number: counted.append(number))
    late = threading.Thread(target=worker.put, args=(lambda: counted.append(32),))
    late.start()
    late.join(0.05)
    assert late.is_alive() and not counted
    free.set()
    late.join()
    worker.drain()
    assert counted == list(range(33))
    worker.close()
    worker.close()
    assert not _ours()


def test_that_the_number_of_torch_threads_is_one_in_the_worker_and_as_before_elsewhere():
    torch.set_num_threads(2)
    seen, worker = [], Worker()
    worker.put(lambda: seen.append(torch.get_num_threads()))
    worker.close()
    other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    other.start()
    other.join()
    assert [*seen, torch.get_num_threads()] == [1, 2, 2]


def test_that_a_failure_in_the_worker_is_kept_as_a_reason_and_the_rest_goes_on(monkeypatch):
    absorb = Covariance.absorb

    def failing(self, block):
        if self.dimension == 8:
            raise RuntimeError("out of memory")
        absorb(self, block)

    monkeypatch.setattr(Covariance, "absorb", failing)
    model, writer = _net(), Kept()
    with SaturationTracker("", writer, model, worker=True) as tracker:
        for _ in range(20):
            model(torch.randn(60, 3, 8, 8))
        tracker.add_saturations()
        assert "out of memory" in tracker.not_measured["0"]
    assert np.isnan(writer.values["train-saturation_0"])
    assert writer.values["train-saturation_3"] > 0


def test_that_a_forgotten_tracker_takes_its_worker_along():
    model = _net()
    tracker = SaturationTracker("", Kept(), model, worker=True)
    for _ in range(9):
        model(torch.randn(60, 3, 8, 8))
    assert _ours()
    del tracker
    gc.collect()
    assert not _ours()
    assert not any(module._forward_hooks for module in model.modules())


def test_that_a_worker_that_drops_the_last_reference_itself_ends():
    worker, ended = Worker(), threading.Event()

    def close_from_inside():
        worker.close()
        ended.set()

    worker.put(close_from_inside)
    ours = _ours()
    assert ended.wait(10)
    for thread in ours:
        thread.join(10)
        assert not thread.is_alive()


def test_that_a_share_of_the_rows_gives_nearly_the_same_and_says_so():
    batches = [torch.randn(200, 3, 8, 8) for _ in range(4)]
    whole, quarter = _found(batches), _found(batches, row_share=0.25)
    np.testing.assert_allclose(quarter["train-saturation_0"], whole["train-saturation_0"], atol=0.13)
    np.testing.assert_allclose(
        quarter["train-covariance-trace_0"], whole["train-covariance-trace_0"], rtol=0.03
    )
    assert quarter["train-covariance-trace_0"] != whole["train-covariance-trace_0"]
    # 200 rows of 20 features are at most 8 per feature and a bit: all are taken
    assert quarter["train-covariance-trace_3"] == whole["train-covariance-trace_3"]


@pytest.mark.parametrize(
    ("shape", "share", "kept"),
    [
        ((16, 12, 12, 4), 0.25, 16 * 36),
        ((16, 12, 12, 4), 1 / 9, 16 * 16),
        ((10, 30, 2), 0.5, 150),
        ((1000, 3), 0.1, 100),
        ((20, 3), 0.1, 20),
        ((8, 16, 64), 0.01, 128),
        ((64, 1, 1, 2), 0.25, 16),
        ((6, 6, 6, 6, 2), 0.125, 162),
    ],
)
def test_that_rows_are_left_out_evenly_and_never_below_eight_per_feature(shape, share, kept):
    found = thinned(torch.randn(*shape), share, 0)
    assert found.shape[:-1].numel() == kept
    assert found.shape[-1] == shape[-1]


@pytest.mark.parametrize("shape", [(12, 6, 6, 1), (40, 12, 1), (300, 1)])
def test_that_every_row_is_taken_equally_often_over_the_batches(shape):
    numbers = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    turns = [thinned(numbers, 0.25, turn).flatten() for turn in range(8)]
    assert torch.bincount(torch.cat(turns).long()).unique().tolist() == [2]


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, float("nan")])
def test_that_a_share_that_is_none_is_refused(share):
    with pytest.raises(OptionError, match="row_share"):
        SaturationTracker("", Kept(), _net(), row_share=share)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_that_a_process_that_is_forked_off_goes_on_where_the_worker_was(monkeypatch):
    monkeypatch.setattr("landscope.saturation.tracking.worker.WAITING", 2)
    model, batches = nn.Linear(6, 4), torch.randn(12, 1024, 6)
    writer = Kept()

    def covariance(tracker):
        for batch in batches[4:]:
            model(batch)
        tracker.add_saturations()
        return writer.values["train-covariance-matrix_Linear"].tobytes()

    with SaturationTracker("", writer, model, stats=["cov"], worker=True) as tracker:
        for batch in batches[:4]:
            model(batch)
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that waits for a thread that it has not
            try:
                os.write(into, covariance(tracker))
            finally:
                os._exit(0)
        os.close(into)
        with os.fdopen(out, "rb") as pipe:
            found = pipe.read()
        assert os.waitpid(child, 0)[1] == 0
        assert found == covariance(tracker)


def test_that_a_worker_that_is_closed_during_a_forward_pass_starts_no_other_thread():
    done, worker = [], Worker()
    worker.put(lambda: done.append(1))
    worker.close()
    worker.put(lambda: done.append(2))
    assert done == [1, 2]
    assert not _ours()


@pytest.mark.parametrize("one_left", [False, True])
def test_that_work_is_done_where_the_system_gives_no_more_threads(monkeypatch, one_left):
    start = threading.Thread.start

    def refused(thread):
        if thread.name == "landscope-saturation" and one_left:
            return start(thread)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    done, worker = [], Worker()
    for number in range(40):
        worker.put(partial(done.append, number))
    worker.drain()
    worker.close()
    assert done == list(range(40))


@pytest.mark.parametrize("started", [True, False])
def test_that_an_interrupt_while_the_thread_starts_neither_doubles_nor_loses_it(monkeypatch, started):
    start = threading.Thread.start

    def interrupted(thread):
        if started or thread.name != "landscope-saturation":
            start(thread)
        if thread.name == "landscope-saturation":
            raise KeyboardInterrupt

    done, worker = [], Worker()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(threading.Thread, "start", interrupted)
        worker.put(lambda: None)
    for number in range(40):
        worker.put(partial(done.append, number))
    assert len(_ours()) == 1
    worker.close()
    assert done == list(range(40))
    assert not _ours()
