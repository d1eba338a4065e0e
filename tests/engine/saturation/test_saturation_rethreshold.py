"""Saturation at other thresholds, from files that ours or delve's writers left."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from landscope.cli.main import main
from landscope.contract.deltas import CheckpointInfo, LayerSaturation, RunListed, SaturationMeasured
from landscope.contract.errors import OptionError, StatisticsFileError
from landscope.contract.intrinsic import intrinsic_dimension
from landscope.saturation.rethreshold import read_spectra, rethreshold
from landscope.saturation.tracker import SaturationTracker
from landscope.saturation.writers import make_writer
from landscope.saturation.writers.table import read_csv
from landscope.session.model import Session
from landscope.session.write import save

DATA = Path(__file__).parents[2] / "data" / "saturation"
SPECTRA = {"fc1": np.array([8.0, 1.0, 0.9, 0.1]), "conv.2": np.array([5.0, 5.0, 0.0])}


def leave(save_to, savefile, epochs=range(2), resume=None, **kwargs):
    writer = make_writer(save_to, str(savefile))
    if resume is not None:
        writer.resume_from_saved_state(resume)
    for epoch in epochs:
        for mode in ("train", "eval")[: 2 - epoch % 2]:
            values = {name: torch.tensor((epoch + 1) * array) for name, array in SPECTRA.items()}
            writer.add_scalars(f"{mode}-spectrum", values, **kwargs)
            writer.add_scalars(f"{mode}-saturation", dict.fromkeys(SPECTRA, 0.5))
        writer.save()
    writer.close()


@pytest.mark.parametrize(("save_to", "left"), [("csv", "run.csv"), ("csv", "run.spectra"), ("npy", "run")])
@pytest.mark.parametrize("rule", ["smallest_k", "delve"])
@pytest.mark.parametrize("threshold", [0.5, 0.895, 0.99])
def test_that_stored_spectra_give_any_threshold_under_both_rules(tmp_path, save_to, left, rule, threshold):
    leave(save_to, tmp_path / "run")
    found = rethreshold(read_spectra(tmp_path / left), threshold, rule)
    assert [(one.epoch, one.mode) for one in found if one.layer == "fc1"].count((1, "eval")) == 0
    assert len(found) == 6
    for one in found:
        idim = intrinsic_dimension(SPECTRA[one.layer], threshold, rule)
        assert (one.idim, one.lsat) == (idim, idim / len(SPECTRA[one.layer]))


@pytest.mark.parametrize("left", ["run.csv", "run"])
def test_that_what_a_tracker_leaves_gives_its_own_values_at_its_own_threshold(tmp_path, left):
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 30))
    stats = ["lsat", "idim", "spectrum"]
    tracker = SaturationTracker(
        str(tmp_path / "run"), ["csv", "npy"], model, stats=stats, device="cpu", sat_threshold=0.9
    )
    for epoch in range(3):
        for training in (True, False)[: 1 + epoch % 2]:
            model.train(training)
            model(torch.randn(20, 6))
        tracker.add_saturations()
    tracker.close()
    rows = read_csv(tmp_path / "run.csv")
    found = rethreshold(read_spectra(tmp_path / left), 0.9)
    order = {(one.epoch, one.mode) for one in found if one.layer == "0"}
    assert order == {(0, "train"), (1, "train"), (1, "eval"), (2, "train")}
    for one in found:
        assert rows[one.epoch][f"{one.mode}-saturation_{one.layer}"] == one.lsat
        assert rows[one.epoch][f"{one.mode}-intrinsic-dimensionality_{one.layer}"] == one.idim


@pytest.mark.parametrize(("save_to", "left"), [("csv", "run.csv"), ("npy", "run")])
def test_that_a_spectrum_shorter_than_the_layer_keeps_its_dimension(tmp_path, save_to, left):
    leave(save_to, tmp_path / "run", range(1), dimension=40)
    assert {one.lsat for one in rethreshold(read_spectra(tmp_path / left), 0.5)} == {1 / 40}


@pytest.mark.parametrize(("save_to", "left"), [("csv", "run.csv"), ("npy", "run")])
def test_that_resumed_spectra_continue_the_earlier_ones(tmp_path, save_to, left):
    leave(save_to, tmp_path / "run", range(4))
    leave(save_to, tmp_path / "run", [7], resume=2)
    found = {(one.epoch, one.mode): one for one in read_spectra(tmp_path / left) if one.layer == "fc1"}
    assert sorted(found) == [(0, "eval"), (0, "train"), (1, "train"), (2, "train")]
    assert found[2, "train"].values[0] == 8 * SPECTRA["fc1"][0]


def test_that_an_earlier_run_of_arrays_is_set_aside_and_not_mixed_in(tmp_path):
    leave("npy", tmp_path / "run", range(4))
    leave("npy", tmp_path / "run", range(1))
    assert {one.epoch for one in read_spectra(tmp_path / "run")} == {0}
    assert len(list((tmp_path / "run" / "train-spectrum_fc1.bak").iterdir())) == 4


def test_that_spectra_of_an_earlier_run_are_set_aside_once_and_not_mixed_in(tmp_path):
    for epochs in (4, 3, 1):
        leave("csv", tmp_path / "run", range(epochs))
    assert {one.epoch for one in read_spectra(tmp_path / "run.csv")} == {0}
    assert len(list((tmp_path / "run.spectra.bak").iterdir())) == 3


def test_that_names_of_series_cannot_leave_the_folder(tmp_path):
    writer = make_writer("npy", str(tmp_path / "a" / "run"), {"zip": True})
    for name in ("../../out", "..", "x:y", ""):
        writer.add_scalar(name, 1.0)
    writer.close()
    assert {path.name for path in tmp_path.iterdir()} == {"a"}
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"run", "run.zip"}
    assert len(zipfile.ZipFile(tmp_path / "a" / "run.zip").namelist()) >= 4


@pytest.mark.parametrize("rule", ["smallest_k", "delve"])
def test_that_covariances_stored_by_delve_give_the_golden_dimensions(tmp_path, rule):
    """delve's npy writer: SERIES/SERIES_epochN.npy, one covariance per layer and epoch."""
    golden = json.loads((DATA / "golden.json").read_text())["cases"]
    arrays = np.load(DATA / "arrays.npz")
    cases = {c["layer"]: c for c in golden if c["key"].startswith("mlp/train/")}
    for case in cases.values():
        name = case["delve_series_names"]["cov"]
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / f"{name}_epoch0.npy", arrays[f"cov_all/{case['key']}"])
    key = "idim_delve_rule" if rule == "delve" else "idim_smallest_k"
    for threshold in ("0.9", "0.99", "0.999"):
        found = rethreshold(read_spectra(tmp_path), float(threshold), rule)
        assert {one.layer: one.idim for one in found} == {
            layer: case["exact_all"][key][threshold] for layer, case in cases.items()
        }


