"""Messy projects after public reports, measured: their layers, and lines and planes between checkpoints."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from played import Played, copied

from landscope.contract.deltas import (
    LinePoints,
    PlaneOpened,
    PlanePoints,
    RunListed,
    SaturationMeasured,
    TrajectoryMeasured,
)
from landscope.contract.job import EvaluateJob, LineJob, PlaneJob, SaturationJob
from landscope.contract.options import DataOptions, LandscapeOptions, SaturationOptions
from landscope.runner.bench import Bench

RUN = "ckpts"


def saturated(project, **options) -> SaturationMeasured:
    job = SaturationJob(project=project, run=RUN, options=SaturationOptions(**options))
    played = Played(job)
    assert played.done
    return played.last(SaturationMeasured)


def names(found: SaturationMeasured) -> list[str]:
    return [layer.layer for layer in found.layers]


@pytest.mark.parametrize(
    ("slug", "layers"),
    [
        ("17_lazy_modules", ["0", "3", "5"]),
        ("23_shared_block", ["blocks.0.0", "blocks.0.0#2", "blocks.0.0#3", "head", "head2"]),
        ("27_unregistered_layers", ["out"]),
        ("30_inplace_relu", ["0", "2", "5", "8"]),
        (
            "34_dict_batch_modeloutput",
            ["layers.0.q", "layers.0.ff", "layers.1.q", "layers.1.ff", "classifier"],
        ),
        ("39_direct_forward_calls", ["enc.l2", "out"]),
        ("46_loss_only_in_train_mode", ["backbone.0", "cls", "box"]),
        ("57_compiled_model", ["fc1", "fc2", "out"]),
    ],
)
def test_that_the_layers_that_run_are_measured(slug, layers, tmp_path):
    assert names(saturated(copied(slug, tmp_path)[0])) == layers


@pytest.mark.parametrize(
    ("slug", "key"), [("33_transformer_fastpath", "never_fire"), ("39_direct_forward_calls", "not_observed")]
)
def test_that_layers_that_never_run_are_named(slug, key, tmp_path):
    project, _, expected = copied(slug, tmp_path)
    found = saturated(project)
    assert [one.layer for one in found.not_observed] == expected[key]
    if slug.startswith("33"):
        ours = [name for name in names(found) if "self_attn" not in name]
        assert set(ours) == {
            n for n in expected["fire_without_fastpath"] if "drop" not in n and "norm" not in n
        }


def test_that_padding_of_packed_sequences_does_not_count(tmp_path):
    project, _, expected = copied("32_lstm_packed_tuple", tmp_path)
    found = {one.layer: one for one in saturated(project, timeseries_method="timestepwise").layers}
    assert found["lstm"].samples == found["gru"].samples == expected["real_tokens"]
    assert {name: layer.dimension for name, layer in found.items()} == {
        name: width for name, width in expected["widths"].items() if name != "embed"
    }


def test_that_dead_constant_and_repeated_values_give_numbers(tmp_path):
    found = {one.layer: one for one in saturated(copied("37_dead_and_constant", tmp_path)[0]).layers}
    assert "dead" in found["const"].flags and found["const"].lsat == 0 and found["wide"].idim == 1
    plane = {one.layer: one for one in saturated(copied("38_duplicate_rows_id", tmp_path)[0]).layers}["plane"]
    assert plane.idim == 2  # a plane embedded in twelve dimensions
    assert all(math.isfinite(one.lsat) for one in (*found.values(), plane))


def test_that_a_line_between_batchnorm_nets_depends_on_its_policy_as_reported(tmp_path):
    project, _, expected = copied("20_bn_interpolation_barrier", tmp_path)
    curves = {}
    for policy in ("frozen", "recalibrated"):
        options = LandscapeOptions(points=5, batchnorm=policy)
        played = Played(LineJob(project=project, id="line", run=RUN, options=options))
        assert played.done
        curves[policy] = values_of(played, "loss")
    assert curves["frozen"] == pytest.approx(expected["curves"]["kept_from_a"], rel=1e-5)
    # That of the report follows a momentum over batches in their order: ours pools all samples.
    assert curves["recalibrated"] == pytest.approx(expected["curves"]["re_estimated"], rel=0.2, abs=0.02)


def values_of(played: Played, key: str) -> list[float]:
    found = {}
    for points in played.all(LinePoints):
        found |= dict(zip(points.indices.tolist(), points.values[key].tolist(), strict=True))
    return [found[index] for index in sorted(found)]


def test_that_a_path_shows_its_own_losses_beside_those_of_the_plane(tmp_path):
    project, _, expected = copied("29_trajectory_plane", tmp_path)
    played = Played(
        PlaneJob(project=project, id="plane", run=RUN, kind="trajectory", options=LandscapeOptions(grid=5))
    )
    path = played.last(TrajectoryMeasured)
    for key, found in (
        ("loss", path.true_loss),
        ("loss_at_projection", path.plane_loss),
        ("off_plane_distance", path.residuals),
    ):
        ours = dict(zip(path.checkpoints, found.tolist(), strict=True))
        wanted = expected[key]
        assert {name: ours[name] for name in wanted} == pytest.approx(wanted, rel=1e-3, abs=1e-4)
    shares = expected["explained_variance_uncentred_about_last"][:2]
    assert path.explained.tolist() == pytest.approx(shares, rel=1e-5)


def test_that_a_plane_is_drawn_around_the_last_checkpoint_that_has_a_loss(tmp_path):
    project = copied("28_nan_checkpoint", tmp_path)[0]
    options = LandscapeOptions(grid=5, points=5)
    for kind in ("random", "trajectory"):
        played = Played(PlaneJob(project=project, id="plane", run=RUN, kind=kind, options=options))
        assert played.done and played.last(PlaneOpened).base == "d20.pt"
        assert any("around “d20.pt”: later checkpoints" in sentence for sentence in played.notices)
        assert np.isfinite([one for points in played.all(PlanePoints) for one in points.values["loss"]]).all()
    assert played.last(TrajectoryMeasured).checkpoints == ("d00.pt", "d10.pt", "d20.pt")
    assert any("“d50_huge.pt” has no finite loss" in sentence for sentence in played.notices)
    played = Played(LineJob(project=project, id="line", run=RUN, options=options))
    assert played.done and np.isfinite(values_of(played, "loss")).all()
    assert any("ends at “d20.pt”: later checkpoints" in sentence for sentence in played.notices)


def test_that_a_path_through_identical_checkpoints_is_refused(tmp_path):
    project = copied("59_identical_checkpoints", tmp_path)[0]
    played = Played(PlaneJob(project=project, id="plane", run=RUN, kind="trajectory"))
    assert "identical" in played.failure or "same" in played.failure


def test_that_a_persons_hooks_stay_also_after_a_batch_that_fails(tmp_path):
    project, _, expected = copied("60_users_own_hooks", tmp_path)
    bench, jobs = Bench(), (EvaluateJob(project=project, run=RUN), SaturationJob(project=project, run=RUN))
    model = bench.subject(project, RUN).model
    first, again = ([Played(job, bench).deltas for job in jobs] for _ in range(2))
    assert repr(first[1]) == repr(again[1])
    assert hooks(model) == expected["hooks"]
    unlucky = DataOptions(batch_size=expected["raises_for_batch_size"])
    failing = msgspec.structs.replace(project, data=unlucky)
    assert "model.py line 21: RuntimeError" in Played(SaturationJob(project=failing, run=RUN)).failure
    assert Played(jobs[0], bench).last(RunListed)
    assert hooks(model) == expected["hooks"]


def hooks(model) -> dict[str, int]:
    return {
        "a": len(model.a._forward_hooks),
        "b_pre": len(model.b._forward_pre_hooks),
        "root": len(model._forward_hooks),
    }
