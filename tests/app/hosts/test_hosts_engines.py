from __future__ import annotations

import os

import pytest
from window_fakes import (
    DEAF,
    DYING,
    ENDLESS,
    FAILING,
    QUICK,
    distance_job,
    fake_host,
    plane_job,
    settle,
    wait_until,
)

from landscope_app.hosts.engines import Engines


@pytest.fixture
def engines(qapp):
    made = Engines(make_host=fake_host)
    made.over, made.said = [], []
    made.ended.connect(made.over.append)
    made.trouble.connect(lambda *said: made.said.append(said))
    yield made
    made.close()
    made.deleteLater()
    settle()


def state(engines: Engines, name: str) -> str:
    return engines.table[name].state


def test_that_jobs_of_one_queue_run_one_after_the_other(engines):
    first = engines.submit("a", distance_job(ENDLESS))
    second = engines.submit("b", distance_job(QUICK))
    wait_until(lambda: engines.table[first].done > 0)
    assert state(engines, second) == "queued"
    engines.cancel(first)
    wait_until(lambda: state(engines, second) == "done")
    assert state(engines, first) == "cancelled"


def test_that_lines_and_planes_have_a_host_of_their_own(engines):
    engines.submit("a", distance_job(ENDLESS))
    engines.submit("p", plane_job(QUICK))
    wait_until(lambda: state(engines, "p") == "done")
    assert state(engines, "a") == "running"
    assert engines.pid("statistics") != engines.pid("landscape")


def test_that_a_cancel_shows_stopping_at_once_and_is_overdue_when_nobody_answers(engines):
    engines.submit("a", distance_job(DEAF))
    wait_until(lambda: engines.table["a"].began > 0)
    engines.cancel("a")
    assert state(engines, "a") == "stopping"
    assert engines.table.overdue(0.0) == ("a",)


def test_that_stop_now_ends_a_deaf_job_and_the_next_one_runs_in_a_new_host(engines):
    engines.submit("a", distance_job(DEAF))
    engines.submit("b", distance_job(QUICK))
    wait_until(lambda: engines.pid("statistics"))
    pid = engines.pid("statistics")
    engines.cancel("a")
    engines.stop_now("a")
    wait_until(lambda: state(engines, "b") == "done")
    assert state(engines, "a") == "cancelled"
    assert engines.pid("statistics") != pid
    assert not engines.said


def test_that_a_host_killed_from_outside_is_a_sentence_and_the_rest_goes_on(engines):
    engines.submit("a", distance_job(ENDLESS))
    engines.submit("b", distance_job(QUICK))
    wait_until(lambda: engines.table["a"].done > 0)
    os.kill(engines.pid("statistics"), 9)
    wait_until(lambda: state(engines, "b") == "done")
    assert state(engines, "a") == "failed"
    assert "signal 9" in engines.said[0][0]


def test_that_a_host_that_dies_again_and_again_is_not_started_for_ever(engines):
    for k in range(6):
        engines.submit(f"j{k}", distance_job(DYING))
    wait_until(lambda: len(engines.over) == 6)
    states = [state(engines, f"j{k}") for k in range(6)]
    assert states == ["failed"] * 3 + ["cancelled"] * 3


def test_that_pause_and_resume_are_followed(engines):
    engines.submit("a", distance_job(ENDLESS))
    wait_until(lambda: engines.table["a"].done > 0)
    engines.pause("a")
    wait_until(lambda: state(engines, "a") == "paused")
    engines.resume("a")
    wait_until(lambda: state(engines, "a") == "running")


def test_that_a_failure_keeps_sentence_and_detail(engines):
    engines.submit("a", distance_job(FAILING))
    wait_until(lambda: engines.over)
    assert engines.over[0].sentence == "The script has no build_model."
    assert engines.over[0].detail == "line 1"


def test_that_cancel_all_empties_queue_and_host(engines):
    for k in range(3):
        engines.submit(f"j{k}", distance_job(ENDLESS))
    wait_until(lambda: engines.table["j0"].done > 0)
    engines.cancel_all()
    wait_until(lambda: not engines.busy)
    assert {row.state for row in engines.table.rows} == {"cancelled"}


def test_that_closing_ends_every_host(engines):
    engines.submit("a", distance_job(ENDLESS))
    engines.submit("p", plane_job(DEAF))
    wait_until(lambda: engines.pid("statistics") and engines.pid("landscape"))
    pids = [engines.pid("statistics"), engines.pid("landscape")]
    engines.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_that_a_fresh_host_is_kept_and_a_used_one_replaced_for_another_project(engines):
    engines.warm_up("landscape")
    engines.submit("a", distance_job(QUICK))
    wait_until(lambda: engines.over and engines.pid("landscape"))
    used, fresh = engines.pid("statistics"), engines.pid("landscape")
    engines.restart()
    assert engines.table.rows == ()
    engines.submit("p", plane_job(QUICK))
    engines.submit("a", distance_job(QUICK))
    wait_until(lambda: len(engines.over) == 3)
    assert engines.pid("landscape") == fresh
    assert engines.pid("statistics") != used


def test_that_another_interpreter_needs_another_host(engines):
    engines.warm_up("landscape")
    wait_until(lambda: engines.pid("landscape"))
    engines.restart("/usr/bin/other-python")
    assert engines.pid("landscape") == 0
