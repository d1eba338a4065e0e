"""The guarded child: one file never costs more than itself, and nothing but reading happens."""

import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from landscope.checkpoints.discover import list_files, list_growing, list_run, load_state
from landscope.checkpoints.files.header import read_header
from landscope.checkpoints.files.mappings import find_mappings
from landscope.checkpoints.guarded import guard, known, process
from landscope.checkpoints.guarded.describe import SETTLED_S, describe
from landscope.checkpoints.guarded.guard import describe_files
from landscope.checkpoints.guarded.limits import BROKEN_LOCK, Limits
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.read import load_tensors, load_value
from landscope.contract.errors import CheckpointError, JobCancelled
from landscope.contract.job import CancelToken

SMALL = Limits(memory=500 << 20, seconds=1.0)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Tests do not profit from what others have read."""
    monkeypatch.setattr(guard, "_known", known.Known())


def state(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(3, 2).state_dict()


def save(folder, count, settled=True):
    paths = []
    for number in range(count):
        paths.append(folder / f"model_{number}.pt")
        torch.save({"model": state(number), "step": number}, paths[-1])
        if settled:
            os.utime(paths[-1], (1.7e9, 1.7e9))
    return paths


def archive(path, pickled):
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("a/data.pkl", pickled)


def reasons(paths, limits=guard.LIMITS):
    return [facts.reason for facts in describe_files(paths, limits=limits)]


@pytest.mark.parametrize("count", [1, 5, 400])
def test_that_files_are_described_in_the_order_asked(tmp_path, count):
    paths = save(tmp_path, count)[::-1]
    assert [facts.step for facts in describe_files(paths)] == list(range(count))[::-1]


def test_that_a_child_describes_what_its_parent_would(tmp_path):
    torch.save({"model": state(), "array": {"a": np.arange(3.0)}, "x": [1]}, tmp_path / "a.pt")
    (facts,) = describe_files([tmp_path / "a.pt"])
    candidates = facts.candidates(facts.places())
    direct = find_mappings(read_header(tmp_path / "a.pt"))
    assert [one.path for one in candidates] == [one.path for one in direct]
    for found, expected in zip(candidates, direct, strict=True):
        assert (
            found.tensors.keys() == expected.tensors.keys() and found.extras.keys() == expected.extras.keys()
        )
    assert candidates[0].tensors == direct[0].tensors


def test_that_a_file_that_takes_too_long_costs_only_itself(tmp_path):
    """Its table has keys of one hash, of which each is compared with all before it."""
    first, second = save(tmp_path, 2)
    keys = (pickle.dumps(number * sys.hash_info.modulus, 2)[2:-1] for number in range(60_000))
    archive(tmp_path / "never.pt", b"\x80\x02}(" + b"".join(key + b"N" for key in keys) + b"u.")
    found = reasons([first, tmp_path / "never.pt", second], SMALL)
    assert found == ["", "reading it took longer than 1 s", ""]


def test_that_a_claim_of_memory_is_refused_with_a_sentence(tmp_path):
    first, second = save(tmp_path, 2)
    archive(tmp_path / "huge.pt", b"\x80\x05\x96" + (1 << 31).to_bytes(8, "little") + b"1234")
    found = reasons([first, tmp_path / "huge.pt", second])
    assert found[::2] == ["", ""] and "needs more memory" in found[1]
    child = process.take(guard.LIMITS)
    assert child.report().peak < 200 << 20
    process.give(child)


def test_that_a_pickle_that_would_fill_memory_when_copied_is_read_as_it_is(tmp_path):
    laughs = []
    for _ in range(60):
        laughs = [laughs] * 10
    torch.save({"model": state(), "laughs": laughs}, tmp_path / "a.pt")
    (facts,) = describe_files([tmp_path / "a.pt"], limits=SMALL)
    assert facts.state == "ready"


def test_that_a_small_file_that_repeats_itself_makes_no_large_answer(tmp_path):
    large = bytes(1_000_000)
    extras = {f"layer{number}._extra_state": [large] for number in range(60)}
    torch.save({"weight": torch.ones(2), **extras}, tmp_path / "a.pt")
    assert "needs more memory" in reasons([tmp_path / "a.pt"])[0]


def test_that_extra_state_without_an_end_is_left_alone(tmp_path):
    laughs = ()
    for _ in range(50):
        laughs = (laughs,) * 10
    torch.save({**state(), "_extra_state": laughs}, tmp_path / "a.pt")
    model = nn.Linear(3, 2)
    model.get_extra_state = lambda: None
    reference = Reference({"weight": (2, 3), "bias": (2,)}, extras=("_extra_state",))
    (info,) = list_files(tmp_path, reference=reference).listed.checkpoints
    assert info.notes == ("_extra_state kept from the model: the file's is too deep or too large to be read",)


def test_that_a_crash_of_the_child_costs_only_the_file_it_read(tmp_path, monkeypatch):
    process.end_idle()
    crashing = [sys.executable, "-c", "import os; os.read(0, 4); os.abort()"]
    monkeypatch.setattr(process, "_command", lambda _limits: crashing)
    assert reasons(save(tmp_path, 2)) == ["its reader crashed: the file is damaged, or made to do that"] * 2


def test_that_a_child_that_cannot_be_started_is_one_sentence(tmp_path, monkeypatch):
    process.end_idle()
    monkeypatch.setattr(process, "_command", lambda _limits: [str(tmp_path / "no such program")])
    with pytest.raises(CheckpointError, match="cannot be started"):
        reasons(save(tmp_path, 1))


@pytest.mark.parametrize(
    "act",
    [
        "import smtplib",
        "open('x', 'w')",
        "os.open('x', os.O_CREAT | os.O_WRONLY)",
        "os.system('true')",
        "os.remove('x')",
        "os.fork()",
        "eval('1')",
        "socket.socket()",
        "subprocess.run(['true'])",
    ],
)
def test_that_whatever_is_not_reading_ends_the_child(tmp_path, act):
    code = f"""
