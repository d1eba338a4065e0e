"""A host for tests: speaks the protocol, computes nothing. What a job does is in the seed of its project.

0 quick, 1 works until cancelled, 2 never answers a cancel, 3 dies at once, 4 fails with a sentence,
5 one partial plane with a complete first level, then works until cancelled, 6 prints a lot to stderr,
7 a torrent of events, 8 runs a script that does not end, 9 fails because the script wants arguments.
"""

import os
import sys
import threading
import time

import numpy as np

from landscope.contract import deltas as d
from landscope.contract import events as e
from landscope.contract import frames
from landscope.contract import job as j
from landscope.runner.run import run_job

source, target = sys.stdin.buffer, sys.stdout.buffer
lock = threading.Lock()
cancelled, paused = set(), set()


def say(job, body):
    with lock:
        target.write(frames.encode(e.Event(job, body)))
        target.flush()


def wait_for_cancel(name):
    done = 0
    while name not in cancelled:
        if name not in paused:
            done += 1
            say(name, e.Progress(done=min(done, 99), total=100, eta_s=1.0))
        time.sleep(0.01)
    say(name, e.Cancelled())


def plane(name, job):
    axis = np.linspace(-1, 1, job.options.grid)
    say(name, e.Partial(delta=d.PlaneOpened(
        id=job.id, run=job.run, title="Plane", kind=job.kind, base="c", alpha=axis, beta=axis,
        axis_titles=("α", "β"), settings={"seed": job.options.seed, "reach": job.options.reach})))
    step = (job.options.grid - 1) // 4
    rows, columns = (a.ravel() for a in np.meshgrid(np.arange(5) * step, np.arange(5) * step))
    say(name, e.Partial(delta=d.PlanePoints(
        id=job.id, rows=rows, columns=columns, values={"loss": rows + 0.5 * columns})))
    say(name, e.Partial(delta=d.PlaneLevel(id=job.id, points=5, surplus=0.1)))


def work(name, job):
    what = job.project.data.seed if hasattr(job, "project") else 0
    if isinstance(job, j.CandidatesJob):  # looks at files, computes nothing
        for event in run_job(name, job, None, j.CancelToken()):
            say(name, event.body)
        return
    say(name, e.Started(title="Fake"))
    if what == 2:
        time.sleep(60)
    elif what == 3:
        sys.stderr.write("last words\n")
        sys.stderr.flush()
        os._exit(7)
    elif what == 8:
        say(name, e.Progress(done=0, total=0, what=e.SCRIPT_RUNS))
        time.sleep(60)
    elif what == 9:
        say(name, e.Failed(sentence="It wants --width.", detail="usage: m.py", error="ScriptArgumentsError"))
    elif what == 4:
        say(name, e.Failed(sentence="The script has no build_model.", detail="line 1"))
    elif what in (1, 5):
        if what == 5:
            plane(name, job)
        wait_for_cancel(name)
    elif what == 6:
        sys.stderr.write("x" * 300_000 + "\n")
        sys.stderr.flush()
        say(name, e.Done(summary="Printed."))
    elif what == 7:
        for k in range(20_000):
            say(name, e.Progress(done=k, total=20_000))
        say(name, e.Done(summary="All said."))
    else:
        say(name, e.Progress(done=1, total=1))
        say(name, e.Done(summary="Quick.", answer={"parameters": 1234, "device": "cpu", "splits": {"train": {
            "samples": 50, "loss": 2.5, "metrics": {"accuracy": 0.1}, "shapes": "(float32 8×4)"}}}))


say("", e.Hello(protocol=e.PROTOCOL, version="0", python="3", torch="", devices=("cpu", "cuda:0"),
                role="engine", pid=os.getpid()))
commands = frames.decoder(j.AnyCommand)
while (body := frames.read_frame(source)) is not None:
    command = commands.decode(body)
    if isinstance(command, j.RunJob):
        threading.Thread(target=work, args=(command.id, command.job), daemon=True).start()
    elif isinstance(command, j.CancelJob):
        cancelled.add(command.id)
    elif isinstance(command, j.PauseJob):
        paused.add(command.id)
        say(command.id, e.Paused())
    elif isinstance(command, j.ResumeJob):
        paused.discard(command.id)
        say(command.id, e.Resumed())
os._exit(0)
