from __future__ import annotations

import subprocess
import sys

import pytest

import landscope
from landscope_app.main import main

HEAVY = (
    "numpy",
    "h5py",
    "pyqtgraph",
    "OpenGL",
    "matplotlib",
    "scipy",
    "torch",
    "superqt",
    "landscope_app.scene",
)


def test_that_nothing_heavy_is_imported_before_the_window_is_seen():
    code = "import sys, landscope_app.main, landscope_app.window; "
    code += f"print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"


def test_that_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip() == f"Landscope {landscope.__version__}"


@pytest.mark.gl
def test_that_the_program_starts_shows_its_window_and_ends(tmp_path):
    picture = tmp_path / "start.png"
    command = [sys.executable, "-m", "landscope_app.main", "--theme", "dark", "--size", "900x600"]
    command += ["--grab", str(picture), "--after", "0.5"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert picture.stat().st_size > 2000
