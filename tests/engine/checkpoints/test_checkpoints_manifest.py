"""Every kind of file that is out there has its outcome: used and how, or refused and why; nothing is run."""

import json
import os
import pickle
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
import torch
from torch import nn

from landscope.checkpoints.discover import list_files
from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.mappings import find_mappings
from landscope.checkpoints.matching.match import choose
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.read import load_tensors
from landscope.checkpoints.records import unreadable
from landscope.contract.errors import CheckpointError

DATA = Path(__file__).parents[2] / "data" / "checkpoints"
MANIFEST = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
PICKLED = [name for name, outcome in MANIFEST.items() if outcome["model"]["state"] == "ready"]


class TinyNet(nn.Module):
    """The network whose checkpoints the files are."""

    def __init__(self, width=16, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.fc1 = nn.Linear(8 * 16, width)
        self.fc2 = nn.Linear(width, classes)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files, as if they had been written long ago."""
    root = tmp_path_factory.mktemp("checkpoints") / "data"
    shutil.copytree(DATA, root)
    for path in root.rglob("*"):
        os.utime(path, (1.7e9, 1.7e9))
    return root


@pytest.fixture(scope="module")
def listings(files):
    """Each folder as listed for the model; what was imported meanwhile; new files in the temporary folder."""
    before = set(sys.modules)
    present = set(Path(tempfile.gettempdir()).iterdir())
    folders = {(files / name).parent for name in MANIFEST}
    folders |= {files / "hf", files / "dcp"}
    found = {folder: list_files(folder, reference=Reference.of(TinyNet())) for folder in folders}
    return found, set(sys.modules) - before, set(Path(tempfile.gettempdir()).iterdir()) - present


def told(info):
    found = {"state": info.state, "step": info.step, "epoch": info.epoch, "reason": info.reason}
    notes = [note for note in info.notes if not note.startswith("same weights as")]
    return {key: value for key, value in {**found, "notes": notes}.items() if value not in (None, "", [])}


@pytest.mark.parametrize("name", MANIFEST)
def test_that_a_file_has_its_outcome_for_the_model(listings, files, name):
    path = files / name
    assert told(listings[0][path.parent].entries[path.name].info) == MANIFEST[name]["model"]


@pytest.mark.parametrize("name", MANIFEST)
def test_that_a_file_has_its_outcome_without_a_model(files, name):
    assert without_model(files / name) == MANIFEST[name]["alone"]


def without_model(path):
    try:
        chosen, sets = choose(find_mappings(read_header(path)))
        problems = [f"{name} {unreadable(t)}" for name, t in chosen.tensors.items() if unreadable(t)]
    except CheckpointError as error:
        return error.sentence.removeprefix(f"{path.name}: ").removeprefix("The file: ")
    return problems[0] if problems else [chosen.path, len(chosen.tensors), *sets]


def test_that_every_file_is_in_the_manifest():
    beside = ("manifest.json", "README.md", "config.json", "trainer_state.json")
    there = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    left = {name for name in there - set(MANIFEST) if not name.endswith(beside)}
    assert {Path(name).name.split("-0000")[0] for name in left} <= {"model", "pytorch_model", "__0_0.distcp"}


def test_that_nothing_was_run_or_imported(listings):
    _, imported, made = listings
    assert not {name for name in imported if name.split(".")[0] not in ("landscope", "encodings")}
    assert not {path.name for path in made if "pwn" in path.name.lower() or "marker" in path.name.lower()}


@pytest.mark.parametrize("name", [n for n in PICKLED if n.endswith((".pt", ".pth", ".ckpt", ".tar"))])
def test_that_numbers_are_those_that_torch_reads(listings, files, name):
    path = files / name
    try:
        stored = torch.load(path, weights_only=True)
    except pickle.UnpicklingError:  # torch would run it; all these files hold the same weights
        stored = torch.load(DATA / "plain" / "state_dict.pt", weights_only=True)
    entry = listings[0][path.parent].entries[path.name]
    found = load_tensors(entry.matched.tensors)
    known = {tensor.numpy().tobytes() for tensor in tensors_in(stored)}
    assert len(found) >= 8
    assert all(tensor.numpy().tobytes() in known for tensor in found.values())


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value.to_local() if hasattr(value, "to_local") else value
    elif isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(one)


def test_that_all_ways_to_save_the_same_weights_give_the_same_numbers(listings, files):
    entries = listings[0][files / "plain"].entries
    plain = load_tensors(entries["state_dict.pt"].matched.tensors)
    for name, entry in entries.items():
        found = load_tensors(entry.matched.tensors)
        assert set(found) == set(plain) and all(torch.equal(found[n], plain[n]) for n in plain), name


def test_that_folders_are_one_checkpoint_each(listings, files):
    hf = listings[0][files / "hf"].listed.checkpoints
    assert [(info.name, info.step) for info in hf] == [
        (f"checkpoint-{step}/model.safetensors", step) for step in (9, 10, 100)
    ]
    (distributed,) = listings[0][files / "dcp"].listed.checkpoints
    assert (distributed.name, distributed.step, distributed.state) == ("step_100/.metadata", 100, "ready")


def test_that_named_files_are_in_training_order(listings, files):
    listed = listings[0][files / "lightning"].listed.checkpoints
    assert [info.step for info in listed] == [100, 200, 300, 400, 400, 1000, 1100]
    assert listed[0].aliases == ("last.ckpt",)
