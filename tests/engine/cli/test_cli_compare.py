"""Two runs of a session compared, as a person would ask for it."""

import csv
import subprocess
import sys

import numpy as np
import pytest
import torch

from landscope.cli.main import main
from landscope.contract import deltas as d
from landscope.session.model import Session
from landscope.session.write import save


def _layer(name, idim, flags=()):
    numbers = {"trace": 1.0, "participation_ratio": 1.5, "effective_rank": 1.7, "samples": 12_288}
    spectrum = np.array([6.0, 3.0, 0.5, 0.5])
    return d.LayerSaturation(
        layer=name,
        kind="Linear",
        dimension=4,
        idim=idim,
        lsat=idim / 4,
        spectrum=spectrum,
        flags=flags,
        **numbers,
    )


@pytest.fixture
def session(tmp_path):
    """Two runs with a checkpoint at step 10 each; each has a layer that the other lacks."""
    found = Session(title="two")
    layers = {
        "skip": (_layer("stem", 4), _layer("shortcut", 2)),
        "plain": (_layer("stem", 3), _layer("dead", 0, ("dead",))),
    }
    for run, of_run in layers.items():
        infos = tuple(d.CheckpointInfo(name=f"{run}_{step}.pt", step=step) for step in (0, 10))
        found.apply(d.RunListed(run=run, folder="", checkpoints=infos))
        for info in infos:
            found.apply(
                d.SaturationMeasured(
                    run=run, checkpoint=info.name, mode="train", threshold=0.99, layers=of_run
                )
            )
    save(found, tmp_path / "s.h5")
    return tmp_path / "s.h5"


def _words(session, *more):
    return ["saturation", "compare", str(session), "--run", "skip", "--with", "plain", *more]


def test_that_every_layer_of_both_runs_has_a_line(session, capsys):
    assert main(_words(session)) == 0
    printed = capsys.readouterr().out
    lines = {line.split()[0]: line for line in printed.splitlines() if line}
    assert "at the same step, 10" in printed
    assert lines["stem"].split()[1:] == ["1.000", "0.750", "+0.250", "4", "12,288"]
    assert "plain: is not in this model" in lines["shortcut"]
    assert "skip: is not in this model" in lines["dead"]
    assert "plain: dead" in lines["dead"]


def test_that_another_threshold_holds_for_both_runs(session, capsys):
    assert main(_words(session, "--threshold", "0.5")) == 0
    printed = capsys.readouterr().out
    assert "50 %" in printed
    (stem,) = (line.split() for line in printed.splitlines() if line.startswith("stem"))
    assert stem[1:4] == ["0.250", "0.250", "+0.000"]


def test_that_the_table_is_written_as_csv(session, tmp_path):
    assert main(_words(session, "--csv", str(tmp_path / "t.csv"))) == 0
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["layer"] for row in rows] == ["stem", "shortcut", "dead"]
    assert (float(rows[0]["lsat skip"]), float(rows[0]["difference of lsat"])) == (1.0, 0.25)
    assert (rows[1]["lsat plain"], rows[1]["samples skip"]) == ("", "12288")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--run", "gone"], "skip, plain"),
        (["--with", "skip"], "name two runs"),
        (["--checkpoint", "gone.pt"], "no checkpoint “gone.pt”"),
        (["--threshold", "2"], "at most 1"),
    ],
)
def test_that_a_mistake_is_one_sentence(session, capsys, words, said):
    assert main(_words(session, *words)) == 2
    assert said in capsys.readouterr().err


def test_that_what_was_not_measured_is_said(session, tmp_path, capsys):
    found = Session(title="empty")
    for run in ("skip", "plain"):
        infos = (d.CheckpointInfo(name="a.pt", step=0),)
        found.apply(d.RunListed(run=run, folder="", checkpoints=infos))
    save(found, tmp_path / "empty.h5")
    assert main(_words(tmp_path / "empty.h5")) == 2
    assert "has not been measured" in capsys.readouterr().err


def test_that_comparing_imports_no_torch(session):
    program = (
        "import sys; from landscope.cli.main import main; main(sys.argv[1:]); "
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program, *_words(session)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", ["compare", "rethreshold"])
def test_that_no_table_is_written_over_a_session(session, capsys, verb):
    before = session.read_bytes()
    other = session.with_name("other.h5")
    other.write_bytes(before)
    for target in (session, other):
        words = (
            _words(session, "--csv", str(target))
            if verb == "compare"
            else ["saturation", "rethreshold", str(session), "--threshold", "0.9", "-o", str(target)]
        )
        assert main(words) == 2
        assert f"{target} holds other results" in capsys.readouterr().err
    assert (session.read_bytes(), other.read_bytes()) == (before, before)


@pytest.mark.parametrize("write", [np.save, np.savez, lambda path, one: torch.save(torch.tensor(one), path)])
def test_that_no_table_is_written_over_arrays_or_a_checkpoint_but_over_an_older_table(session, write):
    target = session.with_name("target.npz" if write is np.savez else "target.npy")
    write(target, np.ones(3))
    before = target.read_bytes()
    assert main(_words(session, "--csv", str(target))) == 2
    assert target.read_bytes() == before
    table = session.with_name("table.csv")
    assert main(_words(session, "--csv", str(table))) == main(_words(session, "--csv", str(table))) == 0
