"""Lines: both ends, both losses, barriers, and what is said on the way."""

import numpy as np
import pytest
import torch

from landscope.contract.deltas import LineOpened, LinePoints
from landscope.contract.errors import CheckpointError, OptionError
from landscope.contract.events import Notice, Partial, Progress
from landscope.contract.job import CancelToken, LineJob
from landscope.contract.options import LandscapeOptions
from landscope.landscape.analysis import analyse_line
from landscope.landscape.evaluate import PointMeter


@pytest.fixture
def run(gather):
    def line(subject, start="", end="", **options):
        options = LandscapeOptions(**{"points": 5, **options})
        job = LineJob(project=subject.project, id="l", run="run", start=start, end=end, options=options)
        session, said = gather(analyse_line(subject, job, CancelToken()))
        return session.lines["l"], said

    return line


def recalibrated_loss(subject, checkpoint):
    subject.load(checkpoint)
    meter = PointMeter(subject, "train", "recalibrated", "recalibrated", CancelToken())
    return meter.measure()["loss"]


def test_that_the_ends_are_the_checkpoints_losses_under_the_policy(build, run):
    subject = build.path()
    line, _ = run(subject)
    assert (line.opened.start, line.opened.end) == ("step_0.pt", "step_4.pt")
    ends = [recalibrated_loss(subject, name) for name in ("step_0.pt", "step_4.pt")]
    assert line.values["loss"][[0, -1]] == pytest.approx(ends, rel=1e-6)


def test_that_the_stored_loss_uses_the_statistics_of_the_start(build, run):
    subject = build.path()
    line, _ = run(subject)
    subject.load("step_0.pt")
    frozen = subject.data.batches("train")
    assert line.values["loss_stored"][0] == pytest.approx(build.plain_loss(subject.model, frozen), rel=1e-6)
    weights = dict(subject.model.named_parameters())
    with torch.no_grad():
        for name, value in subject.state("step_4.pt").items():
            if name in weights:
                weights[name].copy_(value)
    assert line.values["loss_stored"][-1] == pytest.approx(build.plain_loss(subject.model, frozen), rel=1e-6)
    assert line.opened.settings["loss_stored"] == "with the BatchNorm statistics stored in step_0.pt"


def test_that_accuracy_comes_with_the_loss(build, run):
    line, _ = run(build.path())
    assert ((line.values["accuracy"] >= 0) & (line.values["accuracy"] <= 1)).all()


def test_that_a_frozen_line_has_one_loss(build, run):
    line, _ = run(build.path(), batchnorm="frozen")
    assert "loss_stored" not in line.values and line.opened.settings["batchnorm"] == "frozen"


def test_that_a_line_opens_first_and_ends_with_both_barriers(build, run):
    _, said = run(build.path(), points=9)
    assert isinstance(said[0].delta, LineOpened)
    points = [u.delta for u in said if isinstance(u, Partial) and isinstance(u.delta, LinePoints)]
    order = np.concatenate([p.indices for p in points])
    assert order[:3].tolist() == [0, 8, 4] and sorted(order) == list(range(9))
    assert isinstance(said[-1], Notice) and "Frankle" in said[-1].sentence and "Entezari" in said[-1].sentence
    progress = [u for u in said if isinstance(u, Progress)]
    assert progress[-1].done == progress[-1].total == 9


def test_that_a_line_between_chosen_checkpoints_can_be_extended(build, run):
    line, _ = run(build.path(), start="step_3.pt", end="step_1.pt", extend=0.5)
    assert line.opened.coordinates[[0, -1]].tolist() == [-0.5, 1.5]
    assert np.isfinite(line.values["loss"]).all()


def test_that_frozen_parameters_that_differ_are_moved_too(build, run):
    subject = build.path()
    subject.model.fc.requires_grad_(False)
    line, _ = run(subject)
    ends = [recalibrated_loss(subject, name) for name in ("step_0.pt", "step_4.pt")]
    assert line.values["loss"][[0, -1]] == pytest.approx(ends, rel=1e-6)


@pytest.mark.parametrize(
    "options,error,sentence",
    [
        ({"start": "step_4.pt"}, OptionError, "both ends are “step_4.pt”"),
        ({"end": "no.pt"}, OptionError, "no checkpoint “no.pt”"),
        ({"points": 1}, OptionError, "at least two points"),
        ({"start": "step_1.pt"}, CheckpointError, "hold NaN"),
    ],
)
def test_that_wrong_lines_are_one_sentence(options, error, sentence, build, run):
    subject = build.path()
    subject._states["step_1.pt"]["fc.bias"][0] = float("nan")
    with pytest.raises(error, match=sentence):
        run(subject, **options)


def test_that_buffers_that_differ_between_the_ends_are_told(build, run):
    subject = build.path()
    _, said = run(subject)
    assert not any("buffers" in u.sentence for u in said if isinstance(u, Notice))
    subject.model.register_buffer("scale", torch.ones(1))
    for step, state in enumerate(subject._states.values()):
        state["scale"] = torch.full((1,), float(step))
    _, said = run(subject)
    assert any("(scale), which differ in step_4.pt" in u.sentence for u in said if isinstance(u, Notice))


def test_that_diverged_ends_are_passed_over(build, run):
    subject = build.path()
    subject._states["step_0.pt"]["fc.bias"][0] = float("nan")
    subject._states["step_4.pt"]["fc.bias"][0] = float("nan")
    line, _ = run(subject)
    assert (line.opened.start, line.opened.end) == ("step_1.pt", "step_3.pt")
