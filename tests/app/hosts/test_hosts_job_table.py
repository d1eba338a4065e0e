from __future__ import annotations

import pytest
from window_fakes import QUICK, distance_job

from landscope.contract import events as e
from landscope_app.hosts.job_table import JobTable


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def table(clock):
    made = JobTable(clock)
    made.add("a", "q", "A", distance_job(QUICK))
    made.sent("a")
    return made


def tell(table: JobTable, body: e.AnyBody, name: str = "a") -> None:
    table.take(e.Event(name, body))


def test_that_progress_and_time_left_are_followed(table):
    tell(table, e.Progress(done=3, total=12, eta_s=9.0, what="epoch-3.pt"))
    row = table["a"]
    assert (row.share, row.eta_s, row.what) == (0.25, 9.0, "epoch-3.pt")


def test_that_an_end_is_final(table):
    tell(table, e.Done(summary="Good."))
    tell(table, e.Failed(sentence="Late."))
    tell(table, e.Progress(done=1, total=9))
    assert (table["a"].state, table["a"].sentence, table["a"].share) == ("done", "Good.", 1.0)


def test_that_events_of_unknown_jobs_change_nothing(table):
    before = table.rows
    tell(table, e.Done(), "nobody")
    assert table.rows == before


def test_that_a_job_that_does_not_stop_is_overdue_after_two_seconds(table, clock):
    table.stopping("a")
    clock.now += 1.9
    assert table.overdue() == ()
    clock.now += 0.2
    assert table.overdue() == ("a",)


def test_that_a_pause_that_comes_after_a_cancel_does_not_hide_it(table):
    table.stopping("a")
    tell(table, e.Paused())
    assert table["a"].state == "stopping"


def test_that_only_one_job_of_a_queue_is_sent(table):
    table.add("b", "q", "B", distance_job(QUICK))
    assert table.next_queued("q") is None
    tell(table, e.Done())
    assert table.next_queued("q").id == "b"


def test_that_a_job_in_front_is_sent_before_those_that_wait(table):
    table.add("b", "q", "B", distance_job(QUICK))
    table.add("c", "q", "C", distance_job(QUICK), front=True)
    tell(table, e.Done())
    assert table.next_queued("q").id == "c"


def test_that_names_are_made_unique(table):
    assert table.add("a", "q", "A", distance_job(QUICK)).id == "a~2"
    assert table.add("a", "q", "A", distance_job(QUICK)).id == "a~3"


def test_that_a_lost_host_fails_its_job_and_a_wanted_stop_cancels_it(table):
    assert table.lost("q", "Gone.").state == "failed"
    table.add("b", "q", "B", distance_job(QUICK))
    table.sent("b")
    table.stopping("b")
    assert table.lost("q", "Stopped.").state == "cancelled"
    assert table.lost("q", "Nothing there.") is None


def test_that_ended_jobs_can_be_dropped(table):
    table.add("b", "q", "B", distance_job(QUICK))
    tell(table, e.Cancelled())
    table.drop_ended()
    assert [row.id for row in table.rows] == ["b"]


@pytest.mark.parametrize(("each", "points"), [(0.02, 33**2), (0.06, 17**2), (0.2, 9**2), (10.0, 9**2)])
def test_that_a_preview_is_measured_by_the_level_where_it_will_stop(clock, each, points):
    table = JobTable(clock)
    table.add("p", "q", "P", distance_job(QUICK), budget_s=30.0)
    table.sent("p")
    tell(table, e.Progress(done=27, total=1089, eta_s=each * (1089 - 27)), "p")
    assert table["p"].share == pytest.approx(27 / points)
    assert table["p"].left_s == pytest.approx(each * (points - 27))
