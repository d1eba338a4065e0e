"""Folders with links, pipes and folders that must not be read: each is told or passed over, none awaited."""

import os
import socket
import stat
import sys
from pathlib import Path

import pytest
import torch

from landscope.checkpoints.discover import list_file, list_files, list_run
from landscope.checkpoints.guarded.facts import Part
from landscope.checkpoints.read import load_tensors
from landscope.contract.errors import CheckpointError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


def save(path):
    path.parent.mkdir(exist_ok=True)
    torch.save({"w": torch.ones(2)}, path)
    return path


def reasons(folder):
    return {info.name: info.reason for info in list_run(folder).others}


def ready(folder):
    return [info.name for info in list_run(folder).checkpoints]


def test_that_links_that_lead_nowhere_are_told_and_stop_no_other_file(tmp_path):
    save(tmp_path / "epoch_1.pt")
    for name, target in {
        "loop.pt": "loop.pt",
        "there.pt": "back.pt",
        "back.pt": "there.pt",
        "moved.pt": "/nowhere/moved.pt",
        "annexed.pt": ".git/annex/objects/1/2/MD5-s3--4/MD5-s3--4",
        "checkpoint-3": "checkpoint-3",
        "latest-run": "run-3",
    }.items():
        (tmp_path / name).symlink_to(target)
    assert ready(tmp_path) == ["epoch_1.pt"]
    found = reasons(tmp_path)
    assert set(found) == {"loop.pt", "there.pt", "back.pt", "moved.pt", "annexed.pt"}
    assert found["moved.pt"] == "a link to /nowhere/moved.pt, which is not there"
    assert "run git annex get" in found["annexed.pt"]
    assert "symbolic links" in found["loop.pt"]


def test_that_links_to_files_and_folders_are_followed(tmp_path):
    save(tmp_path / "elsewhere" / "epoch_9.pt")
    run = tmp_path / "run"
    save(run / "epoch_1.pt")
    (run / "epoch_9.pt").symlink_to("../elsewhere/epoch_9.pt")
    (run / "checkpoint-1").symlink_to(".")
    assert ready(run) == ["epoch_1.pt", "epoch_9.pt"]


def test_that_what_is_no_file_is_not_opened(tmp_path):
    save(tmp_path / "epoch_1.pt")
    os.mkfifo(tmp_path / "pipe.pt")
    (tmp_path / "zero.pt").symlink_to("/dev/zero")
    (tmp_path / "folder.pt").mkdir()
    (tmp_path / "step_2").mkdir()
    os.mkfifo(tmp_path / "step_2" / "model.safetensors")
    save(tmp_path / "step_3" / "model.pt")
    os.mkfifo(tmp_path / "step_3" / "trainer_state.json")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket.pt"))
        assert ready(tmp_path) == ["epoch_1.pt", "step_3/model.pt"]
        assert reasons(tmp_path) == {}


def test_that_a_pipe_or_a_device_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.pt")
    for path in (tmp_path / "pipe.pt", Path("/dev/zero")):
        (info,) = list_file(path).others
        assert info.reason == "cannot be read (a pipe or a device, no file)"


def test_that_a_file_that_became_a_pipe_is_not_waited_for(tmp_path, monkeypatch):
    """Even if it does so just after it was looked at."""
    path = save(tmp_path / "epoch_1.pt")
    (entry,) = list_files(tmp_path).entries.values()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Part, "of", lambda _path: entry.parts[0])
    with pytest.raises(CheckpointError, match="a pipe or a device"):
        load_tensors(entry.matched.tensors, entry.parts)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything is allowed")
def test_that_what_must_not_be_read_is_told(tmp_path):
    save(tmp_path / "epoch_1.pt")
    closed = (save(tmp_path / "epoch_2.pt"), save(tmp_path / "checkpoint-3" / "model.pt").parent)
    for path in closed:
        path.chmod(0)
    try:
        assert ready(tmp_path) == ["epoch_1.pt"]
        assert set(reasons(tmp_path)) == {"epoch_2.pt", "checkpoint-3"}
        assert all("Permission denied" in reason for reason in reasons(tmp_path).values())
        with pytest.raises(CheckpointError, match="checkpoint-3: the folder cannot be read"):
            list_run(closed[1])
    finally:
        for path in closed:
            path.chmod(stat.S_IRWXU)
