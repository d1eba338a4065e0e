"""The engine host as a real process: whatever a script does, the frames stay clean and the host obeys."""

import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import pytest
import torch

from landscope.contract import frames
from landscope.contract import job as j
from landscope.contract.events import (
    ENDINGS,
    Cancelled,
    Done,
    Event,
    Failed,
    Hello,
    Log,
    Partial,
    Paused,
)
from landscope.contract.options import LandscapeOptions, ProjectSpec

EVENTS = frames.decoder(Event)
SCRIPT = """
    import torch
    from torch import nn

    def build_model():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))

    def build_data():
        torch.manual_seed(1)
        x = torch.randn(64, 6)
        return [(x[i:i + 16], (x[i:i + 16, 0] > 0).long()) for i in range(0, 64, 16)]
"""


def write_project(folder, script=SCRIPT, before=""):
    (folder / "model.py").write_text(textwrap.dedent(before) + textwrap.dedent(script))
    (folder / "run").mkdir()
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    for step in (0, 10, 20):
        torch.save(model.state_dict(), folder / "run" / f"step_{step}.pt")
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.1 * torch.randn_like(p))
    return ProjectSpec(
        root=str(folder), script=str(folder / "model.py"), runs=(str(folder / "run"),), trusted=True
    )


class Client:
    """Talks to a host; every wait has an end."""

    def __init__(self, role="engine"):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "landscope.runner.host", f"--role={role}", "--threads=1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.guard = threading.Timer(90, self.process.kill)
        self.guard.start()

    def send(self, command):
        self.process.stdin.write(frames.encode(command))
        self.process.stdin.flush()

    def __iter__(self) -> Iterator[Event]:
        while (body := frames.read_frame(self.process.stdout)) is not None:
            yield EVENTS.decode(body)

    def until(self, *kinds):
        """All events up to and with the first body of one of these kinds."""
        seen = []
        for event in self:
            seen.append(event)
            if isinstance(event.body, kinds):
                return seen
        raise AssertionError(f"the host ended after {[type(e.body).__name__ for e in seen]}")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()
        self.guard.cancel()
        self.guard.join()


@pytest.fixture
def client():
    client = Client()
    yield client
    client.close()


def plane(spec, name="p", grid=5):
    options = LandscapeOptions(grid=grid)
    return j.RunJob(id=name, job=j.PlaneJob(project=spec, id=name, run="run", options=options))


def test_that_the_first_frame_says_who_speaks(client):
    hello = client.until(Hello)[0].body
    assert hello.protocol == 1
    assert hello.torch == torch.__version__
    assert "cpu" in hello.devices
    assert hello.pid == client.process.pid


def test_that_a_plane_arrives_point_by_point_and_ends_once(client, tmp_path):
    client.send(plane(write_project(tmp_path)))
    seen = client.until(*ENDINGS)
    assert isinstance(seen[-1].body, Done), seen[-1].body
    points = [e.body.delta for e in seen if isinstance(e.body, Partial)]
    assert sum(len(d.rows) for d in points if type(d).__name__ == "PlanePoints") == 25


def test_that_prints_of_script_and_children_never_touch_the_frames(client, tmp_path):
    noisy = """
    import os, sys
    print("hello from the script")
    sys.stdout.flush()
    os.write(1, b"\\x00\\xff raw bytes on fd 1\\n")
    os.system("echo a child prints")
    """
    client.send(plane(write_project(tmp_path, before=noisy)))
    seen = client.until(*ENDINGS)
    assert isinstance(seen[-1].body, Done), seen[-1].body
    assert "hello from the script" in [e.body.text for e in seen if isinstance(e.body, Log)]


def test_that_a_script_that_asks_for_input_gets_none_and_a_sentence(client, tmp_path):
    client.send(plane(write_project(tmp_path, before="answer = input('name? ')")))
    ending = client.until(*ENDINGS)[-1].body
    assert isinstance(ending, Failed)
    assert "model.py" in ending.sentence


def test_that_cancel_stops_a_plane_and_the_next_job_runs(client, tmp_path):
    spec = write_project(tmp_path)
    client.send(plane(spec, "long", grid=129))
    client.until(Partial)
    client.send(j.CancelJob(id="long"))
    assert isinstance(client.until(*ENDINGS)[-1].body, Cancelled)
    client.send(plane(spec, "short"))
    assert isinstance(client.until(*ENDINGS)[-1].body, Done)