def test_that_a_folder_of_delve_goes_on_in_its_series_and_gives_one_spectrum_per_epoch(tmp_path):
    """delve's npy writer puts an underscore before the series of its tracker."""
    series = tmp_path / "_train-covariance-matrix_fc"
    series.mkdir()
    for epoch in range(3):
        np.save(series / f"{series.name}_epoch{epoch}.npy", np.diag([8.0, 1.0]))
    writer = make_writer("npy", str(tmp_path))
    writer.resume_from_saved_state(2)
    values = {"train-covariance-matrix_fc": np.diag([4.0, 1.0]), "train-spectrum_fc": np.array([4.0, 1.0])}
    writer.add_scalars("", values)
    assert len(list(series.iterdir())) == 3
    found = read_spectra(tmp_path)
    assert [(one.mode, one.layer, one.epoch) for one in found] == [("train", "fc", k) for k in range(3)]
    assert [one.values[0] for one in found] == [8.0, 8.0, 4.0]


def test_that_a_table_of_delve_is_resumed_and_says_why_it_has_no_other_threshold(tmp_path):
    (tmp_path / "run.csv").write_text(
        ";train-saturation_fc1;train-covariance-matrix_fc1;loss\n"
        '0;0.125;"[[1. 0.]\n [0. 1.]]";2.5\n1;0.25;"[[1. 0.]\n [0. 1.]]";\n'
    )
    writer = make_writer("csv", str(tmp_path / "run"))
    writer.resume_from_saved_state(2)
    writer.add_scalar("train-saturation_fc1", 0.5)
    writer.save()
    rows = (tmp_path / "run.csv").read_text().splitlines()
    assert [row for row in rows if row[0].isdigit()][-1] == "2;0.5;;"
    with pytest.raises(StatisticsFileError, match="one threshold only"):
        read_spectra(tmp_path / "run.csv")


class Opener:
    def __reduce__(self):
        return (Path.touch, (Path("opened"),))


def test_that_files_of_others_are_never_unpickled_nor_believed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "run" / "train-spectrum_fc1"
    folder.mkdir(parents=True)
    path = folder / "train-spectrum_fc1_epoch0.npy"
    huge = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,), }\n"
    np.save(path, np.array([Opener()], object), allow_pickle=True)
    bad = [
        path.read_bytes(),
        b"",
        b"\x93NUMPY\x01\x00" + len(huge).to_bytes(2, "little") + huge,
        b"\x93NUMPY\x01",
    ]
    for content in bad:
        path.write_bytes(content)
        with pytest.raises(StatisticsFileError, match="epoch0"):
            read_spectra(tmp_path / "run")
    assert not Path("opened").exists()


