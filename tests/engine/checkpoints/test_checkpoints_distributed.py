"""Folders of torch.distributed.checkpoint: whole tensors are read, pieces are named, nothing is run."""

import os
import pickle

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch import nn

from landscope.checkpoints.discover import list_files
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.read import load_tensors

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled", "ignore:TypedStorage is")


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "run" / "step_7"
    content = {"model": nn.Linear(3, 2).state_dict(), "step": 7, "args": {"lr": 0.1}}
    dcp.save(content, checkpoint_id=path, no_dist=True)
    return path


def entry(folder):
    found = list_files(folder.parent, reference=Reference.of(nn.Linear(3, 2)))
    return found.entries[f"{folder.name}/.metadata"]


def change(folder, edit):
    metadata = pickle.loads((folder / ".metadata").read_bytes())
    edit(metadata)
    (folder / ".metadata").write_bytes(pickle.dumps(metadata))
    os.utime(folder / ".metadata", (1.7e9, 1.7e9))


def test_that_whole_tensors_are_read_bit_for_bit(folder):
    expected = {"weight": torch.empty(2, 3), "bias": torch.empty(2)}
    dcp.load({"model": expected}, checkpoint_id=folder, no_dist=True)
    found = load_tensors(entry(folder).matched.tensors)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert entry(folder).info.step == 7
    assert "weights taken from 'model'" in entry(folder).info.notes


def test_that_the_folder_itself_may_be_listed(folder):
    (info,) = list_files(folder).listed.checkpoints
    assert info.name == ".metadata" and not list_files(folder).listed.others


def test_that_a_tensor_in_pieces_is_named_with_what_to_do(folder):
    def split(metadata):
        index = next(i for i in metadata.storage_data if i.fqn == "model.weight")
        other = type(index)("model.weight", torch.Size([1, 0]), 1)
        metadata.storage_data[other] = metadata.storage_data[index]

    change(folder, split)
    reason = entry(folder).info.reason
    assert reason.startswith("weight is saved in 2 pieces") and "dcp_to_torch_save" in reason


@pytest.mark.parametrize("name", ["../step_7/__0_0.distcp", "/etc/passwd", "..", "", "a\\b"])
def test_that_a_file_outside_the_folder_is_refused(folder, name):
    def move(metadata):
        for place in metadata.storage_data.values():
            place.relative_path = name

    change(folder, move)
    assert "outside its own folder" in entry(folder).info.reason


def test_that_a_missing_or_short_file_is_said(folder):
    data = folder / "__0_0.distcp"
    content = data.read_bytes()
    data.write_bytes(content[: len(content) // 2])
    assert "truncated" in entry(folder).info.reason
    data.unlink()
    assert "is missing" in entry(folder).info.reason


def test_that_metadata_that_would_run_is_not_run(folder, tmp_path):
    marker = tmp_path / "was_run"

    class Payload:
        def __reduce__(self):
            return os.mkdir, (str(marker),)

    (folder / ".metadata").write_bytes(pickle.dumps(Payload()))
    assert "not the metadata of a distributed checkpoint" in entry(folder).info.reason
    assert not marker.exists()


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x04N.", b"garbage", pickle.dumps({"state_dict_metadata": 1})]
)
def test_that_damaged_metadata_is_one_sentence(folder, content):
    (folder / ".metadata").write_bytes(content)
    assert entry(folder).info.state in ("skipped", "waiting") and entry(folder).info.reason


def test_that_a_part_without_metadata_is_told(folder):
    (folder / ".metadata").unlink()
    (info,) = list_files(folder).listed.others
    assert info.name == "__0_0.distcp" and "whose .metadata is missing" in info.reason
