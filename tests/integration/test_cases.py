"""Messy projects after public reports: each ends as its row says, with the right losses and distances.

``tests/data/cases`` holds a project per report; ``expected.json`` was computed with plain torch.
"""

from __future__ import annotations

import msgspec
import pytest
import torch
from played import CASES, Played, copied

from landscope.contract.deltas import (
    CheckpointInfo,
    CheckpointMeasured,
    DistanceOpened,
    DistancesMeasured,
    RunListed,
)
from landscope.contract.job import DistanceJob, EvaluateJob, ProbeJob
from landscope.contract.options import DataOptions
from landscope.project.spec import run_names
from landscope.runner.bench import Bench

LOSSES = ("loss", "loss_train_mode", "loss_evaluated_in_float32", "loss_on_first_4_batches")
OTHERS = ("47_argparse_at_import", "56_trains_at_import", "58_errors_of_the_script")
"""Cases whose scripts have tests of their own: they need arguments, a process, or are refused."""
OPEN_FILE = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # its model keeps a file open
ALL = [
    pytest.param(name, marks=[OPEN_FILE] if name == "54_not_deepcopyable" else [])
    for name in sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())
    if name not in OTHERS
]
SAMPLES = {"40_big_activations": 64}

SAYS = {
    "01_ckpt_namespace_numpy": ["argparse.Namespace"],
    "02_prefix_module": ["removed prefix module."],
    "04_lightning_ckpt": ["'state_dict'", "removed prefix model.", "criterion.weight, train_acc.tp"],
    "05_model_and_ema": ["model_ema"],
    "08_messy_folder": [
        "git lfs pull",
        "truncated",
        "empty",
        "HTML",
        "optimizer state only",
        "resource fork",
    ],
    "11_torchscript_and_legacy": ["TorchScript", "old file format"],
    "14_head_size_changed": ["out.weight has shape (5, 16), the model wants (3, 16)", "(24, 8)", "(16, 8)"],
    "16_weightnorm_migration": ["weight_norm names translated"],
    "17_lazy_modules": ["uninitialised"],
    "18_key_name_zoo": [
        "'net'",
        "'weight'",
        "'model_state'",
        "'model.state_dict'",
        "'models.0'",
        "NumPy array",
    ],
    "25_bfloat16_model": ["measured in float32"],
    "27_unregistered_layers": ["4 trainable tensors that are not parameters of the model"],
    "28_nan_checkpoint": [
        "d30.pt: NaN or inf in fc2.weight",
        "d40.pt: NaN or inf",
        "d50_huge.pt: the weights are",
    ],
    "41_functional_dropout": ["random in eval mode"],
    "44_workers_lambda": ["num_workers was set to 0"],
    "46_loss_only_in_train_mode": ["train mode"],
    "53_dataparallel_model": ["inside DataParallel"],
    "57_compiled_model": ["without compilation", "removed prefix _orig_mod."],
    "59_identical_checkpoints": ["have identical weights", "must be copied", "same weights as epoch_0.pt"],
}
"""What a person has to be told: in a notice, a note or a reason. Cases that are not here need no word."""


@pytest.mark.parametrize("slug", ALL)
def test_that_a_messy_project_ends_as_its_row_says(slug, tmp_path):
    project, row, expected = copied(slug, tmp_path)
    project = msgspec.structs.replace(project, data=DataOptions(samples=SAMPLES.get(slug, 2048)))
    run, bench = next(iter(run_names(project))), Bench()
    played = Played(EvaluateJob(project=project, run=run), bench)
    listed = played.last(RunListed)
    assert_listed(listed, row["expect"].get("n_ok", 0), expected)
    assert_losses(listed, played, expected)
    assert_said(slug, listed, played.notices, row["expect"]["outcome"])
    model = bench.subject(project, run).model
    assert_model(model, Played(ProbeJob(project=project), bench).answer, expected)
    assert_distances(Played(DistanceJob(project=project, run=run)), expected)


def assert_listed(listed: RunListed, ready: int, expected):
    named = [name for info in listed.checkpoints for name in (info.name, *info.aliases)]
    assert len(named) == ready or ("n_ok_min" in expected and len(named) >= ready)
    assert set(expected.get("rejected", {})) <= {info.name for info in listed.others if info.reason}
    assert expected.get("order", []) in ([], [info.name for info in listed.checkpoints])


def assert_losses(listed: RunListed, played: Played, expected):
    assert played.done
    found = {one.checkpoint: one.loss for one in played.all(CheckpointMeasured)}
    for info in listed.checkpoints:
        found |= dict.fromkeys(info.aliases, found[info.name])
    wanted = {name: loss for key in LOSSES for name, loss in expected.get(key, {}).items() if name in found}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-5, abs=1e-7)


def assert_said(slug, listed: RunListed, notices: list[str], outcome: str):
    infos: list[CheckpointInfo] = [*listed.checkpoints, *listed.others]
    text = "\n".join([*notices, *(line for info in infos for line in (*info.notes, info.reason))])
    assert [words for words in SAYS.get(slug, []) if words not in text] == []
    assert outcome == "ok" or text


def assert_model(model, answer, expected):
    if "n_parameters" in expected:
        assert answer["parameters"] == expected["n_parameters"]
    if "parameters" in expected:
        assert sorted(name for name, _ in model.named_parameters()) == expected["parameters"]
    if "dtype" in expected:
        assert next(model.parameters()).dtype == getattr(torch, expected["dtype"])


def assert_distances(played: Played, expected):
    """Distances from the files alone: of all parameters, of layers, from the first to the last checkpoint."""
    assert played.done
    measured = played.all(DistancesMeasured)
    found = {one.checkpoint: one.total["distance"] for one in measured}
    for key, wanted in expected.items():
        if key.startswith("distance_") and isinstance(wanted, float) and "if_all_state" not in key:
            assert measured[-1].total["distance"] == pytest.approx(wanted, rel=1e-5)
    wanted = expected.get("distance_from_init", {})
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-5, abs=1e-9)
    layers = dict(zip(played.last(DistanceOpened).layers, measured[-1].layers["distance"], strict=True))
    wanted = expected.get("layer_distance_0_30", {})
    assert {name: layers[name] for name in wanted} == pytest.approx(wanted, rel=1e-5, abs=1e-9)
