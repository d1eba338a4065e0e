"""A session made with torch opens, shows and exports the same where torch is not installed."""

import csv
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from landscope.cli.main import main
from landscope.session.dense import dense_surface
from landscope.session.read import read
from landscope_app.plots.numbers import short
from landscope_app.plots.readout import Display, readout

WITHOUT_TORCH = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "torchvision"):
            raise ModuleNotFoundError("torch is not installed here", name="torch")
sys.meta_path.insert(0, NoTorch())
from landscope.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


WITH_TORCH = WITHOUT_TORCH.replace("sys.meta_path.insert(0, NoTorch())", "")


def ran_as(program, *words):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "DISPLAY": ""},
    )


def landscope(program, *words):
    ran = ran_as(program, *words)
    assert ran.returncode == 0, ran.stderr


@pytest.fixture
def session_file(real_project, tmp_path):
    path = tmp_path / "session.h5"
    assert main(["run", real_project.root, "-o", str(path), "--grid", "9", "--quiet"]) == 0
    return path


def test_that_the_hovered_values_are_the_exported_ones_and_the_pictures_are_the_same(session_file, tmp_path):
    for folder, program in (("a", WITH_TORCH), ("b", WITHOUT_TORCH)):
        landscope(program, "render", session_file, "-o", tmp_path / folder, "--size", "500x400")
    names = sorted(p.name for p in (tmp_path / "a").glob("*.png"))
    assert names and names == sorted(p.name for p in (tmp_path / "b").glob("*.png"))
    for name in names:
        pictures = [np.asarray(Image.open(tmp_path / folder / name).convert("RGB"), float) for folder in "ab"]
        assert np.abs(pictures[0] - pictures[1]).mean() < 1.0, name

    landscope(WITHOUT_TORCH, "export", session_file, "-o", tmp_path / "data", "--format", "csv")
    assert_plane_equals_hover(session_file, tmp_path / "data")


def assert_plane_equals_hover(session_file, folder):
    session = read(session_file)
    plane = session.planes["run-random"]
    (path,) = [p for p in folder.glob("*.csv") if p.name.startswith("plane_run-random")]
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == plane.state.size
    surface = dense_surface(plane)
    for row in rows:
        said = readout(plane, surface, Display(), False, float(row["alpha"]), float(row["beta"]))
        assert f"loss {short(float(row['loss']), 4)}" in said and "sampled" in said


def test_that_checkpoints_are_listed_and_distances_say_what_to_install(real_project, tmp_path):
    run = real_project.runs[0]
    listed = ran_as(WITHOUT_TORCH, "info", run)
    assert listed.returncode == 0 and "ready" in listed.stdout
    made = ran_as(WITHOUT_TORCH, "run", run, "-o", tmp_path / "s.h5", "--only", "distance")
    assert made.returncode == 2
    assert f"run: {sys.executable} -m pip install torch" in made.stderr
    assert read(tmp_path / "s.h5").runs
