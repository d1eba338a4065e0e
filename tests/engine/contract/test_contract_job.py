"""The token that stops, holds and releases a job; the plan of jobs."""

import threading

import pytest

from landscope.contract.errors import JobCancelled
from landscope.contract.job import CancelToken, DistanceJob, Pace, PlaneJob
from landscope.contract.options import ProjectSpec
from landscope.contract.plan import needed_checkpoints, plan


def test_that_a_cancelled_job_stops_at_its_next_check():
    token = CancelToken()
    token.check()
    token.cancel()
    with pytest.raises(JobCancelled):
        token.check()


def test_that_a_paused_job_waits_until_resumed_and_its_wait_is_known():
    token, passed = CancelToken(), threading.Event()
    token.pause()

    def work():
        token.check()
        passed.set()

    worker = threading.Thread(target=work)
    worker.start()
    assert not passed.wait(0.05)
    token.resume()
    assert passed.wait(5)
    worker.join()
    assert token.waited_s >= 0.04


def test_that_a_paused_job_can_be_cancelled():
    token, stopped = CancelToken(), threading.Event()
    token.pause()

    def work():
        try:
            token.check()
        except JobCancelled:
            stopped.set()

    worker = threading.Thread(target=work)
    worker.start()
    token.cancel()
    assert stopped.wait(5)
    worker.join()


def test_that_time_left_is_not_guessed_before_anything_is_done():
    assert Pace(10, CancelToken()).eta_s(0) is None
    assert Pace(10, CancelToken()).eta_s(10) == 0


def test_that_an_untrusted_script_leaves_only_distances():
    spec = ProjectSpec(root="/p", script="/p/model.py", runs=("/p/a",))
    assert {type(job) for _, job in plan(spec, ("a",))} == {DistanceJob}


def test_that_a_trusted_project_gets_everything_for_every_run():
    spec = ProjectSpec(root="/p", script="/p/model.py", runs=("/p/a", "/p/b"), trusted=True)
    names = [name for name, _ in plan(spec, ("a", "b"))]
    assert len(names) == len(set(names)) == 12
    planes = [job for _, job in plan(spec, ("a",), ("plane",))]
    assert [job.kind for job in planes if isinstance(job, PlaneJob)] == ["trajectory", "random"]


def test_that_jobs_of_the_plan_say_how_many_checkpoints_they_need():
    project = ProjectSpec(root="/p", script="/p/m.py", trusted=True)
    needed = {name: needed_checkpoints(job) for name, job in plan(project, ("r",))}
    assert {name: count for name, count in needed.items() if count} == {"r-line": 2, "r-trajectory": 3}
