"""A folder: its files in training order, each with one state, copies recognised."""

import json
import os
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from landscope.checkpoints.discover import list_files, list_run, load_state
from landscope.checkpoints.guarded.describe import SETTLED_S
from landscope.checkpoints.matching.reference import Reference
from landscope.contract.errors import CheckpointError


def state(seed):
    torch.manual_seed(seed)
    return nn.Linear(3, 2).state_dict()


def save(folder, names, **stored):
    for number, name in enumerate(names):
        torch.save({"model": state(number), **stored} if stored else state(number), folder / name)


def names(listed):
    return [info.name for info in listed.checkpoints]


def reasons(listed):
    return {info.name: info.reason for info in listed.others}


def age(path):
    os.utime(path, (1.7e9, 1.7e9))


@pytest.mark.parametrize(
    "ordered",
    [
        ["init.pt", "epoch_1.pt", "epoch_2.pt", "epoch_9.pt", "epoch_10.pt", "epoch_0100.pt"],
        ["step_000000.pt", "step_000002.pt", "step_000010.pt", "step_001000.pt"],
        ["ckpt_e1_s50.pt", "ckpt_e1_s100.pt", "ckpt_e2_s150.pt"],
        ["epoch=0-step=100.ckpt", "epoch=2-step=300.ckpt", "epoch=10-step=1100.ckpt"],
        ["model_1.pt", "model_2.pt", "model_10.pt", "last.pt"],
        ["a.pt", "b.pt", "final.pt"],
    ],
)
def test_that_files_are_in_training_order(tmp_path, ordered):
    save(tmp_path, sorted(ordered))
    assert names(list_run(tmp_path)) == ordered


def test_that_a_stored_step_decides_against_the_names(tmp_path):
    for step, name in ((30, "a_1.pt"), (10, "a_2.pt"), (20, "a_3.pt")):
        torch.save({"step": step, "model": state(step)}, tmp_path / name)
    listed = list_run(tmp_path)
    assert names(listed) == ["a_2.pt", "a_3.pt", "a_1.pt"]
    assert [info.step for info in listed.checkpoints] == [10, 20, 30]


def test_that_best_and_last_are_aliases_of_what_they_copy(tmp_path):
    save(tmp_path, ["model_1.pt", "model_2.pt"])
    torch.save({"model": state(0), "epoch": 1}, tmp_path / "best.pt")
    save_file(state(1), tmp_path / "last.safetensors")
    listed = list_run(tmp_path)
    assert {info.name: info.aliases for info in listed.checkpoints} == {
        "model_1.pt": ("best.pt",),
        "model_2.pt": ("last.safetensors",),
    }


def test_that_a_best_file_that_copies_nothing_is_told_as_unplaceable(tmp_path):
    save(tmp_path, ["model_1.pt", "model_2.pt", "best.pt"])
    listed = list_run(tmp_path)
    assert names(listed) == ["model_1.pt", "model_2.pt"]
    assert "place in training is unknown" in reasons(listed)["best.pt"]


def test_that_identical_files_are_said_to_be_identical(tmp_path):
    for epoch in range(3):
        torch.save(state(0), tmp_path / f"epoch_{epoch}.pt")
    listing = list_files(tmp_path)
    assert listing.all_identical
    assert listing.listed.checkpoints[2].notes == ("same weights as epoch_1.pt",)


