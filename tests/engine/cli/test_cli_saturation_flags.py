"""Flags of ``landscope run`` that change how saturation is measured."""

import textwrap

import pytest
import torch

from landscope.cli.main import main
from landscope.session.read import read

SCRIPT = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.norm, self.conv = nn.Embedding(9, 6), nn.LayerNorm(6), nn.Conv1d(6, 5, 1)
            self.out = nn.Linear(5, 3)
        def forward(self, ids):
            return self.out(self.conv(self.norm(self.words(ids)).transpose(1, 2)).mean(2))

    def build_model():
        return Net()

    def build_data():
        torch.manual_seed(1)
        return [(torch.randint(0, 9, (64, 8)), torch.randint(0, 3, (64,))) for _ in range(4)]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "project.py").write_text(textwrap.dedent(SCRIPT))
    names = {}
    exec(textwrap.dedent(SCRIPT), names)  # our own text
    (tmp_path / "runs").mkdir()
    torch.manual_seed(0)
    torch.save(names["Net"]().state_dict(), tmp_path / "runs" / "step_0.pt")
    return tmp_path


def measured(folder, *flags):
    out = folder / "s.h5"
    assert main(["run", str(folder), "-o", str(out), "--only", "saturation", "--trust", *flags]) == 0
    found = read(out).saturation["runs/train"].measured["step_0.pt"]
    return found, {one.layer: one for one in found.layers}


def test_that_further_layers_are_measured_by_name_and_by_class(folder):
    _, layers = measured(folder)
    assert list(layers) == ["conv", "out"]
    _, layers = measured(folder, "--layers", "Embedding,norm")
    assert list(layers) == ["words", "norm", "conv", "out"]


def test_that_threshold_rule_and_methods_are_as_asked(folder):
    whole, layers = measured(folder, "--sat-threshold", "0.9", "--idim-rule", "delve", "--no-embedding")
    assert (whole.threshold, whole.settings["idim_rule"]) == (0.9, "delve")
    assert not len(layers["conv"].embedding)
    _, flat = measured(folder, "--conv-method", "flatten")
    assert flat["conv"].dimension == 40


def test_that_a_share_of_the_rows_is_taken_and_flagged(folder):
    _, layers = measured(folder, "--row-share", "0.25")
    assert layers["conv"].samples == 4 * 128  # of 512 positions of each of 4 batches
    assert "sampled" in layers["conv"].flags
    assert layers["out"].samples == 4 * 32  # not below 24 of 64


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--layers", "nothing"], "'nothing'"),
        (["--row-share", "0"], "row_share"),
        (["--sat-threshold", "2"], "sat_threshold"),
    ],
)
def test_that_what_cannot_be_measured_is_told(folder, capsys, flags, told):
    out = folder / "s.h5"
    assert main(["run", str(folder), "-o", str(out), "--only", "saturation", "--trust", *flags])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--samples", "--seed", "--points", "--threads"])
def test_that_a_number_that_no_job_can_carry_is_refused_in_a_sentence(folder, capsys, flag):
    words = ["run", str(folder), "-o", str(folder / "s.h5"), "--trust", flag, str(10**20)]
    assert main(words) == 2
    assert f"{flag[2:]} is {10**20}; it must be at most" in capsys.readouterr().err
    assert not (folder / "s.h5").exists()
