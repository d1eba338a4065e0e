"""The packaged application's one executable: hosts by role, the command line otherwise."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import landscope
from landscope.contract.events import Event, Hello
from landscope.contract.frames import decoder, read_frame

ENTRY = Path(__file__).parents[2] / "packaging" / "entry.py"


def run(*words: str) -> bytes:
    done = subprocess.run(
        [sys.executable, str(ENTRY), *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_that_a_role_makes_it_a_host():
    frame = read_frame(io.BytesIO(run("--role=reader", "--threads=1")))
    assert frame is not None
    hello = decoder(Event).decode(frame).body
    assert isinstance(hello, Hello) and hello.role == "reader"


def test_that_without_a_role_it_is_the_command_line():
    assert run("--version").decode().strip() == f"landscope {landscope.__version__}"