def test_that_one_bad_file_never_stops_the_rest(tmp_path):
    save(tmp_path, ["model_1.pt", "model_2.pt"])
    whole = (tmp_path / "model_1.pt").read_bytes()
    bad = {
        "cut.pt": whole[:700],
        "empty.pt": b"",
        "lfs.pt": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "page.pth": b"<!DOCTYPE html><html></html>",
        "._model_1.pt": b"\x00\x05\x16\x07",
    }
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        age(tmp_path / name)
    torch.save({"state": {}, "param_groups": [{"lr": 0.1}]}, tmp_path / "optimizer.pt")
    for other in ("log.txt", "README", "latest"):
        (tmp_path / other).write_text("epoch 1")
    listed = list_run(tmp_path)
    assert names(listed) == ["model_1.pt", "model_2.pt"]
    found = reasons(listed)
    assert set(found) == {*bad, "optimizer.pt"}
    expected = ("truncated", "empty", "git lfs pull", "HTML", "resource fork", "optimizer state only")
    assert all(word in found[name] for word, name in zip(expected, [*bad, "optimizer.pt"], strict=True))
    assert {info.state for info in listed.others} == {"skipped"}


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_that_a_legacy_file_still_being_written_is_waited_for(tmp_path, share):
    path = tmp_path / "model_1.pt"
    torch.save(state(0), path, _use_new_zipfile_serialization=False)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    assert [info.state for info in list_run(tmp_path).others] == ["waiting"]


def test_that_a_file_still_being_written_is_waited_for(tmp_path):
    save(tmp_path, ["model_1.pt"])
    content = (tmp_path / "model_1.pt").read_bytes()
    growing = tmp_path / "model_2.pt"
    growing.write_bytes(content[:500])
    assert [info.state for info in list_run(tmp_path).others] == ["waiting"]
    old = growing.stat().st_mtime - 2 * SETTLED_S
    os.utime(growing, (old, old))
    assert [info.state for info in list_run(tmp_path).others] == ["skipped"]
    growing.write_bytes(content)
    assert names(list_run(tmp_path)) == ["model_1.pt", "model_2.pt"]


def test_that_files_of_another_network_are_skipped_with_both_shapes(tmp_path):
    save(tmp_path, ["m_1.pt", "m_2.pt"])
    torch.save(nn.Linear(4, 2).state_dict(), tmp_path / "m_3.pt")
    assert reasons(list_run(tmp_path)) == {
        "m_3.pt": "weight has shape (2, 4), in most files of this run (2, 3)"
    }
    fitted = list_files(tmp_path, reference=Reference.of(nn.Linear(4, 2)))
    assert names(fitted.listed) == ["m_3.pt"]


def test_that_of_two_networks_in_one_folder_the_larger_is_listed(tmp_path):
    for epoch in (1, 2):
        torch.save(nn.Linear(9, 9).state_dict(), tmp_path / f"net_g_{epoch}.pt")
        torch.save(nn.Sequential(nn.Linear(2, 1)).state_dict(), tmp_path / f"net_d_{epoch}.pt")
    listed = list_run(tmp_path)
    assert names(listed) == ["net_g_1.pt", "net_g_2.pt"]
    reason = "its parameters differ from those of net_g_1.pt: 0.bias is only here"
    assert reasons(listed) == {"net_d_1.pt": reason, "net_d_2.pt": reason}


def test_that_hugging_face_folders_are_one_checkpoint_each(tmp_path):
    for step in (9, 10, 100):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        save_file(state(step), folder / "model.safetensors")
        (folder / "trainer_state.json").write_text(f'{{"global_step": {step}}}')
        torch.save({}, folder / "training_args.bin")
    listed = list_run(tmp_path)
    assert names(listed) == [f"checkpoint-{step}/model.safetensors" for step in (9, 10, 100)]
    assert [info.step for info in listed.checkpoints] == [9, 10, 100]


def test_that_files_of_one_run_may_have_a_prefix_or_not(tmp_path):
    for number, prefix in enumerate(("", "model.", "module.net.", "")):
        weights = {prefix + name: tensor for name, tensor in state(number % 3).items()}
        torch.save(weights, tmp_path / f"m_{number}.pt")
    listed = list_run(tmp_path)
    assert names(listed) == ["m_0.pt", "m_1.pt", "m_2.pt", "m_3.pt"]
    assert listed.checkpoints[2].notes == ("removed prefix module.", "removed prefix net.")
    assert set(load_state(tmp_path, "m_1.pt")) == {"weight", "bias"}


