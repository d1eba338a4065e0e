"""The command line as a program whose script leaves something running: it ends, with its exit code."""

import re
import subprocess
import sys
import textwrap

import torch

from landscope.session.read import read

SCRIPT = """
    import atexit, multiprocessing, os, threading, time
    import torch

    {doing}

    def build_model():
        return torch.nn.Linear(4, 2)

    def build_data():
        return [(torch.ones(8, 4), torch.zeros(8).long())]
"""
LEFT = """threading.Thread(target=time.sleep, args=(600,), name="feeder").start()
    multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()"""
UNFINISHED = """atexit.register(time.sleep, 600)
    os._exit(3)"""


def run_as_program(folder, doing, *flags):
    (folder / "code" / "run").mkdir(parents=True)
    (folder / "code" / "model.py").write_text(textwrap.dedent(SCRIPT.format(doing=doing)))
    for step in range(2):
        torch.save(torch.nn.Linear(4, 2).state_dict(), folder / "code" / "run" / f"step_{step}.pt")
    command = [sys.executable, "-m", "landscope.cli.main", "run", str(folder / "code"), "--trust"]
    return subprocess.run(
        [*command, "-o", str(folder / "s.h5"), *flags], capture_output=True, text=True, timeout=90
    )


def test_that_what_a_script_left_running_does_not_hold_up_the_end(tmp_path):
    ran = run_as_program(tmp_path, LEFT, "--only", "losses")
    assert ran.returncode == 0
    last = ran.stderr.splitlines()[-1]
    assert re.search(r"left something running \(thread feeder, process \d+\): it is ended", last)
    assert read(tmp_path / "s.h5").runs["run"].measured["train"].keys() == {"step_0.pt", "step_1.pt"}


def test_that_a_script_that_would_end_the_program_leaves_the_distances(tmp_path):
    ran = run_as_program(tmp_path, UNFINISHED, "--only", "distance,losses")
    assert ran.returncode == 2
    assert "model.py line 6: the script ended itself in its import (exit code 3)" in ran.stderr
    assert "left something running (a function at exit)" in ran.stderr
    assert len(read(tmp_path / "s.h5").distances["run"].measured) == 2
