"""Planes: what is yielded, in which order, with which numbers."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from landscope.contract.deltas import PlaneLevel, PlaneOpened, PlanePoints, TrajectoryMeasured
from landscope.contract.errors import CheckpointError, OptionError
from landscope.contract.events import Notice, Partial, Progress
from landscope.contract.frames import decoder, encode
from landscope.contract.job import CancelToken, KnownPoints, PlaneJob
from landscope.contract.options import LandscapeOptions
from landscope.landscape.analysis import analyse_plane


def job_for(subject, kind="random", base="", known=None, **options):
    options = LandscapeOptions(**{"grid": 5, **options})
    return PlaneJob(
        project=subject.project, id="p", run="run", kind=kind, base=base, options=options, known=known
    )


@pytest.fixture
def run(gather):
    def plane(subject, kind="random", **options):
        session, said = gather(analyse_plane(subject, job_for(subject, kind, **options), CancelToken()))
        return session.planes["p"], said

    return plane


def deltas(said, kind):
    return [u.delta for u in said if isinstance(u, Partial) and isinstance(u.delta, kind)]


def independent_loss(build, subject, checkpoint):
    subject.load(checkpoint)
    return build.plain_loss(subject.model, subject.data.batches("train"))


def test_that_the_centre_is_the_checkpoints_own_loss(build, run):
    subject = build.path()
    plane, _ = run(subject)
    assert plane.opened.base == "step_4.pt" and plane.opened.settings["batchnorm"] == "frozen"
    own = independent_loss(build, subject, "step_4.pt")
    assert plane.values["loss"][2, 2] == pytest.approx(own, rel=1e-6)


def test_that_a_recalibrated_centre_states_both_losses(build, run):
    subject = build.path()
    plane, _ = run(subject, batchnorm="recalibrated")
    own = independent_loss(build, subject, "step_4.pt")
    assert plane.values["loss_stored"][2, 2] == pytest.approx(own, rel=1e-6)
    assert plane.values["loss"][2, 2] != pytest.approx(own, rel=1e-4)
    assert np.isnan(plane.values["loss_stored"]).sum() == 24


def test_that_every_point_is_the_loss_at_its_weights(build, run):
    subject = build.path()
    plane, _ = run(subject, reach=0.5, seed=7)
    from landscope.weights.directions import random_pair
    from landscope.weights.vector import ParameterVector

    subject.load("step_4.pt")
    vector = ParameterVector(subject.model)
    pair = random_pair(vector, subject.model, 7)
    first, second = vector.views(pair.first), vector.views(pair.second)
    base = {name: p.detach().clone() for name, p in subject.model.named_parameters()}
    for i, alpha in enumerate(plane.opened.alpha):
        for j, beta in enumerate(plane.opened.beta):
            with torch.no_grad():
                for name, p in subject.model.named_parameters():
                    p.copy_(base[name] + alpha * first[name] + beta * second[name])
            loss = build.plain_loss(subject.model, subject.data.batches("train"))
            assert plane.values["loss"][i, j] == pytest.approx(loss, rel=1e-5)


def test_that_a_plane_opens_first_then_its_path_then_the_centre(build, run):
    _, said = run(build.path(), "trajectory", grid=9)
    kinds = [type(u.delta) for u in said if isinstance(u, Partial)]
    assert kinds[:2] == [PlaneOpened, TrajectoryMeasured]
    first = deltas(said, PlanePoints)[0]
    opened = deltas(said, PlaneOpened)[0]
    assert opened.alpha[first.rows[0]] == 0 and opened.beta[first.columns[0]] == 0
    levels = deltas(said, PlaneLevel)
    assert [level.points for level in levels] == [5, 9]
    assert np.isnan(levels[0].surplus) and levels[1].surplus > 0


def test_that_progress_reaches_its_total(build, run):
    _, said = run(build.path(), "trajectory", grid=9)
    progress = [u for u in said if isinstance(u, Progress)]
    assert progress[-1].done == progress[-1].total == 81 + 2 * 5
    assert progress[0].eta_s is None and progress[-1].eta_s == 0


def test_that_everything_said_can_travel(build, run):
    _, said = run(build.path(), "trajectory")
    for update in said:
        again = decoder(type(update)).decode(encode(update)[4:])
        assert type(again) is type(update)


def test_that_a_seed_draws_the_same_plane_and_another_seed_another(build, run):
    once, again, other = (run(build.path(), seed=seed)[0] for seed in (3, 3, 4))
    assert np.array_equal(once.values["loss"], again.values["loss"])
    assert once.opened.settings["sha256_first"] == again.opened.settings["sha256_first"]
    assert once.opened.settings["sha256_first"] != other.opened.settings["sha256_first"]
    assert once.opened.settings["seed"] == 3


def test_that_known_points_are_not_measured_again(build, run, gather):
    subject = build.path()
    whole, _ = run(subject, grid=9)
    rows, columns = np.nonzero(np.ones((9, 9)))
    keep = np.arange(81) % 3 != 0
    known = KnownPoints(
        rows=rows[keep],
        columns=columns[keep],
        values={"loss": whole.values["loss"][rows[keep], columns[keep]]},
    )
    resumed, said = run(subject, grid=9, known=known)
    sent = sum(len(points.rows) for points in deltas(said, PlanePoints))
    assert sent == 81 - keep.sum()
    missing = ~keep.reshape(9, 9)
    assert np.array_equal(resumed.values["loss"][missing], whole.values["loss"][missing])
    assert resumed.levels[9] == pytest.approx(whole.levels[9])
    assert next(u for u in said if isinstance(u, Progress)).done == keep.sum()


def test_that_known_points_outside_the_grid_are_ignored(build, run):
    known = KnownPoints(
        rows=np.array([99, -1]), columns=np.array([0, 0]), values={"loss": np.array([1.0, 2.0])}
    )
    plane, _ = run(build.path(), known=known)
    assert np.isfinite(plane.values["loss"]).all()


def test_that_a_smooth_plane_stops_early_when_asked(build, run):
    plane, said = run(build.path(), grid=33, reach=0.05, stop_surplus=0.2)
    assert max(plane.levels) == 9
    assert np.isnan(plane.values["loss"]).sum() == 33**2 - 81
    assert any("finished at 9 × 9" in u.sentence for u in said if isinstance(u, Notice))


def test_that_the_path_lies_on_its_plane(build, run):
    subject = build.path()
    plane, said = run(subject, "trajectory")
    early, late = deltas(said, TrajectoryMeasured)[0], plane.trajectories["run"]
    assert np.isnan(early.plane_loss).all() and np.array_equal(early.coordinates, late.coordinates)
    assert late.checkpoints == subject.names
    assert late.coordinates[-1].tolist() == [0, 0] and late.residuals[-1] == pytest.approx(0, abs=1e-6)
    own = [independent_loss(build, subject, name) for name in subject.names]
    assert late.true_loss == pytest.approx(own, rel=1e-6)
    assert late.plane_loss[-1] == pytest.approx(plane.values["loss"][plane_centre(plane)], rel=1e-6)
    assert plane.opened.axis_titles[0] == f"α · {100 * late.explained[0]:.1f} %"
    for axis, column in ((plane.opened.alpha, 0), (plane.opened.beta, 1)):
        assert axis[0] < late.coordinates[:, column].min() and late.coordinates[:, column].max() < axis[-1]


def plane_centre(plane):
    return list(plane.opened.alpha).index(0.0), list(plane.opened.beta).index(0.0)


def test_that_a_trajectory_plane_can_be_seen_from_another_checkpoint(build, run):
    plane, _ = run(build.path(), "trajectory", base="step_1.pt")
    assert plane.opened.base == "step_1.pt"
    assert plane.trajectories["run"].coordinates[1].tolist() == [0, 0]


def test_that_a_random_plane_shows_its_base_only(build, run):
    plane, _ = run(build.path(), base="step_2.pt")
    path = plane.trajectories["run"]
    assert path.checkpoints == ("step_2.pt",) and np.isnan(path.explained).all()
    assert path.plane_loss[0] == plane.values["loss"][2, 2]


def test_that_checkpoints_with_nan_are_left_out_with_a_notice(build, run):
    subject = build.path(6)
    subject._states["step_2.pt"]["fc.bias"][0] = float("nan")
    subject._states["step_5.pt"]["fc.bias"][0] = float("inf")
    plane, said = run(subject, "trajectory")
    assert plane.trajectories["run"].checkpoints == ("step_0.pt", "step_1.pt", "step_3.pt", "step_4.pt")
    assert plane.opened.base == "step_4.pt"
    left_out = [u.sentence for u in said if isinstance(u, Notice) and "left out of the path" in u.sentence]
    assert ["“step_2.pt”" in left_out[0], "“step_5.pt”" in left_out[1]] == [True, True]
    _, said = run(subject)
    assert any("“step_4.pt”" in u.sentence for u in said if isinstance(u, Notice))


@pytest.mark.parametrize(
    "options,error,sentence",
    [
        ({"base": "no.pt"}, OptionError, "no checkpoint “no.pt”"),
        ({"grid": 7}, OptionError, "points per axis, not 7"),
        ({"reach": -1.0}, OptionError, "positive number"),
        ({"split": "test"}, OptionError, 'no split called "test"'),
        ({"normalization": "weight"}, OptionError, "no normalisation"),
        ({"base": "step_1.pt"}, CheckpointError, "hold NaN or infinite values"),
    ],
)
def test_that_wrong_options_are_one_sentence(options, error, sentence, build, run):
    subject = build.path()
    subject._states["step_1.pt"]["fc.bias"][0] = float("nan")
    with pytest.raises(error, match=sentence):
        run(subject, **options)


def test_that_two_checkpoints_are_too_few_for_a_trajectory(build, run):
    with pytest.raises(OptionError, match="at least three usable checkpoints; there are 2"):
        run(build.path(2), "trajectory")


def test_that_a_file_that_cannot_be_read_does_not_stop_the_rest(build, run):
    subject = build.path()
    del subject._states["step_1.pt"]["fc.bias"]
    plane, said = run(subject, "trajectory")
    assert plane.trajectories["run"].checkpoints == ("step_0.pt", "step_2.pt", "step_3.pt", "step_4.pt")
    assert any("fc.bias" in u.sentence for u in said if isinstance(u, Notice))


def test_that_a_run_of_nan_is_told(build, run):
    subject = build.path(3)
    for state in subject._states.values():
        state["fc.bias"][:] = float("nan")
    with pytest.raises(CheckpointError, match="No checkpoint of “run” can be used"):
        run(subject)


def test_that_a_diverged_loss_is_a_value_and_is_counted(build, run):
    base = build.path()

    def loss(model, batch):
        found = functional.cross_entropy(model(batch[0]), batch[1])
        return found if found < 3 else found * float("nan")

    subject = build.subject(base.model, base._states, {"train": list(base.data.batches("train"))}, loss)
    plane, said = run(subject, reach=4.0)
    holes = int(np.isnan(plane.values["loss"]).sum())
    assert 0 < holes < 25 and (plane.state == 2).all()
    assert any(u.sentence.startswith(f"{holes} of 25 points") for u in said if isinstance(u, Notice))


def test_that_a_model_without_batchnorm_needs_no_policy(build, run):
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 5))
    base = build.path()
    states = {"a": {k: v.clone() for k, v in model.state_dict().items()}}
    subject = build.subject(model, states, {"train": list(base.data.batches("train"))})
    plane, _ = run(subject, batchnorm="recalibrated")
    assert plane.opened.settings["batchnorm"] == "none needed"


def test_that_a_model_without_trainable_parameters_is_moved_all_the_same(build, run):
    subject = build.path()
    subject.model.requires_grad_(False)
    plane, _ = run(subject)
    assert np.ptp(plane.values["loss"]) > 0


def test_that_frozen_parameters_are_held_on_random_planes(build, run):
    subject = build.path()
    subject.model.conv1.requires_grad_(False)
    plane, _ = run(subject)
    trainable = sum(p.numel() for p in subject.model.parameters() if p.requires_grad)
    assert plane.opened.settings["parameters"] == trainable