def test_that_weights_load_by_name_without_wrappers(tmp_path):
    torch.save({"model": {f"module.{n}": t for n, t in state(3).items()}}, tmp_path / "m_1.pt")
    found = load_state(tmp_path, "m_1.pt")
    assert set(found) == {"weight", "bias"} and torch.equal(found["weight"], state(3)["weight"])


def test_that_a_file_that_cannot_be_used_says_why_when_loaded(tmp_path):
    (tmp_path / "a.pt").write_bytes(b"nonsense" * 100)
    with pytest.raises(CheckpointError, match=r"^a\.pt: text, not a checkpoint$"):
        load_state(tmp_path, "a.pt")


def test_that_lazy_parameters_without_shapes_are_refused(tmp_path):
    torch.save(nn.LazyLinear(3).state_dict(), tmp_path / "a.pt")
    assert "uninitialised" in reasons(list_run(tmp_path))["a.pt"]


def test_that_a_missing_folder_is_one_sentence(tmp_path):
    with pytest.raises(CheckpointError, match="cannot be read"):
        list_run(tmp_path / "nowhere")


def test_that_the_logged_loss_of_a_trainer_is_told(tmp_path):
    folder = tmp_path / "checkpoint-20"
    folder.mkdir()
    save_file(state(0), folder / "model.safetensors")
    log = [{"step": 10, "loss": 2.0}, {"step": 20, "loss": 1.23456}, {"step": 20, "eval_loss": 1.5}]
    later = {"step": 30, "loss": 0.1}
    content = {"global_step": 20, "log_history": [*log, later, {"step": 20, "loss": float("nan")}]}
    (folder / "trainer_state.json").write_text(json.dumps(content))
    (info,) = list_run(tmp_path).checkpoints
    assert info.step == 20 and info.notes == ("logged loss 1.235", "logged eval_loss 1.5")


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"global_step": "x"}', '{"global_step": -1, "log_history": {}}', "[" * 5000]
)
def test_that_a_damaged_trainer_state_does_not_matter(tmp_path, content):
    folder = tmp_path / "checkpoint-20"
    folder.mkdir()
    save_file(state(0), folder / "model.safetensors")
    (folder / "trainer_state.json").write_text(content)
    (info,) = list_run(tmp_path).checkpoints
    assert info.step == 20 and info.notes == ()


@pytest.mark.parametrize(
    ("folders", "file", "others"),
    [
        (
            ("global_step10", "global_step20"),
            "mp_rank_00_model_states.pt",
            ["zero_pp_rank_0_mp_rank_00_optim_states.pt"],
        ),
        (("iter_0000100", "iter_0000200"), "mp_rank_00/model_optim_rng.pt", []),
        (("checkpoint_1", "checkpoint_2"), "pytorch_model/mp_rank_00_model_states.pt", ["optimizer.bin"]),
        (("step_100", "step_200"), "weights.pt", ["random_states_0.pkl"]),
        (("epoch_5", "epoch_10"), "model.ckpt", ["ema.ckpt"]),
    ],
)
def test_that_folders_of_trainers_are_one_checkpoint_each(tmp_path, folders, file, others):
    for number, folder in enumerate(folders):
        for name in (file, *others):
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            torch.save({"module": state(number)}, path)
    assert names(list_run(tmp_path)) == [f"{folder}/{file}" for folder in folders]


def test_that_folders_of_several_runs_are_no_checkpoints(tmp_path):
    for seed in (1, 2):
        (tmp_path / f"seed_{seed}").mkdir()
        save(tmp_path / f"seed_{seed}", ["final.pt"])
    assert names(list_run(tmp_path)) == []


def test_that_distributed_folders_are_one_checkpoint_each(tmp_path):
    data = Path(__file__).parents[2] / "data" / "checkpoints" / "dcp" / "step_100"
    for step in (9, 10):
        shutil.copytree(data, tmp_path / f"step_{step}")
    listed = list_run(tmp_path)
    assert names(listed) == ["step_9/.metadata", "step_10/.metadata"]
    assert not listed.others
