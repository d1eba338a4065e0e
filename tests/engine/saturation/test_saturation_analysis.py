"""Saturation of a small real project: script, data and checkpoints on disk."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from landscope.contract.deltas import SaturationMeasured
from landscope.contract.errors import DataError, JobCancelled, LandscopeError, OptionError, ScriptError
from landscope.contract.events import Notice, Partial, Progress
from landscope.contract.job import CancelToken, SaturationJob
from landscope.contract.options import ProjectSpec, SaturationOptions
from landscope.project.opening import open_subject
from landscope.saturation.analysis import analyse

SCRIPT = """
import torch
from torch import nn

def build_model():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(96, 8),
        nn.ReLU(inplace=True), nn.Linear(8, 3), nn.Dropout(0.5),
    )

def build_data(split):
    generator = torch.Generator().manual_seed(0 if split == "train" else 1)
    pictures = torch.randn(70, 1, 6, 6, generator=generator)
    return [(x, x.flatten(1)[:, :3].argmax(1)) for x in pictures.split(16)]
"""
SEQUENCES = """
import torch
from torch import nn

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.gru = nn.Embedding(20, 4, padding_idx=0), nn.GRU(4, 5, batch_first=True)
        self.each, self.head = nn.Linear(5, 3), nn.Linear(3, 20)

    def forward(self, ids):
        steps = self.each(self.gru(self.embed(ids))[0])
        return self.head((steps * (ids > 0)[..., None]).sum(1))

def build_model():
    torch.manual_seed(0)
    return Reader()

def build_data(split):
    ids = torch.zeros(60, 7, dtype=torch.long)
    for item in range(60):
        ids[item, : 1 + item % 7] = 1 + item % 19
    return [(x, x[:, 0]) for x in ids.split(16)]
"""
FAILING = (
    SCRIPT
    + """
def loss(model, batch):
    pictures, labels = batch
    if len(pictures) < 16 and model[0].weight.flatten()[0] == 0:
        raise RuntimeError("unlucky batch")
    return nn.functional.cross_entropy(model(pictures), labels)
