"""Runs as people have them: frozen and tied weights, half precision, other networks, nothing at all."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from landscope.contract.deltas import DistanceMatrices, DistanceOpened, DistancesMeasured
from landscope.contract.errors import CheckpointError, JobCancelled
from landscope.contract.events import Notice, Partial, Progress
from landscope.contract.job import CancelToken, DistanceJob
from landscope.contract.options import DistanceOptions, ProjectSpec
from landscope.distance import analysis, states
from landscope.distance.analysis import analyse_files


def _analyse(folder, token=None, **options):
    job = DistanceJob(project=ProjectSpec(root=str(folder)), run="run", options=DistanceOptions(**options))
    return analyse_files(folder, "run", job, token or CancelToken())


def _deltas(updates, kind):
    return [u.delta for u in updates if isinstance(u, Partial) and isinstance(u.delta, kind)]


def _results(folder, **options):
    updates = list(_analyse(folder, **options))
    measured = {one.checkpoint: one for one in _deltas(updates, DistancesMeasured)}
    return _deltas(updates, DistanceOpened)[-1], measured, updates


def _write(folder, *states, start=0):
    for k, state in enumerate(states, start):
        torch.save(state, folder / f"step_{k}.pt")


def _state(seed, **fixed):
    generator = torch.Generator().manual_seed(seed)
    return {
        "a.weight": torch.randn(4, 3, generator=generator),
        "a.bias": torch.randn(4, generator=generator),
        "b.weight": torch.randn(2, 4, generator=generator),
    } | fixed


def test_that_a_frozen_parameter_is_at_distance_zero_and_flagged(tmp_path):
    frozen = torch.randn(4, 3)
    _write(tmp_path, *(_state(k, **{"a.weight": frozen}) for k in range(3)))
    opened, measured, _ = _results(tmp_path)
    assert opened.flags == (("frozen",), (), ())
    for quantity in ("distance", "relative"):
        assert [one.parameters[quantity][0] for one in measured.values()] == [0.0, 0.0, 0.0]
    last = measured["step_2.pt"].parameters
    assert last["update"][0] == last["path_length"][0] == 0.0
    assert last["cosine"][0] == pytest.approx(1.0, abs=1e-15)
    assert np.isnan(last["straightness"][0]) and np.isnan(last["angle"][0])


def test_that_what_is_measured_is_sent_again_after_the_frame_with_flags(tmp_path):
    _write(tmp_path, *(_state(k, **{"a.bias": torch.ones(4)}) for k in range(3)))
    updates = list(_analyse(tmp_path, matrices=False))
    kinds = [type(u.delta).__name__ for u in updates if isinstance(u, Partial)]
    assert kinds == ["DistanceOpened", *3 * ["DistancesMeasured"]] * 2


def test_that_a_zero_initialised_bias_has_an_undefined_relative_distance(tmp_path):
    _write(tmp_path, _state(0, **{"a.bias": torch.zeros(4)}), _state(1))
    _, measured, _ = _results(tmp_path)
    found = measured["step_1.pt"].parameters
    assert found["distance"][1] > 0
    assert np.isnan(found["relative"][1]) and np.isnan(found["cosine"][1])


def test_that_tied_weights_count_once_under_whichever_name_a_file_has(tmp_path):
    embedding = torch.randn(5, 3)
    torch.save({"emb.weight": embedding, "head.weight": embedding}, tmp_path / "step_0.pt")
    save_file({"head.weight": embedding + 1.0}, tmp_path / "step_1.safetensors")
    save_file({"head.weight": embedding + 2.0}, tmp_path / "step_2.safetensors")
    opened, measured, _ = _results(tmp_path)
    assert opened.parameters == ("emb.weight",)
    assert "tied:head.weight" in opened.flags[0]
    assert opened.sizes.tolist() == [15]
    assert measured["step_1.safetensors"].total["distance"] == pytest.approx(15**0.5, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_that_half_precision_is_widened_before_subtracting(tmp_path, dtype):
    first, last = torch.randn(300, 400).to(dtype), torch.randn(300, 400).to(dtype)
    _write(tmp_path, {"w": first}, {"w": last})
    _, measured, _ = _results(tmp_path)
    exact = np.linalg.norm(last.double().numpy() - first.double().numpy())
    assert measured["step_1.pt"].total["distance"] == pytest.approx(exact, rel=1e-12)


def test_that_a_parameter_of_several_blocks_is_summed_whole(tmp_path):
    first, last = torch.randn(70, 3000).t(), torch.randn(70, 3000).t()  # not contiguous
    _write(tmp_path, {"w": first}, {"w": last})
    _, measured, _ = _results(tmp_path)
    moved = last.double() - first.double()
    lengths = first.double().norm(dim=1)
    assert measured["step_1.pt"].total["distance"] == pytest.approx(float(moved.norm()), rel=1e-12)
    assert measured["step_1.pt"].total["filter_relative"] == pytest.approx(
        float((moved.norm(dim=1) / lengths).mean()), rel=1e-12
    )


def test_that_identical_checkpoints_are_said_to_be_identical(tmp_path):
    _write(tmp_path, *(_state(0) | {"step": torch.tensor(k)} for k in range(3)))
    _, measured, updates = _results(tmp_path)
    assert all(one.total["distance"] == 0.0 for one in measured.values())
    assert any(isinstance(u, Notice) and "identical weights" in u.sentence for u in updates)
    (matrices,) = _deltas(updates, DistanceMatrices)
    assert (matrices.distance == 0.0).all()
    np.testing.assert_allclose(matrices.cosine, 1.0, rtol=1e-14)


def test_that_a_folder_without_checkpoints_is_told_in_a_sentence(tmp_path):
    with pytest.raises(CheckpointError, match=r"No checkpoint of .* can be read"):
        list(_analyse(tmp_path))


def test_that_a_broken_file_stops_nothing(tmp_path):
    _write(tmp_path, _state(0), _state(1), _state(2))
    (tmp_path / "step_1.pt").write_bytes(b"PK\x03\x04 not a checkpoint")
    _, measured, _ = _results(tmp_path)
    assert list(measured) == ["step_0.pt", "step_2.pt"]


def test_that_cancelling_stops_before_the_next_checkpoint(tmp_path):
    _write(tmp_path, *(_state(k) for k in range(4)))
    token = CancelToken()
    seen = []
    with pytest.raises(JobCancelled):
        for update in _analyse(tmp_path, token):
            seen.append(update)
            if isinstance(update, Progress):
                token.cancel()
    assert len(_deltas(seen, DistancesMeasured)) == 1


def test_that_a_file_that_vanishes_before_the_matrices_costs_only_them(tmp_path, monkeypatch):
    monkeypatch.setattr(states, "BUDGET", 0)  # nothing stays in memory between the passes
    _write(tmp_path, *(_state(k) for k in range(3)))
    seen = []
    for update in _analyse(tmp_path):
        seen.append(update)
        if isinstance(update, Progress) and update.done == 3:
            (tmp_path / "step_1.pt").unlink()
    assert len(_deltas(seen, DistancesMeasured)) == 3
    assert not _deltas(seen, DistanceMatrices)
    assert [u.level for u in seen if isinstance(u, Notice)] == ["warning"]


def test_that_progress_ends_at_its_total(tmp_path):
    _write(tmp_path, *(_state(k) for k in range(3)))
    last = [u for u in _analyse(tmp_path) if isinstance(u, Progress)][-1]
    assert last.done == last.total == 6


def test_that_a_long_run_has_a_matrix_of_checkpoints_from_its_first_to_its_last(tmp_path, monkeypatch):
    monkeypatch.setattr(analysis, "MATRIX", 3)
    _write(tmp_path, *(_state(k) for k in range(5)))
    updates = list(_analyse(tmp_path))
    (matrices,) = _deltas(updates, DistanceMatrices)
    assert matrices.checkpoints == ("step_0.pt", "step_2.pt", "step_4.pt")
    assert matrices.distance.shape == (3, 3)
    totals = {one.checkpoint: one.total["distance"] for one in _deltas(updates, DistancesMeasured)}
    np.testing.assert_allclose(matrices.distance[0], [totals[name] for name in matrices.checkpoints])
    assert any("3 of the 5 checkpoints" in u.sentence for u in updates if isinstance(u, Notice))
