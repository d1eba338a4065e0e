"""Writers: what a training leaves behind, epoch by epoch."""

import csv
import sys
import types
from typing import ClassVar

import numpy as np
import pytest
import torch

from landscope.contract.errors import LandscopeError, OptionError, StatisticsFileError
from landscope.saturation.rethreshold import read_spectra
from landscope.saturation.writers import AbstractWriter, CSVWriter, NPYWriter, make_writer


class Kept(AbstractWriter):
    """A writer as a user writes one."""

    def __init__(self):
        self.values, self.saves, self.closed = [], 0, False

    def add_scalar(self, name, value, **kwargs):
        self.values.append((name, value))

    def save(self):
        self.saves += 1

    def close(self):
        self.closed = True


def table(path):
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def test_that_the_table_has_a_row_per_epoch_and_a_column_per_series(tmp_path):
    writer = make_writer("csv", str(tmp_path / "deep" / "run"))
    for epoch in range(2):
        writer.add_scalars("train-saturation", {"fc1": torch.tensor(0.25), "fc2": np.float32(0.5)})
        writer.add_scalar("loss", 1.5 - epoch)
        writer.save()
    writer.close()
    assert table(tmp_path / "deep" / "run.csv") == [
        ["", "train-saturation_fc1", "train-saturation_fc2", "loss"],
        ["0", "0.25", "0.5", "1.5"],
        ["1", "0.25", "0.5", "0.5"],
    ]


def test_that_epochs_without_a_value_leave_their_cell_empty(tmp_path):
    writer = make_writer("csv", str(tmp_path / "run"))
    for epoch in range(3):
        writer.add_scalar("train", epoch)
        if epoch != 1:
            writer.add_scalar("eval", epoch)
        writer.save()
    assert table(tmp_path / "run.csv")[1:] == [["0", "0", "0"], ["1", "1", ""], ["2", "2", "2"]]


@pytest.mark.parametrize("series", ["{}-saturation_fc", "average-{}-sat"])
def test_that_an_epoch_of_evaluation_alone_does_not_share_a_row_with_the_next_training(tmp_path, series):
    writer = make_writer("csv", str(tmp_path / "run"))
    for modes in (["eval"], ["train", "eval"], ["train"], ["train"], ["eval"]):
        for mode in modes:
            writer.add_scalar(series.format(mode), 1)
            writer.add_scalar(f"{mode}-loss", 1)
        writer.save()
    found = [[int(row[0]), row[1] != "", row[3] != ""] for row in table(tmp_path / "run.csv")[1:]]
    assert found == [[0, True, False], [1, True, True], [2, False, True], [3, True, True]]


def test_that_a_value_given_after_save_belongs_to_the_epoch_just_saved(tmp_path):
    writer = make_writer("csv", str(tmp_path / "run"))
    for epoch in range(2):
        writer.add_scalar("sat", epoch)
        writer.save()
        writer.add_scalar("accuracy", epoch)
    writer.close()
    assert table(tmp_path / "run.csv")[1:] == [["0", "0", "0"], ["1", "1", "1"]]


def test_that_resuming_keeps_the_epochs_before_and_replaces_the_later_ones(tmp_path):
    first = make_writer("csv", str(tmp_path / "run"))
    for epoch in range(3):
        first.add_scalar("loss", epoch)
        first.save()
    again = make_writer("csv", str(tmp_path / "run"))
    again.resume_from_saved_state(2)
    again.add_scalar("loss", 9)
    again.save()
    assert table(tmp_path / "run.csv")[1:] == [["0", "0"], ["1", "1"], ["2", "9"]]


def test_that_a_file_of_an_earlier_run_is_kept_once(tmp_path):
    (tmp_path / "run.csv").write_text(";loss\n0;7\n")
    writer = make_writer("csv", str(tmp_path / "run"))
    writer.resume_from_saved_state(0)
    for epoch in range(3):
        writer.add_scalar("loss", epoch)
        writer.save()
    assert (tmp_path / "run.csv.bak").read_text() == ";loss\n0;7\n"
    assert len(table(tmp_path / "run.csv")) == 4


def test_that_a_failed_write_leaves_the_old_file(tmp_path):
    (tmp_path / "file").write_text("x")
    writer = make_writer("csv", str(tmp_path / "file" / "run"))
    writer.add_scalar("loss", 1)
    with pytest.raises(StatisticsFileError, match="could not be written"):
        writer.save()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";a;a\n0;1;2\n",
        ";a\n0;1;2\n",
        ";a\nx;1\n",
        ";a\n" + "9" * 5000 + ";1\n",
        ";a\n0;" + "9" * 200_000 + "\n",
        "\x00\xff",
    ],
)
def test_that_a_file_that_is_no_table_is_told_and_kept(tmp_path, text):
    path = tmp_path / "run.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(StatisticsFileError, match=r"run\.csv is no table"):
        make_writer("csv", str(tmp_path / "run")).resume_from_saved_state(1)
    assert path.read_bytes() == text.encode("latin-1")


