"""Lines and planes of a real project: a script, files on disk, and nothing of the model moved."""

import numpy as np
import pytest
import torch

from landscope.contract.job import CancelToken, LineJob, PlaneJob
from landscope.contract.options import LandscapeOptions, ProjectSpec
from landscope.landscape.analysis import analyse_line, analyse_plane
from landscope.project.opening import open_subject

SCRIPT = """
import torch
from torch import nn


def build_model():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))


def build_data(split):
    generator = torch.Generator().manual_seed(len(split))
    x, y = torch.randn(60, 1, 8, 8, generator=generator), torch.arange(60) % 3
    return list(zip(x.split(16), y.split(16)))
"""


@pytest.fixture
def subject(tmp_path, build):
    (tmp_path / "script.py").write_text(SCRIPT)
    runs = tmp_path / "runs"
    runs.mkdir()
    generator = torch.Generator().manual_seed(1)
    shapes = {"0.weight": (4, 1, 3, 3), "0.bias": (4,), "1.weight": (4,), "1.bias": (4,)}
    shapes |= {"1.running_mean": (4,), "4.weight": (3, 144), "4.bias": (3,)}
    for step in range(4):
        state = {name: torch.randn(shape, generator=generator) * 0.2 for name, shape in shapes.items()}
        state |= {"1.running_var": torch.rand(4, generator=generator) + 0.5}
        torch.save(state | {"1.num_batches_tracked": torch.tensor(step)}, runs / f"step_{step}.pt")
    project = ProjectSpec(
        root=str(tmp_path), script=str(tmp_path / "script.py"), runs=(str(runs),), trusted=True
    )
    found = open_subject(project, "runs")
    yield found
    found.close()


def test_that_a_plane_of_files_has_the_checkpoints_own_loss_at_its_centre(subject, gather, build):
    before = {name: value.clone() for name, value in subject.model.state_dict().items()}
    job = PlaneJob(
        project=subject.project, id="p", run="runs", options=LandscapeOptions(grid=5, split="test")
    )
    session, _ = gather(analyse_plane(subject, job, CancelToken()))
    plane = session.planes["p"]
    assert all(torch.equal(value, before[name]) for name, value in subject.model.state_dict().items())
    state = torch.load(f"{subject.folder}/step_3.pt", weights_only=True)
    subject.model.load_state_dict(state)
    own = build.plain_loss(subject.model, subject.data.batches("test"))
    assert plane.values["loss"][2, 2] == pytest.approx(own, rel=1e-6)
    assert plane.opened.settings["samples"] == 60 and np.isfinite(plane.values["loss_se"]).all()


@pytest.mark.parametrize("kind", ["line", "trajectory"])
def test_that_lines_and_paths_of_files_are_measured(kind, subject, gather):
    options = LandscapeOptions(grid=5, points=5)
    if kind == "line":
        job = LineJob(project=subject.project, id="x", run="runs", options=options)
        session, _ = gather(analyse_line(subject, job, CancelToken()))
        found = session.lines["x"].values
    else:
        job = PlaneJob(project=subject.project, id="x", run="runs", kind=kind, options=options)
        session, _ = gather(analyse_plane(subject, job, CancelToken()))
        found = session.planes["x"].values
        assert session.planes["x"].trajectories["runs"].checkpoints == subject.names
    assert np.isfinite(found["loss"]).all() and np.isfinite(found["accuracy"]).all()