import os, socket, subprocess
from landscope.checkpoints.guarded.limits import Limits, lock
def act(): {act}
lock(Limits())
open({__file__!r}, "rb").read()
os.listdir(".")
act()
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert ended.returncode == BROKEN_LOCK


@pytest.mark.parametrize(("idle", "sent"), [("60", b""), ("0.05", None)], ids=["parent gone", "no work"])
def test_that_a_child_ends_without_a_parent_and_without_work(idle, sent):
    command = [sys.executable, "-P", "-m", "landscope.checkpoints.guarded.child", f"--idle={idle}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        if sent is not None:
            child.stdin.close()
        assert child.wait(30) == 0


def test_that_a_child_that_ended_for_want_of_work_is_replaced(tmp_path):
    tired = Limits(idle=0.01)
    child = process.ChildProcess(tired)
    child._process.wait()
    process.give(child)
    assert reasons(save(tmp_path, 3), tired) == [""] * 3


def test_that_settled_files_are_read_once_and_changed_ones_again(tmp_path, monkeypatch):
    paths = save(tmp_path, 3)
    list_run(tmp_path)
    monkeypatch.setattr(guard, "take", lambda _limits: pytest.fail("asked a child"))
    assert len(list_run(tmp_path).checkpoints) == 3
    torch.save({"model": state(9), "step": 9}, paths[1])
    with pytest.raises(pytest.fail.Exception):
        list_run(tmp_path)


def test_that_a_file_that_may_still_change_is_looked_at_again(tmp_path, monkeypatch):
    (path,) = save(tmp_path, 1, settled=False)
    whole = path.read_bytes()
    path.write_bytes(whole[:700])
    assert [info.state for info in list_run(tmp_path).others] == ["waiting"]
    path.write_bytes(whole)
    assert [info.state for info in list_run(tmp_path).checkpoints] == ["ready"]


def test_that_a_missing_shard_is_looked_for_again(tmp_path):
    save_sharded(tmp_path)
    shard = (tmp_path / "b.safetensors").read_bytes()
    (tmp_path / "b.safetensors").unlink()
    for path in tmp_path.iterdir():
        os.utime(path, (1.7e9, 1.7e9))
    assert "missing" in list_run(tmp_path).others[0].reason
    (tmp_path / "b.safetensors").write_bytes(shard)
    (info,) = list_run(tmp_path).checkpoints
    assert info.size == sum(path.stat().st_size for path in tmp_path.iterdir() if path.suffix != ".json")


def save_sharded(folder):
    from safetensors.torch import save_file

    for name, key in (("a", "weight"), ("b", "bias")):
        save_file({key: state()[key]}, folder / f"{name}.safetensors")
    index = '{"weight_map": {"weight": "a.safetensors", "bias": "b.safetensors"}}'
    (folder / "model.safetensors.index.json").write_text(index)


def test_that_a_file_that_changed_since_it_was_listed_is_not_read(tmp_path):
    (path,) = save(tmp_path, 1)
    (entry,) = list_files(tmp_path).entries.values()
    torch.save({"model": state(1), "step": 3}, path)
    with pytest.raises(CheckpointError, match="has changed since it was listed"):
        load_tensors(entry.matched.tensors, entry.parts)


def flip_a_weight(path):
    content = bytearray(path.read_bytes())
    place = content.find(state(int(path.stem.split("_")[1]))["weight"].numpy().tobytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_that_a_flipped_byte_is_told_in_the_list(tmp_path):
    paths = save(tmp_path, 3)
    flip_a_weight(paths[1])
    listed = list_run(tmp_path)
    assert [info.name for info in listed.checkpoints] == ["model_0.pt", "model_2.pt"]
    assert [info.reason for info in listed.others] == [
        "its bytes do not match their checksum; the file is damaged"
    ]


def test_that_a_flipped_byte_of_a_table_is_told_in_the_list(tmp_path):
    (path,) = save(tmp_path, 1)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"weight", b"weighs", 1))
    assert "do not match their checksum" in list_run(tmp_path).others[0].reason