def test_that_several_writers_get_the_same_values(tmp_path, capsys):
    own = Kept()
    writer = make_writer(["csv", own, "print"], str(tmp_path / "run"))
    writer.resume_from_saved_state(1)
    writer.add_scalars("train-saturation", {"fc": 0.5})
    writer.save()
    writer.close()
    assert own.values == [("train-saturation_fc", 0.5)]
    assert (own.saves, own.closed) == (1, True)
    assert capsys.readouterr().out == "train-saturation_fc : 0.5\n"
    assert table(tmp_path / "run.csv")[1] == ["1", "0.5"]


def test_that_a_writer_that_fails_keeps_nothing_from_the_others(tmp_path):
    (tmp_path / "file").write_text("x")
    own = Kept()
    writer = make_writer(["csv", "npy", own], str(tmp_path / "file" / "run"))
    for call in (lambda: writer.add_scalar("loss", 1), writer.save, writer.close):
        with pytest.raises(StatisticsFileError):
            call()
    assert (own.values, own.saves, own.closed) == ([("loss", 1)], 1, True)


def test_that_the_failures_of_all_writers_are_told(tmp_path):
    class Full(Kept):
        def save(self):
            raise OSError("disk full")

    class Odd(Kept):
        def save(self):
            raise ValueError("odd value")

    with pytest.raises(OSError, match="disk full") as caught:
        make_writer([Full(), Odd()], "").save()
    assert "odd value" in caught.value.__notes__[0]


def test_that_series_whose_names_differ_in_slashes_only_keep_files_of_their_own(tmp_path):
    writer = make_writer("npy", str(tmp_path))
    for name, value in {"a/b": 1, "a_b": 2, "a:b": 3}.items():
        writer.add_scalar(name, value)
    found = {path.parent.name: int(np.load(path)) for path in tmp_path.rglob("*.npy")}
    assert found == {"a_b": 1, "a_b-2": 2, "a_b-3": 3}


@pytest.mark.parametrize("make", [CSVWriter, NPYWriter])
def test_that_writers_made_by_hand_take_paths(tmp_path, make):
    writer = make(tmp_path / "run")
    writer.add_scalar("train-spectrum_fc", np.ones(3))
    writer.save()
    writer.close()
    assert list(tmp_path.rglob("*epoch0.np?"))


@pytest.mark.parametrize("save_to", [["csv", "plot"], ["plotcsv", "csv"]])
def test_that_two_writers_of_one_table_write_it_once(tmp_path, save_to):
    pytest.importorskip("matplotlib")
    writer = make_writer(save_to, str(tmp_path / "run"))
    writer.add_scalars("train-spectrum", {"fc": np.ones(3)})
    writer.add_scalar("loss", 1)
    writer.save()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.csv", "run.spectra"]


def test_that_spectra_of_earlier_epochs_are_not_written_again(tmp_path):
    writer = make_writer("csv", str(tmp_path / "run"))
    first = tmp_path / "run.spectra" / "epoch0.npz"
    for epoch in range(3):
        writer.add_scalar("train-spectrum_fc", np.ones(9))
        writer.save()
        if epoch == 0:
            first.write_bytes(b"as it was left")
    assert first.read_bytes() == b"as it was left"
    assert len(list(first.parent.iterdir())) == 3


def test_that_spectra_that_come_after_save_join_those_of_their_epoch(tmp_path):
    writer = make_writer("csv", str(tmp_path / "run"))
    for layer in ("a", "b"):
        writer.add_scalar(f"train-spectrum_{layer}", np.ones(9))
        writer.save()
    assert {(one.layer, one.epoch) for one in read_spectra(tmp_path / "run.csv")} == {("a", 0), ("b", 0)}


def test_that_print_marks_values_that_are_not_to_be_trusted(capsys):
    writer = make_writer("print", "")
    writer.add_flags("train", "fc", ["dead", "too_few_samples"])
    writer.add_scalars(
        "", {"train-saturation_fc": 0.0, "eval-saturation_fc": 0.5, "train-saturation_fc2": 0.5}
    )
    writer.add_flags("train", "fc", [])
    writer.add_scalar("train-saturation_fc", 0.25)
    assert capsys.readouterr().out.splitlines() == [
        "train-saturation_fc : 0.0 (dead, too few samples)",
        "eval-saturation_fc : 0.5",
        "train-saturation_fc2 : 0.5",
        "train-saturation_fc : 0.25",
    ]


def test_that_an_unknown_writer_is_told_with_the_known_ones(tmp_path):
    with pytest.raises(OptionError, match=r"no writer called 'excel'.*csv"):
        make_writer("excel", str(tmp_path / "run"))
    with pytest.raises(LandscopeError, match="1 entries for 2 writers"):
        make_writer(["csv", "print"], str(tmp_path / "run"), [{}])


