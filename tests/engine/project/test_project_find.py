"""Finding runs in a folder that nobody described."""

import io
import os

import pytest
import torch

from landscope.project import find
from landscope.project.find import find_runs


def touch(folder, name="epoch_1.pt"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"x")
    return str(folder)


def test_that_data_and_documents_make_no_folder_of_checkpoints(tmp_path):
    for name in ("train.npz", "digits.zip", "images.gz", "model.onnx", "weights.h5", "run.tmp"):
        (tmp_path / name).write_bytes(b"x" * 5000)
    (tmp_path / "LICENSE").write_text("words " * 1000)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "epoch_1.pt").write_bytes(b"x")
    assert find_runs(tmp_path) == (str(tmp_path / "runs"),)


def test_that_a_checkpoint_without_an_ending_is_known_by_its_bytes(tmp_path):
    (tmp_path / "weights").write_bytes(b"PK\x03\x04" + bytes(50))
    assert find_runs(tmp_path) == (str(tmp_path),)


@pytest.mark.parametrize("name", ["data.pkl", "data.tar", "words.model"])
def test_that_files_of_many_programs_are_known_by_their_bytes(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x80\x04]" + bytes(600))
    assert find_runs(tmp_path) == ()
    buffer = io.BytesIO()
    torch.save({"w": torch.ones(2)}, buffer)
    (tmp_path / name).write_bytes(buffer.getvalue())
    assert find_runs(tmp_path) == (str(tmp_path),)


@pytest.mark.parametrize(
    "run", ["runs/detect/train/weights", "outputs/2024-05-01/12-30-00/checkpoints", "a/b/c/d/e"]
)
def test_that_runs_are_found_as_deep_as_trainers_put_them(tmp_path, run):
    assert find_runs(tmp_path) == () and find_runs(tmp_path) == ()
    made = touch(tmp_path / run)
    assert find_runs(tmp_path) == (made,)


def test_that_runs_are_in_natural_order(tmp_path):
    made = [touch(tmp_path / name) for name in ("deep/seed_2/files", "deep/seed_10/files", "top")]
    assert find_runs(tmp_path) == tuple(made)


def test_that_a_large_tree_is_not_searched_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(find, "_MOST_FOLDERS", 3)
    near, _far = touch(tmp_path / "a/b/c"), touch(tmp_path / "d/e/f/g/h")
    assert find_runs(tmp_path) == (near,)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_that_a_link_to_a_run_is_no_second_run(tmp_path):
    root = tmp_path / "project"
    made = touch(root / "wandb" / "run-7" / "files")
    (root / "wandb" / "latest-run").symlink_to("run-7")
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "away").symlink_to(tmp_path / "away")
    touch(tmp_path / "away")
    assert find_runs(root) == (str(root / "away"), made)


def test_that_one_file_beside_runs_hides_none_of_them(tmp_path):
    single = touch(tmp_path, "pretrained.pt")
    run = touch(tmp_path / "runs" / "a" / "weights")
    assert find_runs(tmp_path) == (single, run)


def test_that_the_only_checkpoint_folder_of_a_run_is_no_run_itself(tmp_path):
    touch(tmp_path / "checkpoint-10", "model.safetensors")
    assert find_runs(tmp_path) == (str(tmp_path),)


def test_that_nothing_is_looked_for_below_a_run(tmp_path):
    touch(tmp_path, "epoch_1.pt")
    touch(tmp_path, "epoch_2.pt")
    touch(tmp_path / "old")
    assert find_runs(tmp_path) == (str(tmp_path),)
