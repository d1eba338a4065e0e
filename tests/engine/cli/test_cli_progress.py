"""What a person reads while jobs run."""

import io
import sys
import threading

import pytest

from landscope.cli import waiting
from landscope.cli.progress import Bar
from landscope.cli.waiting import Waiting
from landscope.contract.events import SCRIPT_RUNS, Event, Log, Progress, Started
from landscope.project.running.printing import Echo


@pytest.fixture
def told(monkeypatch):
    """Waits, in hundredths of the usual time; what was said, and an event once something was."""
    monkeypatch.setattr(waiting, "EVERY_S", 0.01)
    said, heard = [], threading.Event()

    def say(text):
        said.append(text)
        heard.set()

    made = Waiting(say)
    yield made, said, heard
    made.end()


def test_that_a_script_that_runs_long_is_told_until_something_else_comes(told):
    made, said, heard = told
    before = threading.active_count()
    made.hear(Progress(done=0, total=0, what=SCRIPT_RUNS))
    assert heard.wait(20)
    made.hear(Log(stream="stdout", text="at last"))
    assert threading.active_count() == before
    assert said[0] == "  the script is still running (0 s); Ctrl+C twice stops it"


def test_that_other_work_is_not_told_as_a_script_that_runs(told):
    before = threading.active_count()
    told[0].hear(Progress(done=1, total=2, what="data"))
    assert threading.active_count() == before


def test_that_a_script_may_print_while_the_bar_moves(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Bar() as bar, Echo().listening():
        print("from the script")
        print("and its errors", file=sys.stderr)
        bar.show(Event("job", Started(title="Losses")))
    assert "from the script" in terminal.getvalue() and "and its errors" in terminal.getvalue()
    assert "Losses" in terminal.getvalue()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True
