"""Flags of ``landscope run`` that say script, runs, arguments and weights explicitly; details of failures."""

import textwrap

import numpy as np
import pytest
import torch

import landscope
from landscope.cli.main import main
from landscope.contract.errors import LandscopeError
from landscope.project.trust import is_trusted
from landscope.session.read import read

SCRIPT = """
    import argparse
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--deep", action="store_true")
    args = parser.parse_args()

    def build_model():
        return torch.nn.Linear(4, args.width)

    def build_data():
        torch.manual_seed(1)
        return [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(3)]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A script in one folder, checkpoints of two runs in another."""
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text(textwrap.dedent(SCRIPT))
    for run in ("one", "two"):
        (tmp_path / "out" / run).mkdir(parents=True)
        for k in range(2):
            torch.manual_seed(k)
            torch.save(torch.nn.Linear(4, 2).state_dict(), tmp_path / "out" / run / f"step_{k}.pt")
    return tmp_path


def run(folder, *flags):
    return main(["run", str(folder / "out"), "-o", str(folder / "s.h5"), "--only", "losses", *flags])


def test_that_script_runs_and_arguments_can_be_said(folder, capsys):
    script = str(folder / "code" / "train.py")
    flags = (
        "--script",
        script,
        "--runs",
        str(folder / "out" / "two"),
        "--args",
        "--width 2 --deep",
        "--trust",
    )
    assert run(folder, *flags) == 0, capsys.readouterr().err
    session = read(folder / "s.h5")
    assert list(session.runs) == ["two"]
    assert session.runs["two"].measured["train"].keys() == {"step_0.pt", "step_1.pt"}
    assert session.project.arguments == ("--width", "2", "--deep")


def test_that_a_single_argument_with_dashes_is_no_flag_of_ours(folder, capsys):
    assert run(folder, "--script", str(folder / "code" / "train.py"), "--trust", "--args", "--width=2") == 0
    assert read(folder / "s.h5").project.arguments == ("--width=2",)


def test_that_python_says_arguments_and_weights_as_well(folder):
    for run_folder in ("one", "two"):
        (folder / "out" / run_folder).rename(folder / "code" / run_folder)
    project = landscope.open_project(
        folder / "code" / "train.py", trust=True, device="cpu", arguments=("--width", "2"), weights=""
    )
    assert np.isfinite(project.losses("one")).all()
    with pytest.raises(LandscopeError, match="no set of weights named 'ema'"):
        landscope.open_project(folder / "code" / "train.py", trust=True, weights="ema").distances("one")


def test_that_checkpoints_that_fit_no_model_fail_with_the_reason(folder, capsys):
    flags = ("--script", str(folder / "code" / "train.py"), "--trust", "--args", "--width 3")
    assert run(folder, *flags, "--run", "one") == 2
    said = capsys.readouterr().err
    assert "no checkpoint that can be used (step_0.pt:" in said
    assert "shape" in said


def test_that_trust_is_given_to_the_folder_of_a_script_that_lies_elsewhere(folder, capsys):
    flags = ("--script", str(folder / "code" / "train.py"), "--args", "--width 2")
    main(["trust", str(folder / "out")])
    assert run(folder, *flags) == 2  # trusting the checkpoints' folder is no trust in the script
    assert "not trusted" in capsys.readouterr().err
    assert run(folder, *flags, "--trust") == 0
    assert is_trusted(folder / "code")


def test_that_only_the_runs_that_were_asked_for_are_listed(folder, capsys):
    main(["run", str(folder / "out"), "-o", str(folder / "s.h5"), "--only", "distance", "--run", "two"])
    said = capsys.readouterr().err
    assert "two: 2 checkpoints" in said
    assert "one: 2 checkpoints" not in said
    assert list(read(folder / "s.h5").runs) == ["two"]


def test_that_the_wanted_weights_are_in_the_project(folder):
    main(
        [
            "run",
            str(folder / "out"),
            "-o",
            str(folder / "s.h5"),
            "--only",
            "distance",
            "--weights",
            "averaged",
        ]
    )
    assert read(folder / "s.h5").project.weights == "averaged"


def test_that_details_of_a_failure_are_offered_once_and_shown_when_wanted(folder, capsys):
    flags = ("--script", str(folder / "code" / "train.py"), "--trust")
    assert run(folder, *flags) == 2
    said = capsys.readouterr().err
    assert said.count("--verbose") == 1
    assert "Traceback" not in said
    assert run(folder, *flags, "--verbose") == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--script", "nowhere.py"], "no script nowhere.py"),
        (["--runs", "nowhere"], "no folder of checkpoints nowhere"),
        (["--args", "'open"], "--args"),
    ],
)
def test_that_a_wrong_flag_is_one_sentence(folder, capsys, flags, sentence):
    assert run(folder, *flags) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
