"""Training order of names: which of their numbers count, and which are dates, metrics, hashes or settings."""

import pytest

from landscope.checkpoints.order import Placed, in_order


def ordered(*names):
    placed, lost = in_order([Placed(name) for name in sorted(names)])
    return [file.name for file in placed], [file.step for file in placed], [file.name for file in lost]


@pytest.mark.parametrize(
    "names",
    [
        ["model_1.pt", "model_2.pt", "model_10.pt"],
        ["model_002.pt", "model_3.pt", "model_0010.pt"],
        ["resnet18_cifar10_epoch5.pth", "resnet18_cifar10_epoch12.pth"],
        ["resnet18_5.pth", "resnet18_12.pth", "resnet18_100.pth"],
        ["ckpt_e1_s50.pt", "ckpt_e1_s100.pt", "ckpt_e2_s150.pt"],
        ["2024-05-01_12-30.pt", "2024-05-01_13-05.pt", "2024-06-01_01-00.pt"],
        ["run_20240501_step_9.pt", "run_20240501_step_10.pt"],
        ["epoch=2-val_acc=0.93.ckpt", "epoch=10-val_acc=0.51.ckpt"],
        ["net_epoch_2_loss0.9.pt", "net_epoch_10_loss0.123.pt"],
        ["iter_900.pth", "iter_2k.pth", "iter_10k.pth", "iter_1m.pth"],
        ["model-1k.pt", "model-2k.pt", "model-10k.pt", "model-1M.pt"],
        ["init.pt", "step_1.pt", "step_2.pt", "last.pt"],
        ["checkpoint-9/model.safetensors", "checkpoint-10/model.safetensors"],
        ["step-9/.metadata", "step-10/.metadata"],
    ],
)
def test_that_names_are_in_training_order(names):
    assert ordered(*names)[0] == names


@pytest.mark.parametrize(
    ("names", "steps"),
    [
        (["model_3.pt", "model_20.pt"], [3, 20]),
        (["iter_2k.pth", "iter_10k.pth"], [2000, 10_000]),
        (["resnet18_5.pth", "resnet18_12.pth"], [5, 12]),
        (["model-500.pt", "model-2k.pt"], [500, 2000]),
        (["2024-05-01_12-30.pt", "2024-05-01_13-05.pt"], [None, None]),
        (["20240501_123000.pt", "20240501_130500.pt"], [None, None]),
        (["resnet18-3f2a9c1e.pth", "resnet18-5c106cde.pth"], [None, None]),
        (["acc_91.pt", "acc_93.pt"], [None, None]),
        (["loss0.123.pt", "loss0.456.pt"], [None, None]),
        (["fold_0.pt", "fold_1.pt"], [None, None]),
        (["lr_1e-3.pt", "lr_1e-4.pt"], [None, None]),
        (["float8_e4m3fn.pt", "float8_e5m2.pt"], [None, None]),
        (["checkpoint_000010_0.93.pt", "checkpoint_000020_0.91.pt"], [10, 20]),
        (["network-snapshot-000400.pkl", "network-snapshot-001200.pkl"], [400, 1200]),
    ],
)
def test_that_only_what_counts_is_a_step(names, steps):
    assert ordered(*names)[1] == steps


def test_that_a_number_that_is_the_stored_epoch_is_told_as_such():
    files = [Placed(f"checkpoint-{epoch}.pth.tar", epoch=epoch) for epoch in (2, 10)]
    assert [(file.step, file.epoch) for file in in_order(files)[0]] == [(None, 2), (None, 10)]
    files = [Placed(f"checkpoint-{step}.pt", epoch=step // 10) for step in (20, 100)]
    assert [(file.step, file.epoch) for file in in_order(files)[0]] == [(20, 2), (100, 10)]


def test_that_an_epoch_in_the_name_is_told_as_such():
    placed, _ = in_order([Placed("epoch_2.pt"), Placed("epoch_10.pt")])
    assert [(file.step, file.epoch) for file in placed] == [(None, 2), (None, 10)]


def test_that_a_stored_step_decides_against_the_names():
    placed, _ = in_order([Placed("a_1.pt", step=30), Placed("a_2.pt", step=10)])
    assert [file.name for file in placed] == ["a_2.pt", "a_1.pt"]


def test_that_a_stored_number_that_never_changes_does_not_decide():
    placed, _ = in_order([Placed("epoch_10.pt", step=0, epoch=0), Placed("epoch_9.pt", step=0, epoch=0)])
    assert [file.name for file in placed] == ["epoch_9.pt", "epoch_10.pt"]


def test_that_runs_in_one_folder_are_not_interleaved():
    names = [f"{run}_step{step}.pt" for run in ("plain", "wide") for step in (1, 2, 10)]
    assert ordered(*names)[0] == names


def test_that_best_is_placed_by_its_stored_step_or_not_at_all():
    files = [Placed("e_1.pt", epoch=1), Placed("e_3.pt", epoch=3)]
    assert [f.name for f in in_order([*files, Placed("best.pt", epoch=2)])[0]] == [
        "e_1.pt",
        "best.pt",
        "e_3.pt",
    ]
    assert [f.name for f in in_order([*files, Placed("best.pt")])[1]] == ["best.pt"]


@pytest.mark.parametrize(
    "name", ["model_" + "9" * 5000 + ".pt", "step_" + "1" * 400 + ".pt", "模型_²³.pt", "...pt"]
)
def test_that_odd_names_are_no_trouble(name):
    assert ordered(name, "other.pt")[1].count(None) >= 1
