from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from window_fakes import (
    DEAF,
    ENDLESS,
    FAILING,
    IMPORTING,
    QUICK,
    distance_job,
    fake_host,
    plane_job,
    settle,
    wait_until,
)

from landscope.contract.events import SCRIPT_RUNS
from landscope_app.hosts.engines import Engines
from landscope_app.hosts.job_table import JobRow
from landscope_app.views.jobs import JobsView, buttons_for, left_text, shown


@pytest.fixture
def engines(qapp):
    made = Engines(make_host=fake_host)
    yield made
    made.close()
    made.deleteLater()
    settle()


@pytest.fixture
def view(engines):
    asked = []
    made = JobsView(engines, asked.append)
    made.asked = asked
    made.resize(700, 200)
    made.show()
    yield made
    made.close()
    made.deleteLater()


def buttons(view: JobsView) -> dict[str, QPushButton]:
    return {b.text(): b for b in view.findChildren(QPushButton) if b.isVisible()}


def says(view: JobsView, text: str) -> bool:
    return any(text in label.text() for label in view.findChildren(QLabel) if label.isVisible())


def row(**more: object) -> JobRow:
    return JobRow(id="a", queue="q", title="A", job=distance_job(QUICK), **more)  # type: ignore[arg-type]


def test_that_a_running_job_can_be_paused_resumed_and_cancelled_from_its_line(view, engines):
    engines.submit("a", distance_job(ENDLESS))
    wait_until(lambda: "Pause" in buttons(view) and engines.table["a"].done)
    buttons(view)["Pause"].click()
    wait_until(lambda: "Resume" in buttons(view))
    buttons(view)["Resume"].click()
    wait_until(lambda: "Pause" in buttons(view))
    buttons(view)["Cancel"].click()
    wait_until(lambda: engines.table["a"].state == "cancelled")


def test_that_stopping_is_seen_at_once_and_stop_now_is_offered_after_two_seconds(view, engines):
    engines.submit("a", distance_job(DEAF))
    wait_until(lambda: "Cancel" in buttons(view) and engines.pid("statistics"))
    buttons(view)["Cancel"].click()
    wait_until(lambda: says(view, "Stopping…"), 0.5)
    assert "Stop now" not in buttons(view)
    wait_until(lambda: "Stop now" in buttons(view), 4.0)
    buttons(view)["Stop now"].click()
    wait_until(lambda: engines.table["a"].state == "cancelled")


def test_that_a_failed_job_shows_its_sentence_and_can_be_run_again(view, engines):
    engines.submit("a", distance_job(FAILING))
    wait_until(lambda: says(view, "The script has no build_model."))
    buttons(view)["Run again"].click()
    assert [one.id for one in view.asked] == ["a"]


def test_that_an_empty_list_says_so(view):
    assert says(view, "Nothing runs just now.")


@pytest.mark.parametrize(
    ("made", "said", "offered"),
    [
        (row(), "waiting", ("Cancel",)),
        (row(state="running"), "starting", ("Pause", "Cancel")),
        (row(state="running", done=1, total=4, eta_s=90.0), "25% · 2 min left", ("Pause", "Cancel")),
        (row(state="paused", done=1, total=4), "paused at 25%", ("Resume", "Cancel")),
        (row(state="stopping", asked_to_stop=99.0), "Stopping…", ()),
        (row(state="stopping", asked_to_stop=90.0), "Stopping… no answer yet", ("Stop now",)),
        (row(state="done", sentence="Good."), "Good.", ()),
        (row(state="done", began=90.0, ended=95.0), "done in 5 s", ()),
    ],
)
def test_that_each_state_has_its_words_and_buttons(made, said, offered):
    assert left_text(made, 100.0) == said
    assert buttons_for(made, 100.0) == offered


def test_that_active_jobs_come_first_and_old_ones_leave():
    from dataclasses import replace

    rows = [replace(row(state="done", ended=float(k)), id=f"d{k}") for k in range(9)]
    rows += [replace(row(), id="w"), replace(row(state="running"), id="r")]
    assert [one.id for one in shown(tuple(rows))] == ["r", "w", "d8", "d7", "d6", "d5"]


def test_that_a_script_that_runs_long_is_said_with_the_seconds_and_can_be_stopped(view, engines):
    engines.submit("a", plane_job(IMPORTING))
    wait_until(lambda: "Stop" in buttons(view) and says(view, "script is still running (1 s)"))
    assert set(buttons(view)) == {"Stop"}
    assert (
        left_text(row(state="running", what=SCRIPT_RUNS, began=1.0), 13.2) == "script is still running (12 s)"
    )


def test_that_stopping_a_script_ends_its_process_and_all_that_waits_for_it(view, engines):
    engines.submit("a", plane_job(IMPORTING))
    engines.submit("b", plane_job(QUICK))
    engines.submit("files", distance_job(QUICK))
    wait_until(lambda: engines.table["a"].runs_script and "Stop" in buttons(view))
    buttons(view)["Stop"].click()
    assert engines.table["b"].state == "cancelled"
    wait_until(lambda: engines.table["a"].state == "cancelled")
    wait_until(lambda: engines.table["files"].state == "done")
    again = engines.submit("c", plane_job(QUICK))
    wait_until(lambda: engines.table[again].state == "done")
