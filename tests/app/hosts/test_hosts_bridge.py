from __future__ import annotations

import os
import sys
import time

import pytest
from window_fakes import (
    DYING,
    NOISY,
    QUICK,
    TORRENT,
    distance_job,
    fake_host,
    settle,
    wait_until,
)

from landscope.contract import events as e
from landscope.contract.job import RunJob
from landscope_app.hosts.bridge import EngineHost
from landscope_app.hosts.spawn import host_command


@pytest.fixture
def host(qapp):
    made = fake_host()
    made.seen, made.last, made.batches = [], [], []
    made.events.connect(lambda batch: (made.seen.extend(batch), made.batches.append(time.monotonic())))
    made.died.connect(lambda *last: made.last.append(last))
    yield made
    made.close()
    made.deleteLater()
    settle()


def ask(host: EngineHost, behaviour: int) -> None:
    host.send(RunJob(id="job", job=distance_job(behaviour)))


def endings(host: EngineHost) -> list[object]:
    return [event.body for event in host.seen if isinstance(event.body, e.ENDINGS)]


def test_that_a_job_runs_and_its_events_arrive_in_order(host):
    ask(host, QUICK)
    wait_until(lambda: endings(host))
    kinds = [type(event.body) for event in host.seen]
    assert kinds == [e.Hello, e.Started, e.Progress, e.Done]
    assert endings(host)[0].answer["splits"]["train"]["loss"] == 2.5


def test_that_starting_and_sending_return_at_once(host):
    began = time.monotonic()
    ask(host, QUICK)
    assert time.monotonic() - began < 0.05
    wait_until(lambda: endings(host))


def test_that_a_torrent_arrives_whole_in_at_most_thirty_batches_a_second(host):
    ask(host, TORRENT)
    wait_until(lambda: endings(host))
    assert sum(isinstance(event.body, e.Progress) for event in host.seen) == 20_000
    gaps = [b - a for a, b in zip(host.batches, host.batches[1:], strict=False)]
    assert len(host.batches) / (sum(gaps) + 1 / 30) <= 33


def test_that_death_is_told_in_a_sentence_with_the_last_words(host):
    ask(host, DYING)
    wait_until(lambda: host.last)
    sentence, detail = host.last[0]
    assert "exit code 7" in sentence
    assert "last words" in detail
    assert not host.alive


def test_that_a_killed_host_is_noticed_and_can_be_started_again(host):
    ask(host, QUICK)
    wait_until(lambda: endings(host))
    os.kill(host.pid, 9)
    wait_until(lambda: host.last)
    assert "signal 9" in host.last[0][0]
    host.seen.clear()
    ask(host, QUICK)
    wait_until(lambda: endings(host))


def test_that_a_full_stderr_does_not_stop_the_host(host):
    ask(host, NOISY)
    wait_until(lambda: endings(host))
    assert isinstance(endings(host)[0], e.Done)


def test_that_stop_now_is_told_without_a_sentence_of_blame_when_there_is_no_process_yet(host):
    host.start()
    host.stop_now()
    wait_until(lambda: host.last or host.pid)


def test_that_closing_leaves_no_process(host):
    ask(host, QUICK)
    wait_until(lambda: endings(host))
    pid = host.pid
    host.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_that_an_interpreter_that_is_not_there_is_a_sentence(qapp):
    host = EngineHost(command=["/no/such/python", "-P"])
    last = []
    host.died.connect(lambda *said: last.append(said))
    host.start()
    wait_until(lambda: last)
    assert "/no/such/python" in last[0][0]
    host.close()
    host.deleteLater()
    settle()


def test_that_rubbish_on_the_pipe_is_a_sentence(qapp):
    host = EngineHost(
        command=[
            sys.executable,
            "-c",
            "import sys,time; sys.stdout.write('\\xff' * 64); sys.stdout.flush(); time.sleep(30)",
        ]
    )
    last = []
    host.died.connect(lambda *said: last.append(said))
    host.start()
    wait_until(lambda: last)
    assert "cannot be understood" in last[0][0]
    host.close()
    host.deleteLater()
    settle()


def test_that_the_project_names_the_interpreter_and_a_packaged_program_names_itself(monkeypatch):
    assert host_command("engine", "/opt/py")[:4] == ["/opt/py", "-P", "-m", "landscope.runner.host"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = host_command("reader")
    assert command[0] == sys.executable
    assert command[1] == "--role=reader"
    assert "-m" not in command