def test_that_every_damage_of_a_file_of_spectra_is_a_sentence(tmp_path):
    leave("csv", tmp_path / "run", range(1))
    path = tmp_path / "run.spectra" / "epoch0.npz"
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for cut in random.integers(0, len(whole), 40):
        path.write_bytes(whole[:cut])
        with pytest.raises(StatisticsFileError):
            read_spectra(path)
    for place in random.integers(0, len(whole), 300):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            rethreshold(read_spectra(path), 0.9)
        except StatisticsFileError:
            continue


def test_that_columns_that_disagree_are_a_sentence(tmp_path):
    leave("csv", tmp_path / "run", range(1))
    path = tmp_path / "run.spectra" / "epoch0.npz"
    whole = dict(np.load(path))
    for name, change in {
        "series": lambda a: a + 9,
        "lengths": lambda a: -a,
        "values": lambda a: a[:-1],
        "dimensions": lambda a: a * 0,
        "epochs": lambda a: a[:-1],
        "layers": lambda a: a == "fc1",
    }.items():
        np.savez(path, **{**whole, name: change(whole[name])})
        with pytest.raises(StatisticsFileError, match=r"epoch0\.npz is no file of spectra"):
            read_spectra(path)
    np.savez_compressed(path, **whole)
    with pytest.raises(StatisticsFileError, match="compressed"):
        read_spectra(path)


def test_that_an_unmeasured_layer_has_no_saturation(tmp_path):
    writer = make_writer("csv", str(tmp_path / "run"))
    writer.add_scalars("train-spectrum", {"a": np.empty(0), "b": np.full(2, np.nan)}, dimension=2)
    writer.save()
    found = rethreshold(read_spectra(tmp_path / "run.csv"), 0.9)
    assert all(np.isnan(one.lsat) and np.isnan(one.idim) for one in found)


def test_that_the_command_line_prints_or_writes_the_new_values(tmp_path, capsys):
    leave("csv", tmp_path / "run", range(1))
    words = ["saturation", "rethreshold", str(tmp_path / "run.csv"), "--threshold", "0.85"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "epoch;mode;layer;dimension;idim;lsat",
        "0;train;fc1;4;2;0.5",
        "0;train;conv.2;3;2;0.6666666666666666",
    ]
    assert main([*words, "--idim-rule", "delve", "-o", str(tmp_path / "new.csv")]) == 0
    assert (tmp_path / "new.csv").read_text().splitlines()[1] == "0;train;fc1;4;1;0.25"


def test_that_a_session_gives_its_layers_at_another_threshold(tmp_path, capsys):
    session = Session()
    session.apply(
        RunListed(run="a", folder="a", checkpoints=tuple(CheckpointInfo(name=f"{k}.pt") for k in (9, 10)))
    )
    for name in ("10.pt", "9.pt"):
        layers = tuple(
            LayerSaturation(
                layer=layer,
                kind="Linear",
                dimension=len(values) + 1,
                samples=9,
                idim=1,
                lsat=0.5,
                trace=float(values.sum()),
                participation_ratio=1.0,
                effective_rank=1.0,
                spectrum=values,
            )
            for layer, values in SPECTRA.items()
        )
        session.apply(SaturationMeasured(run="a", checkpoint=name, mode="val", threshold=0.99, layers=layers))
    save(session, tmp_path / "a.h5")
    assert main(["saturation", "rethreshold", str(tmp_path / "a.h5"), "--threshold", "0.85"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "run;checkpoint;mode;layer;dimension;idim;lsat",
        "a;9.pt;val;fc1;5;2;0.4",
        "a;9.pt;val;conv.2;4;2;0.5",
        "a;10.pt;val;fc1;5;2;0.4",
        "a;10.pt;val;conv.2;4;2;0.5",
    ]


@pytest.mark.parametrize("left", ["run.csv", "bad.npz", "run", "missing.npz", "missing.csv", "bad.h5"])
def test_that_what_cannot_be_used_is_one_sentence(tmp_path, capsys, left):
    (tmp_path / "run").mkdir()
    (tmp_path / "run.csv").write_text(";loss\n0;1\n")
    (tmp_path / "bad.h5").write_bytes(b"nothing")
    (tmp_path / "bad.npz").write_bytes(b"PK\x05\x06nothing")
    assert main(["saturation", "rethreshold", str(tmp_path / left), "--threshold", "0.9"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert left in told.err


def test_that_a_threshold_that_is_no_share_is_refused():
    with pytest.raises(OptionError, match="above 0"):
        rethreshold([*read_nothing()], 1.5)


def read_nothing():
    from landscope.saturation.spectra import spectrum_of

    return [spectrum_of("train-spectrum_fc", 0, np.ones(2))]