def test_that_a_flipped_byte_of_a_large_file_is_told_when_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "_CHECKED_SIZE", 10)
    (path,) = save(tmp_path, 1)
    flip_a_weight(path)
    assert len(list_run(tmp_path).checkpoints) == 1
    with pytest.raises(CheckpointError, match="do not match their checksum"):
        load_state(tmp_path, "model_0.pt")


def test_that_extra_state_travels_with_its_tensors(tmp_path):
    extra = {
        "n": 3,
        "big": 1 << 80,
        "raw": b"\x00\xff",
        "none": None,
        "t": (1, [2.5, "x"]),
        "w": torch.ones(2),
    }
    torch.save({**state(), "_extra_state": {**extra, "s": {1, 2}, "type": torch.float16}}, tmp_path / "a.pt")
    reference = Reference({"weight": (2, 3), "bias": (2,)}, extras=("_extra_state",))
    (entry,) = list_files(tmp_path, reference=reference).entries.values()
    found = load_value(entry.matched.extras["_extra_state"], entry.parts)
    assert torch.equal(found.pop("w"), extra.pop("w"))
    assert found == {**extra, "s": {1, 2}, "type": torch.float16}


def test_that_extra_state_of_foreign_classes_is_left_alone_and_said(tmp_path):
    torch.save({**state(), "_extra_state": Path("x") and pickle.PickleBuffer}, tmp_path / "a.pt")
    reference = Reference({"weight": (2, 3), "bias": (2,)}, extras=("_extra_state",))
    (info,) = list_files(tmp_path, reference=reference).listed.checkpoints
    assert any("_extra_state kept from the model" in note for note in info.notes)


def test_that_a_list_grows_while_it_is_read(tmp_path, monkeypatch):
    from landscope.checkpoints import discover

    monkeypatch.setattr(discover, "_FIRST_S", 0.0)
    save(tmp_path, 40)
    lengths = [len(listed.checkpoints) for listed in list_growing(tmp_path)]
    assert lengths[0] < 40 and lengths == sorted(lengths) and lengths[-1] == 40


def test_that_a_growing_list_says_nothing_that_it_takes_back(tmp_path, monkeypatch):
    from landscope.checkpoints import discover

    monkeypatch.setattr(discover, "_FIRST_S", 0.0)
    save(tmp_path, 40)
    torch.save({"model": state(30)}, tmp_path / "best.pt")
    for number in range(3):
        torch.save({"model": nn.Linear(5, 2).state_dict(), "step": number}, tmp_path / f"a_{number}.pt")
    (tmp_path / "bad.pt").write_bytes(b"text")
    parts = [{info.name: info.reason for info in listed.others} for listed in list_growing(tmp_path)]
    assert len(parts) > 1 and len(parts[-1]) == 4
    assert all(part.items() <= parts[-1].items() for part in parts)


def test_that_a_listing_can_be_cancelled_and_left(tmp_path):
    paths = save(tmp_path, 300)
    token = CancelToken()
    facts = describe_files(paths, token)
    next(facts)
    facts.close()
    token.cancel()
    with pytest.raises(JobCancelled):
        list(describe_files(paths, token))


def test_that_the_children_are_asked_again_after_many_deaths(tmp_path):
    paths = save(tmp_path, 30)
    for number in range(0, 30, 10):
        paths[number].unlink()
        archive(paths[number], b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little"))
    states = [facts.state for facts in describe_files(paths)]
    assert states.count("ready") == 27


def test_that_age_decides_between_waiting_and_skipped(tmp_path):
    (path,) = save(tmp_path, 1, settled=False)
    path.write_bytes(path.read_bytes()[:700])
    assert describe(path).state == "waiting"
    old = path.stat().st_mtime - 2 * SETTLED_S
    os.utime(path, (old, old))
    assert describe(path).state == "skipped"


def test_that_the_shards_of_a_small_index_are_not_read_if_they_are_large(tmp_path, monkeypatch):
    save_sharded(tmp_path)
    index = tmp_path / "model.safetensors.index.json"
    for most, known_sums in ((31, False), (32, True)):
        monkeypatch.setattr(guard, "_CHECKED_SIZE", most)
        (facts,) = describe_files([index])
        assert [row[3] is not None for row in facts.storages] == [known_sums] * 2