"""
)
CHECKPOINTS = ("step_0.pt", "step_10.pt", "step_20.pt")


def _model(seed):
    torch.manual_seed(seed)
    namespace = {}
    exec(SCRIPT, namespace)
    model = namespace["build_model"]()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter) * seed)
        model[1].running_mean.fill_(0.1 * seed)
    return model, namespace["build_data"]


def _project(folder, script=SCRIPT):
    (folder / "run").mkdir()
    (folder / "model.py").write_text(script)
    for seed, name in enumerate(CHECKPOINTS):
        torch.save(_model(seed)[0].state_dict(), folder / "run" / name)
    return ProjectSpec(
        root=str(folder), script=str(folder / "model.py"), runs=(str(folder / "run"),), trusted=True
    )


@pytest.fixture
def project(tmp_path):
    return _project(tmp_path)


def _job(project, checkpoints=(), **options):
    return SaturationJob(
        project=project, run="run", options=SaturationOptions(**options), checkpoints=checkpoints
    )


def _deltas(updates):
    return [u.delta for u in updates if isinstance(u, Partial)]


def _full(updates):
    return {d.checkpoint: d for d in _deltas(updates) if not d.settings["partial"]}


def _bits(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def _hook_count(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def _expected(seed, layer, split="train"):
    """Outputs of one layer by a loop of our own, as (n, D) float64."""
    model, build_data = _model(seed)
    model.eval()
    rows = []
    with torch.no_grad():
        for pictures, _ in build_data(split):
            output = model[:layer](pictures).clone()  # an in-place ReLU would overwrite it
            output = model[layer](output)
            rows.append(output.movedim(1, -1).reshape(-1, output.shape[1]).double())
    return torch.cat(rows).numpy()


@pytest.mark.parametrize("split", ["train", "test"])
def test_that_every_checkpoint_gets_the_statistics_of_all_batches(project, split):
    subject = open_subject(project, "run")
    found = _full(analyse(subject, _job(project, split=split), CancelToken()))
    assert set(found) == set(CHECKPOINTS)
    for seed, name in enumerate(CHECKPOINTS):
        assert [layer.layer for layer in found[name].layers] == ["0", "4", "6"]
        assert found[name].mode == split
        assert found[name].settings["samples"] == 70
        for layer in found[name].layers:
            rows = _expected(seed, int(layer.layer), split)
            values = np.linalg.svd(rows - rows.mean(0), compute_uv=False) ** 2 / len(rows)
            assert (layer.samples, layer.dimension) == rows.shape
            np.testing.assert_allclose(layer.spectrum, values, rtol=0, atol=1e-6 * values[0])
            shares = np.cumsum(values) / values.sum()
            assert layer.idim == int(np.argmax(shares >= 0.99)) + 1
            assert layer.lsat == layer.idim / layer.dimension


def test_that_samples_are_placed_in_two_directions_with_the_labels_of_their_items(project):
    subject = open_subject(project, "run")
    deltas = _deltas(analyse(subject, _job(project), CancelToken()))
    assert all(not len(layer.embedding) for d in deltas if d.settings["partial"] for layer in d.layers)
    labels = np.concatenate([y.numpy() for _, y in _model(0)[1]("train")])
    for seed, name in enumerate(CHECKPOINTS):
        measured = {d.checkpoint: d for d in deltas if not d.settings["partial"]}[name]
        for layer in measured.layers:
            rows = _expected(seed, int(layer.layer))
            assert np.array_equal(layer.labels, labels[layer.items])
            if layer.layer == "0":  # 16 positions of each picture
                assert np.bincount(layer.items).tolist() == 70 * [512 // 70]
                continue
            assert layer.items.tolist() == list(range(70))
            vectors = np.linalg.eigh(np.cov(rows.T, bias=True))[1][:, :-3:-1]
            vectors *= np.sign(vectors[np.abs(vectors).argmax(0), range(2)])
            placed = (rows - rows.mean(0)) @ vectors
            np.testing.assert_allclose(layer.embedding, placed, atol=1e-4 * np.abs(placed).max())


@pytest.mark.parametrize("series", ["last_timestep", "timestepwise"])
def test_that_steps_of_padded_sequences_carry_the_label_of_their_sequence(tmp_path, series):
    (tmp_path / "run").mkdir()
    (tmp_path / "model.py").write_text(SEQUENCES)
    namespace = {}
    exec(SEQUENCES, namespace)
    torch.save(namespace["build_model"]().state_dict(), tmp_path / "run" / "step_0.pt")
    project = ProjectSpec(
        root=str(tmp_path), script=str(tmp_path / "model.py"), runs=(str(tmp_path / "run"),), trusted=True
    )
    job = _job(project, timeseries_method=series)
    measured = _full(analyse(open_subject(project, "run"), job, CancelToken()))["step_0.pt"]
    assert [layer.layer for layer in measured.layers] == ["gru", "each", "head"]
    lengths = 1 + np.arange(60) % 7
    for layer in measured.layers:
        assert np.array_equal(layer.labels, 1 + layer.items % 19)
        steps = series == "timestepwise" and layer.layer != "head"
        assert np.bincount(layer.items).tolist() == (lengths if steps else np.ones(60, int)).tolist()


def test_that_no_samples_are_kept_where_that_is_not_wanted(project):
    subject = open_subject(project, "run")
    found = _full(analyse(subject, _job(project, embedding=False), CancelToken()))
    assert all(layer.embedding.shape == (0, 2) for one in found.values() for layer in one.layers)


def test_that_the_last_checkpoint_comes_first_after_previews_of_it(project):
    subject = open_subject(project, "run")
    deltas = _deltas(analyse(subject, _job(project), CancelToken()))
    assert isinstance(deltas[0], SaturationMeasured)
    assert (deltas[0].checkpoint, deltas[0].settings["partial"]) == ("step_20.pt", True)
    assert deltas[0].settings["samples"] == 16
    full = [delta.checkpoint for delta in deltas if not delta.settings["partial"]]
    assert full == ["step_20.pt", "step_0.pt", "step_10.pt"]
    assert all(d.checkpoint == "step_20.pt" for d in deltas if d.settings["partial"])


def test_that_the_model_is_put_back_at_the_end(project):
    subject = open_subject(project, "run")
    before, modes = _bits(subject.model), [m.training for m in subject.model.modules()]
    for _ in analyse(subject, _job(project), CancelToken()):
        pass
    assert all(torch.equal(before[n], t) for n, t in subject.model.state_dict().items())
    assert [m.training for m in subject.model.modules()] == modes
    assert _hook_count(subject.model) == 0


def test_that_the_model_is_put_back_when_the_job_is_closed_or_cancelled(project):
    subject = open_subject(project, "run")
    before = _bits(subject.model)
    updates = analyse(subject, _job(project), CancelToken())
    next(updates)
    assert not all(torch.equal(before[n], t) for n, t in subject.model.state_dict().items())
    updates.close()
    assert all(torch.equal(before[n], t) for n, t in subject.model.state_dict().items())

    token = CancelToken()
    updates = analyse(subject, _job(project), token)
    next(updates)
    token.cancel()
    with pytest.raises(JobCancelled):
        list(updates)
    assert all(torch.equal(before[n], t) for n, t in subject.model.state_dict().items())
    assert _hook_count(subject.model) == 0


def test_that_a_cancel_in_the_middle_of_a_forward_is_a_cancel(project):
    subject = open_subject(project, "run")
    token = CancelToken()
    subject.model[4].register_forward_hook(lambda *_: token.cancel())
    with pytest.raises(JobCancelled):
        list(analyse(subject, _job(project), token))
    assert _hook_count(subject.model) == 1


def test_that_a_failing_script_is_told_and_the_model_put_back(tmp_path):
    project = _project(tmp_path, FAILING)
    broken = _model(1)[0].state_dict()
    broken["0.weight"].flatten()[0] = 0.0
    torch.save(broken, tmp_path / "run" / "step_10.pt")
    subject = open_subject(project, "run")
    before = _bits(subject.model)
    seen = []
    with pytest.raises(ScriptError, match="unlucky batch"):
        for update in analyse(subject, _job(project), CancelToken()):
            seen.append(update)
    assert set(_full(seen)) == {"step_20.pt", "step_0.pt"}
    assert all(torch.equal(before[n], t) for n, t in subject.model.state_dict().items())
    assert _hook_count(subject.model) == 0


def test_that_chosen_checkpoints_and_options_are_kept_to(project):
    subject = open_subject(project, "run")
    job = _job(project, ("step_0.pt",), conv_method="mean", idim_rule="delve", sat_threshold=0.9)
    found = _full(analyse(subject, job, CancelToken()))
    assert set(found) == {"step_0.pt"}
    measured = found["step_0.pt"]
    assert measured.threshold == 0.9
    assert measured.layers[0].samples == 70
    assert measured.settings == {
        "samples": 70,
        "partial": False,
        "conv_method": "mean",
        "timeseries_method": "last_timestep",
        "idim_rule": "delve",
        "row_share": 1.0,
    }
    layer = measured.layers[0]
    assert layer.idim == np.count_nonzero(np.cumsum(layer.spectrum) / layer.spectrum.sum() < 0.9)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"checkpoints": ("nope.pt",)}, OptionError),
        ({"sat_threshold": 2.0}, OptionError),
        ({"split": "nope"}, DataError),
    ],
)
def test_that_wrong_options_are_told_in_a_sentence(project, wrong, error):
    subject = open_subject(project, "run")
    with pytest.raises(error) as told:
        list(analyse(subject, _job(project, **wrong), CancelToken()))
    assert isinstance(told.value, LandscopeError)
    assert told.value.sentence.endswith(".")


def test_that_a_file_that_vanished_is_a_notice_and_the_others_go_on(project, tmp_path):
    subject = open_subject(project, "run")
    (tmp_path / "run" / "step_10.pt").unlink()
    updates = list(analyse(subject, _job(project), CancelToken()))
    assert set(_full(updates)) == {"step_0.pt", "step_20.pt"}
    assert [u.level for u in updates if isinstance(u, Notice)] == ["warning"]


def test_that_weights_that_are_not_finite_give_counted_rows_and_no_failure(project, tmp_path):
    state = _model(1)[0].state_dict()
    state["4.weight"].fill_(float("nan"))
    torch.save(state, tmp_path / "run" / "step_10.pt")
    found = _full(analyse(open_subject(project, "run"), _job(project), CancelToken()))["step_10.pt"]
    conv, first, second = found.layers
    assert conv.nonfinite == 0 and conv.idim > 0
    assert (first.samples, first.nonfinite, second.nonfinite) == (0, 70, 70)
    assert np.isnan(first.lsat)


def test_that_progress_ends_at_its_total(project):
    updates = list(analyse(open_subject(project, "run"), _job(project), CancelToken()))
    last = [u for u in updates if isinstance(u, Progress)][-1]
    assert last.done == last.total == 15


def test_that_too_little_memory_is_a_notice_before_anything_runs(project, monkeypatch):
    subject, job = open_subject(project, "run"), _job(project, ("step_0.pt",))
    assert not [one for one in analyse(subject, job, CancelToken()) if isinstance(one, Notice)]
    monkeypatch.setattr("landscope.saturation.memory.free_bytes", lambda _: 1_000_000)
    first = next(analyse(subject, job, CancelToken()))
    assert isinstance(first, Notice)
    assert "The covariances of 3 layers may take" in first.sentence
    assert "conv_method" in first.sentence
