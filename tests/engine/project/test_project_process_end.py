"""Scripts that would end the process: it is a sentence with the line, and the process lives on."""

import os
import signal
import subprocess
import sys

import pytest

from landscope.contract.errors import ScriptError
from landscope.project.opening import open_subject

POSIX = pytest.mark.skipif(os.name == "nt", reason="processes of POSIX")
SCRIPT = """
import multiprocessing, os, signal, sys
import torch
from torch import nn

{at_import}

def build_model():
    return nn.Linear(3, 2)

def build_data():
    return [(torch.ones(4, 3), torch.zeros(4).long())]

def loss(model, batch):
    {in_loss}
    return nn.functional.cross_entropy(model(batch[0]), batch[1])
"""
ENDINGS = {
    "os._exit(3)": r"exit code 3",
    "os._exit(status=0)": r"exit code 0",
    "os.abort()": r"abort\(\)",
    "os.kill(os.getpid(), signal.SIGTERM)": r"kill\(\)",
    "os.killpg(os.getpgrp(), signal.SIGKILL)": r"killpg\(\)",
    "signal.raise_signal(signal.SIGTERM)": r"raise_signal\(\)",
    "os.execv(sys.executable, [sys.executable, '-c', ''])": r"execv\(\)",
    "os.execlp('true', 'true')": r"execv\(\)",
}


@POSIX
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("place", ["at_import", "in_loss"])
def test_that_a_script_that_ends_the_process_is_told_with_its_line(project, ending, place):
    before = os._exit, os.kill, signal.signal
    doing, line = {"at_import": ("its import", 6), "in_loss": (r"loss\(\) on batch 1 of 1", 15)}[place]
    text = SCRIPT.format(**{"at_import": "", "in_loss": "pass", place: ending})
    sentence = rf"model.py line {line}: the script ended itself in {doing} .*\({ENDINGS[ending]}\)"
    with pytest.raises(ScriptError, match=sentence):
        open_subject(project(text))
    assert (os._exit, os.kill, signal.signal) == before


HARMLESS = {
    "an alarm": "signal.signal(signal.SIGALRM, print); signal.setitimer(signal.ITIMER_REAL, 1e-4)",
    "a question": "os.kill(os.getpid(), 0)",
    "a worker": """worker = multiprocessing.get_context("fork").Process(target=os._exit, args=(5,))
worker.start(); worker.join()
assert worker.exitcode == 5""",
    "a fork": """child = os.fork() or os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7""",
    "another program": """import subprocess
other = subprocess.Popen(["sleep", "60"])
os.kill(other.pid, signal.SIGKILL)
assert other.wait() == -9""",
}


@POSIX
@pytest.mark.parametrize("doing", HARMLESS.values(), ids=HARMLESS)
def test_that_what_ends_only_others_is_left_alone(project, doing):
    subject = open_subject(project(SCRIPT.format(at_import=doing, in_loss="pass")))
    assert float(subject.loss(subject.model, subject.data.batches("train")[0])) > 0


@POSIX
def test_that_a_forked_child_never_goes_on_as_landscope(tmp_path):
    code = f"""
import os, pathlib
from landscope.project.running.process_end import outliving
with outliving():
    child = os.fork()
if child == 0:
    pathlib.Path({str(tmp_path / "went on")!r}).touch()
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not (tmp_path / "went on").exists()