def test_that_a_waiting_job_can_be_cancelled_before_it_began(client, tmp_path):
    spec = write_project(tmp_path)
    client.send(plane(spec, "first", grid=33))
    client.send(plane(spec, "second"))
    client.send(j.CancelJob(id="second"))
    endings = [client.until(*ENDINGS)[-1], client.until(*ENDINGS)[-1]]
    assert {e.job: type(e.body) for e in endings} == {"first": Done, "second": Cancelled}


def test_that_a_paused_plane_waits_and_then_finishes(client, tmp_path):
    client.send(plane(write_project(tmp_path), "p", grid=33))
    client.until(Partial)
    client.send(j.PauseJob(id="p"))
    client.until(Paused)
    client.send(j.ResumeJob(id="p"))
    assert isinstance(client.until(*ENDINGS)[-1].body, Done)


@pytest.mark.parametrize("ending", ["os._exit(7)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_that_a_script_that_would_end_the_process_is_told_and_the_host_lives_on(client, tmp_path, ending):
    spec = write_project(tmp_path, before=f"import os; {ending}")
    for _ in range(2):
        client.send(plane(spec))
        failed = client.until(*ENDINGS)[-1].body
        assert isinstance(failed, Failed) and "line 1: the script ended itself" in failed.sentence


def test_that_a_crash_of_the_process_is_seen_as_its_death(client, tmp_path):
    client.send(plane(write_project(tmp_path, before="import posix; posix._exit(7)")))
    with pytest.raises(AssertionError, match="the host ended"):
        client.until(*ENDINGS)
    assert client.process.wait(10) == 7


@pytest.mark.parametrize("doing", ["", "while True: pass"])
def test_that_the_host_leaves_when_the_window_is_gone(client, tmp_path, doing):
    client.until(Hello)
    if doing:
        client.send(plane(write_project(tmp_path, before=doing)))
    client.process.stdin.close()
    assert client.process.wait(20) == 0


STARTERS = {
    "a program": "import subprocess; number = subprocess.Popen(['sleep', '60']).pid",
    "a fork": "import os, time; number = os.fork() or (time.sleep(60), os._exit(0))",
    "a worker": "import multiprocessing as m, time; w = m.get_context('fork').Process(target=time.sleep, "
    "args=(60,)); w.start(); number = w.pid",
    "a thread": "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); number = 0",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("starter", STARTERS.values(), ids=STARTERS)
def test_that_nothing_a_script_started_outlives_the_window(client, tmp_path, starter):
    told = tmp_path / "number"
    tell = f"import pathlib; pathlib.Path({str(told)!r}).write_text(str(number))"
    client.send(plane(write_project(tmp_path, before=f"{starter}\n{tell}"), grid=129))
    assert isinstance(client.until(Partial, Failed)[-1].body, Partial)
    client.process.stdin.close()
    assert client.process.wait(20) == 0
    number = int(told.read_text())
    deadline = time.monotonic() + 10
    while number and _runs(number):
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.01)


def _runs(number):
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def test_that_the_reader_never_runs_a_script(tmp_path):
    reader = Client(role="reader")
    marker = tmp_path / "ran"
    reader.send(plane(write_project(tmp_path, before=f"open({str(marker)!r}, 'w')")))
    ending = reader.until(*ENDINGS)[-1].body
    reader.close()
    assert isinstance(ending, Failed)
    assert "never runs scripts" in ending.sentence
    assert not marker.exists()


@pytest.mark.parametrize("name", ["engine", "app", "utils", "landscape"])
def test_that_a_sibling_of_a_common_name_is_the_users_own(client, tmp_path, name):
    spec = write_project(tmp_path, before=f"from {name} import WIDTH")
    (tmp_path / f"{name}.py").write_text("WIDTH = 8\n")
    client.send(plane(spec))
    ending = client.until(*ENDINGS)[-1].body
    assert isinstance(ending, Done), ending


def test_that_a_job_nobody_knows_ends_the_host_not_the_machine(client):
    client.until(Hello)
    client.process.stdin.write(frames.encode({"command": "Nonsense"}))
    client.process.stdin.flush()
    assert client.process.wait(20) != 0 or os.name == "nt"