def test_that_plot_draws_each_epoch_and_keeps_the_table(tmp_path):
    pytest.importorskip("matplotlib")
    seen = []
    arguments = {"plot_manipulation_func": seen.append, "primary_metric": "accuracy", "figsize": (5, 4)}
    writer = make_writer("plot", str(tmp_path / "run $x"), arguments)
    for epoch in range(2):
        for mode in ("train", "eval")[: 2 - epoch]:
            writer.add_scalars(f"{mode}-saturation", {"fc1": 0.25, "a$b_": float("nan"), "fc3": 0.75})
        writer.add_scalars("train-intrinsic-dimensionality", {"fc1": 4, "fc3": 9})
        writer.add_scalar("accuracy", 0.5)
        writer.save()
    writer.close()
    assert {path.name.removeprefix("run $x") for path in tmp_path.iterdir()} == {
        ".csv",
        *(f"_{stat}_epoch_{epoch}.png" for stat in ("lsat", "idim") for epoch in range(2)),
    }
    assert (tmp_path / "run $x_lsat_epoch_0.png").read_bytes().startswith(b"\x89PNG")
    shown = [axes.get_lines() for axes in seen]
    assert [len(lines) for lines in shown] == [2, 1, 1, 1]
    assert list(shown[1][0].get_ydata()) == [4, 9]
    assert [label.get_text() for label in seen[0].get_xticklabels()] == ["fc1", "a$b_", "fc3"]
    assert seen[0].get_title() == "run $x, epoch 0, accuracy 0.5"


def test_that_tensorboard_gets_every_number_at_its_epoch(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for first in (0, 2):
        writer = make_writer("tensorboard", str(tmp_path / "run"))
        writer.resume_from_saved_state(first)
        for epoch in range(first, 3):
            writer.add_scalars("train-saturation", {"fc1": torch.tensor(epoch + first)})
            writer.add_scalar("train-covariance-matrix_fc1", np.eye(2))
            writer.save()
        writer.close()
    events = EventAccumulator(str(tmp_path / "run")).Reload()
    assert events.Tags()["scalars"] == ["train-saturation_fc1"]
    assert [(one.step, one.value) for one in events.Scalars("train-saturation_fc1")] == [
        (0, 0),
        (1, 1),
        (2, 4),
    ]


class Events:
    """Stands in for torch's ``SummaryWriter``: keeps what it is told."""

    made: ClassVar[list] = []

    def __init__(self, log_dir, purge_step):
        self.folder, self.first, self.told = log_dir, purge_step, []
        self.made.append(self)

    def add_scalar(self, tag, value, global_step):
        self.told.append((tag, value, global_step))

    def flush(self):
        self.told.append("flush")

    def close(self):
        self.told.append("close")


@pytest.mark.parametrize("name", ["tensorboard", "tb"])
def test_that_tensorboard_is_told_numbers_with_their_epoch_and_closed_once(monkeypatch, name):
    stand_in = types.ModuleType("torch.utils.tensorboard")
    stand_in.SummaryWriter = Events
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", stand_in)
    monkeypatch.setattr(Events, "made", [])
    writer = make_writer(name, "runs/a")
    writer.resume_from_saved_state(3)
    for value in (0.25, 0.5):
        writer.add_scalars(
            "", {"train-saturation_fc": torch.tensor(value)}, {"train-embedded-samples_fc": np.eye(2)}
        )
        writer.add_flags("train", "fc", ["dead"])
        writer.add_scalar("note", "text")
        writer.save()
    writer.close()
    writer.close()
    (events,) = Events.made
    assert (events.folder, events.first) == ("runs/a", 3)
    assert events.told == [
        ("train-saturation_fc", 0.25, 3),
        "flush",
        ("train-saturation_fc", 0.5, 4),
        "flush",
        "close",
    ]


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("plot", "matplotlib.figure", "app"), ("tensorboard", "torch.utils.tensorboard", "tensorboard")],
)
def test_that_a_missing_package_is_told_with_the_install_line(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OptionError, match=rf'pip install "landscope\[{extra}\]"'):
        make_writer(name, str(tmp_path / "run"))


@pytest.mark.parametrize("save_to", ["csv", "npy", "print"])
def test_that_any_kind_of_value_is_taken(tmp_path, save_to):
    writer = make_writer(save_to, str(tmp_path / "run"))
    values = (
        torch.ones((), dtype=torch.bfloat16, requires_grad=True),
        True,
        "text",
        None,
        [1, 2],
        np.int8(3),
    )
    for place, value in enumerate((*values, torch.ones(2, 2).half(), np.nan, np.inf)):
        writer.add_scalar(f"value{place}", value)
        writer.add_scalar(f"train-spectrum_{place}", value)
    writer.save()
    writer.close()
