"""Opening jobs, previews, costs, choices, resuming, undo."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fake_session import RUNS, fake_session
from window_fakes import plane_job

from landscope.contract.job import DistanceJob, EvaluateJob, LineJob, ListJob, PlaneJob, SaturationJob
from landscope.contract.options import LandscapeOptions, ProjectSpec
from landscope.session.model import EMPTY, Session
from landscope_app.state.choices import Choices, cost_of, from_project, job_of
from landscope_app.state.cost import CostModel
from landscope_app.state.opening import opening_jobs
from landscope_app.state.preview import Refinement, duration, next_level, stops_here
from landscope_app.state.resume import known_points, resumed
from landscope_app.state.undo import UndoStack

PROJECT = ProjectSpec(root="/p", script="/p/m.py", runs=("/p/a", "/p/b"), trusted=True)


def kinds(project: ProjectSpec) -> list[type]:
    return [type(job) for _name, job in opening_jobs(project, ("a", "b"))]


def test_that_the_list_comes_first_then_bars_before_losses_before_distances():
    found = kinds(PROJECT)
    assert found[0] is ListJob
    assert found.index(SaturationJob) < found.index(EvaluateJob) < found.index(DistanceJob)


def test_that_everything_about_the_first_run_comes_before_the_others():
    jobs = [job for _name, job in opening_jobs(PROJECT, ("a", "b"))]
    runs = [job.run for job in jobs if isinstance(job, (SaturationJob, EvaluateJob, DistanceJob))]
    assert runs == ["a"] * 3 + ["b"] * 3


def test_that_the_cheapest_plane_comes_first_then_every_trajectory_and_lines_last():
    jobs = [job for _name, job in opening_jobs(PROJECT, ("a", "b")) if isinstance(job, (PlaneJob, LineJob))]
    assert [(getattr(job, "kind", "line"), job.run) for job in jobs] == [
        ("random", "a"),
        ("trajectory", "a"),
        ("trajectory", "b"),
        ("random", "b"),
        ("line", "a"),
        ("line", "b"),
    ]


@pytest.mark.parametrize("change", [{"script": ""}, {"trusted": False}])
def test_that_without_script_or_trust_only_distances_are_asked_for(change):
    import msgspec

    assert set(kinds(msgspec.structs.replace(PROJECT, **change))) == {ListJob, DistanceJob}


def test_that_every_job_of_the_window_has_one_thread_unless_the_project_says_otherwise():
    assert {job.project.engine.threads for _name, job in opening_jobs(PROJECT, ("a",))} == {1}


def test_that_a_preview_always_reaches_nine_points_and_stops_where_the_next_level_costs_too_much():
    assert not stops_here(5, 33, 1000.0)
    assert not stops_here(9, 33, 8.0)
    assert stops_here(9, 33, 9.0)
    assert not stops_here(33, 33, 1000.0)
    assert next_level(9, 33) == 17
    assert next_level(33, 33) == 33


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""),
        (math.nan, ""),
        (math.inf, ""),
        (0.2, "1 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (3600, "1 h"),
        (5000, "1 h 23 min"),
    ],
)
def test_that_durations_are_said_as_people_say_them(seconds, said):
    assert duration(seconds) == said


def test_that_a_refinement_counts_only_what_is_left():
    assert Refinement(9, 33, None).evaluations == 33**2 - 9**2


def test_that_cost_is_learnt_and_scales_with_points_and_samples():
    model = CostModel()
    assert model.expect("a", "frozen", 100, 10).seconds is None
    model.learn("a", "frozen", 100, 25, 5.0)
    assert model.expect("a", "frozen", 200, 50).seconds == pytest.approx(20.0)
    assert model.expect("a", "recalibrated", 100, 25).seconds == pytest.approx(5.0 * 2.3)
    assert model.expect("b", "frozen", 100, 25).seconds is None


def test_that_choices_become_the_job_and_its_cost():
    session = Session()
    choices = Choices(kind="random", reach=0.5, seed=7, samples=256, grid=17, device="cpu", base="c.pt")
    job = job_of(choices, PROJECT, "a", session)
    assert isinstance(job, PlaneJob)
    assert (job.id, job.kind, job.base) == ("a-random", "random", "c.pt")
    assert (job.options.reach, job.options.seed, job.options.grid) == (0.5, 7, 17)
    assert (job.project.data.samples, job.project.engine.device) == (256, "cpu")
    assert cost_of(choices, PROJECT, "a", CostModel()).evaluations == 289


def test_that_a_line_goes_from_the_first_checkpoint_to_the_chosen_one():
    job = job_of(Choices(shape="line", grid=17, base="c.pt"), PROJECT, "a", Session())
    assert isinstance(job, LineJob)
    assert (job.end, job.options.points) == ("c.pt", 17)


def test_that_another_seed_does_not_replace_the_plane_that_is_there():
    session = fake_session()
    name = f"{RUNS[0]}-random"
    assert name in session.planes, "the made-up session follows the ids of the plan"
    assert job_of(Choices(kind="random", seed=3), PROJECT, RUNS[0], session).id != name


def test_that_choices_begin_with_what_the_project_says():
    import msgspec

    project = msgspec.structs.replace(PROJECT, landscape=LandscapeOptions(grid=65, seed=4, reach=2.0))
    found = from_project(project)
    assert (found.grid, found.seed, found.reach) == (65, 4, 2.0)


def test_that_a_resumed_plane_brings_exactly_the_points_that_were_measured():
    session = fake_session((RUNS[0],), grid=9)
    plane = session.planes[f"{RUNS[0]}-random"]
    plane.state[:, 3] = EMPTY
    known = known_points(plane)
    assert known is not None
    assert len(known.rows) == 9 * 8
    assert 3 not in known.columns
    assert np.array_equal(
        known.values["loss"], plane.values["loss"][known.rows, known.columns], equal_nan=True
    )


def test_that_a_plane_on_another_grid_is_not_resumed():
    import msgspec

    session = fake_session((RUNS[0],), grid=9)
    settings = session.planes[f"{RUNS[0]}-random"].opened.settings
    options = LandscapeOptions(grid=9, seed=settings.get("seed", 0), reach=settings.get("reach", 1.0))
    job = msgspec.structs.replace(
        plane_job(), id=f"{RUNS[0]}-random", run=RUNS[0], kind="random", options=options
    )
    assert resumed(job, session).known is not None
    other = msgspec.structs.replace(job, options=msgspec.structs.replace(options, grid=17))
    assert resumed(other, session).known is None
    assert resumed(job, Session()) is job


def test_that_undo_goes_back_and_redo_forward_until_something_new_happens():
    stack: UndoStack[int] = UndoStack(0)
    for state in (1, 2, 2, 3):
        stack.push(state)
    assert [stack.undo(), stack.undo(), stack.redo()] == [2, 1, 2]
    stack.push(9)
    assert not stack.can_redo
    assert [stack.undo(), stack.undo(), stack.undo(), stack.undo()] == [2, 1, 0, 0]


def test_that_merged_states_are_one_step():
    stack: UndoStack[int] = UndoStack(0)
    stack.push(1)
    stack.push(2, merge=True)
    assert stack.undo() == 0
