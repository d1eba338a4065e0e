"""A checkpoint whose damage shows only when it is read: every job goes on with the others and says so."""

import hashlib

import msgspec
import pytest
import torch

from landscope.checkpoints.guarded import guard, known
from landscope.contract import job as j
from landscope.contract.deltas import CheckpointMeasured, DistancesMeasured, RunListed, SaturationMeasured
from landscope.contract.events import Done, Notice, Partial
from landscope.contract.job import CancelToken
from landscope.project.opening import open_subject
from landscope.runner.bench import Bench
from landscope.runner.run import run_job


@pytest.fixture
def damaged(real_project, tmp_path, monkeypatch):
    """The project, whose third checkpoint is damaged in its weights, and that checkpoint's name."""
    monkeypatch.setattr(guard, "_CHECKED_SIZE", 0)
    monkeypatch.setattr(guard, "_known", known.Known())
    subject = open_subject(real_project, "run")
    name = subject.names[2]
    path = tmp_path / "project" / "run" / name
    weights = subject.state(name)["0.weight"].numpy().tobytes()
    content = bytearray(path.read_bytes())
    content[content.find(weights) + 3] ^= 64
    path.write_bytes(content)
    return real_project, name


def played(job):
    return [event.body for event in run_job("1", job, Bench(), CancelToken())]


@pytest.mark.parametrize(
    ("kind", "measured"),
    [
        (j.EvaluateJob, CheckpointMeasured),
        (j.SaturationJob, SaturationMeasured),
        (j.DistanceJob, DistancesMeasured),
    ],
)
def test_that_the_rest_of_a_run_is_measured_and_the_damage_told(damaged, kind, measured):
    project, name = damaged
    bodies = played(kind(project=project, run="run"))
    deltas = [body.delta for body in bodies if isinstance(body, Partial)]
    found = {delta.checkpoint for delta in deltas if isinstance(delta, measured)}
    assert isinstance(bodies[-1], Done) and len(found) == 4 and name not in found
    assert any("checksum" in body.sentence for body in bodies if isinstance(body, Notice))
    if kind is not j.DistanceJob:
        *_, last = [delta for delta in deltas if isinstance(delta, RunListed)]
        assert [(info.name, info.state) for info in last.others] == [(name, "skipped")]
        assert "checksum" in last.others[0].reason


def test_that_a_damaged_checkpoint_leaves_the_model_as_it_is(damaged):
    project, name = damaged
    subject = open_subject(project, "run")
    subject.load(subject.names[0])
    before = {key: value.clone() for key, value in subject.model.state_dict().items()}
    with pytest.raises(Exception, match="checksum"):
        subject.load(name)
    assert all(torch.equal(before[key], value) for key, value in subject.model.state_dict().items())


def test_that_the_identity_of_a_sharded_checkpoint_is_that_of_all_its_files(real_project, tmp_path):
    from safetensors.torch import save_file

    subject = open_subject(real_project, "run")
    folder = tmp_path / "project" / "sharded" / "step_1"
    folder.mkdir(parents=True)
    state = subject.state(subject.names[0])
    for number, key in enumerate(state):
        save_file({key: state[key]}, folder / f"{number}.safetensors")
    places = {key: f"{number}.safetensors" for number, key in enumerate(state)}
    index = folder / "model.safetensors.index.json"
    index.write_bytes(msgspec.json.encode({"weight_map": places}))
    runs = (*real_project.runs, str(folder.parent))
    sharded = open_subject(msgspec.structs.replace(real_project, runs=runs), "sharded")
    found = {sharded.sha256(sharded.names[0])}
    assert hashlib.sha256(index.read_bytes()).hexdigest() not in found
    save_file({key: value + 1 for key, value in [*state.items()][:1]}, folder / "0.safetensors")
    sharded.refresh()
    assert sharded.sha256(sharded.names[0]) not in found
