"""The packaged application's one executable: hosts by role, the command line otherwise."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import msgspec

import landscope
from landscope.checkpoints.guarded import process
from landscope.checkpoints.guarded.child import Request
from landscope.checkpoints.guarded.facts import FileFacts
from landscope.checkpoints.guarded.limits import Limits
from landscope.contract.events import Event, Hello
from landscope.contract.frames import decoder, encode, read_frame

ENTRY = Path(__file__).parents[2] / "packaging" / "entry.py"


def run(*words: str, said: bytes = b"") -> bytes:
    done = subprocess.run([sys.executable, str(ENTRY), *words], input=said, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_that_a_role_makes_it_a_host():
    frame = read_frame(io.BytesIO(run("--role=reader", "--threads=1")))
    assert frame is not None
    hello = decoder(Event).decode(frame).body
    assert isinstance(hello, Hello) and hello.role == "reader"


def test_that_a_role_makes_it_a_reader_of_checkpoints(tmp_path):
    (tmp_path / "a.pt").write_bytes(b"text")
    said = encode([Request(bytes(tmp_path / "a.pt"), 4)])
    frame = read_frame(io.BytesIO(run("--role=checkpoints", "--seconds=9", said=said)))
    assert frame is not None
    assert msgspec.msgpack.decode(frame, type=FileFacts).reason == "text, not a checkpoint"


def test_that_a_packaged_application_asks_itself(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert process._command(Limits())[:2] == [sys.executable, "--role=checkpoints"]


def test_that_without_a_role_it_is_the_command_line():
    assert run("--version").decode().strip() == f"landscope {landscope.__version__}"
