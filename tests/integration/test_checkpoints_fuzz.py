"""Mutated checkpoints of every main kind: each gets one state with a reason, and nothing else happens."""

import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from mutations import mutated
from safetensors.torch import save_file
from torch import nn

from landscope.checkpoints.discover import list_files
from landscope.checkpoints.guarded import guard, process
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.read import load_tensors, load_value
from landscope.contract.errors import CheckpointError

DISTRIBUTED = Path(__file__).parents[1] / "data" / "checkpoints" / "dcp" / "step_100"


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 3))


class Payload:
    """What runs if somebody unpickles it: leaves a mark."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def torch_file(path, mark, new):
    stored = {"model": net().state_dict(), "step": 5, "extra": Payload(mark)}
    torch.save(stored, path, _use_new_zipfile_serialization=new)


def write_zip(folder, mark):
    torch_file(folder / "model_1.pt", mark, new=True)


def write_legacy(folder, mark):
    torch_file(folder / "model_1.pt", mark, new=False)


def write_safetensors(folder, mark):
    save_file(net().state_dict(), folder / "model_1.safetensors", metadata={"step": "5"})


def write_sharded(folder, mark):
    state = net().state_dict()
    shards = {
        "a-00001-of-00002.safetensors": list(state)[:4],
        "a-00002-of-00002.safetensors": list(state)[4:],
    }
    for shard, names in shards.items():
        save_file({name: state[name] for name in names}, folder / shard)
    places = {name: shard for shard, names in shards.items() for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


def write_hugging_face(folder, mark):
    save_file(net().state_dict(), folder / "model.safetensors")
    (folder / "trainer_state.json").write_text(
        '{"global_step": 5, "log_history": [{"step": 5, "loss": 0.25}]}'
    )


def write_distributed(folder, mark):
    for path in DISTRIBUTED.iterdir():
        shutil.copy(path, folder)


KINDS = {
    "zip": write_zip,
    "legacy": write_legacy,
    "safetensors": write_safetensors,
    "sharded": write_sharded,
    "hugging_face": write_hugging_face,
    "distributed": write_distributed,
}


def write_mutants(root, kind, count, mark):
    """Folders ``step_N``, in each of which one file of a checkpoint is mutated."""
    original = root / "original"
    original.mkdir()
    KINDS[kind](original, mark)
    contents = {path.name: path.read_bytes() for path in sorted(original.iterdir())}
    run = root / "run"
    for number in range(count):
        folder = run / f"step_{number}"
        folder.mkdir(parents=True)
        victim = sorted(contents)[number % len(contents)]
        for name, content in contents.items():
            (folder / name).write_bytes(mutated(content, number) if name == victim else content)
    return run


def read_all(listing):
    """Load what is ready; only a sentence may come instead. Gives the number of files that could be read."""
    loaded = 0
    for entry in listing.entries.values():
        if entry.matched is not None:
            try:
                load_tensors(entry.matched.tensors, entry.parts)
                load_value(dict(entry.matched.extras), entry.parts)
                loaded += 1
            except CheckpointError:
                pass
    return loaded


def check(root, kind, count):
    mark = root / "was_run"
    run = write_mutants(root, kind, count, mark)
    process.end_idle()
    for reference in (None, Reference.of(net())):
        listing = list_files(run, reference=reference)
        told = [*listing.listed.checkpoints, *listing.listed.others]
        names = [info.name for info in told]
        aliases = [alias for info in listing.listed.checkpoints for alias in info.aliases]
        assert len(set(names)) == len(names) and not set(names) & set(aliases)
        assert {name.split("/")[0] for name in (*names, *aliases)} == {f"step_{n}" for n in range(count)}
        for info in listing.listed.others:
            assert info.state in ("waiting", "skipped")
            assert 0 < len(info.reason) < 500 and info.reason.isprintable(), info
            assert "tried to run code" not in info.reason and "crashed" not in info.reason, info
        notes = [note for info in told for note in info.notes]
        assert all(note.isprintable() for note in notes)
        read_all(listing)
    child = process.take(guard.LIMITS)
    try:
        report = child.report()
        assert report.modules == () and report.peak < guard.LIMITS.memory
    finally:
        child.end()
    assert not mark.exists()
    assert len(listing.listed.others) > count // 8


@pytest.mark.parametrize("kind", KINDS)
def test_that_a_mutated_checkpoint_gets_one_state_with_a_reason(tmp_path, kind):
    check(tmp_path, kind, 50)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_that_thousands_of_mutated_checkpoints_each_get_one_state_with_a_reason(tmp_path, kind):
    check(tmp_path, kind, 2000)
