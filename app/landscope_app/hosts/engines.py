"""All hosts of a window and the queues before them: one job at a time on each."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from landscope.contract import events as e
from landscope.contract import job as j
from landscope_app.hosts.bridge import EngineHost
from landscope_app.hosts.job_table import JobRow, JobTable
from landscope_app.hosts.titles import LANDSCAPE, READER, STATISTICS, queue_of, title_of

STOPPED = "Stopped at once; what was measured stays."
GOES_ON = "; what was measured stays, and the engine starts again."
GIVEN_UP = "; it did so again and again, so what waits for it was cancelled and what was measured stays."
STOP_AFTER_S = 2.0
_CRASHES_IN_A_ROW = 3
_CRASH_WINDOW_S = 20.0
HostMaker = Callable[[str, str], EngineHost]


def _make_host(role: str, python: str) -> EngineHost:
    return EngineHost(role, python)


class Engines(QObject):
    """Queues jobs, sends each to its host, follows them in ``table``, and brings dead hosts back.

    Signals:
        events(list[Event]): everything the hosts say, for the document.
        jobs_changed(): the table has changed.
        ended(JobRow): a job ended, well or not.
        trouble(str, str): a host died: sentence and detail.
        hello(Hello): a host is there.
    """

    events = Signal(object)
    jobs_changed = Signal()
    ended = Signal(object)
    trouble = Signal(object, object)
    hello = Signal(object)

    def __init__(
        self,
        parent: QObject | None = None,
        make_host: HostMaker = _make_host,
        ready: subprocess.Popen[bytes] | None = None,
    ) -> None:
        super().__init__(parent)
        self.table = JobTable()
        self.python = ""
        self._make_host = make_host
        self._ready = ready
        self._greeted: set[str] = set()
        self._hosts: dict[str, EngineHost] = {}
        self._used: set[str] = set()
        self._crashes: dict[str, list[float]] = {}
        self._watch = QTimer(self)
        self._watch.setInterval(500)
        self._watch.timeout.connect(self._look)

    def warm_up(self, *queues: str) -> None:
        """Start hosts before there is work for them: importing torch takes a second."""
        for queue in queues:
            self._host(queue).start()

    def submit(self, name: str, job: j.AnyJob, *, front: bool = False, budget_s: float = 0.0) -> str:
        """Queue a job; the unique id it got. ``front``: before everything that waits.

        ``budget_s`` is for the table only: whoever gives a budget also ends the job.
        """
        row = self.table.add(name, queue_of(job), title_of(job), job, front=front, budget_s=budget_s)
        self._advance(row.queue)
        self.jobs_changed.emit()
        return row.id

    def cancel(self, name: str, because: str = "") -> None:
        """Ask a job to stop; it shows "Stopping…" at once. ``because``: see ``JobTable.stopping``."""
        row = self.table[name]
        if row.runs_script and not because:
            self._stop_script(name)
        self.table.stopping(name, because)
        if row.active:
            self._host(row.queue).send(j.CancelJob(id=name))
            self._watch.start()
        self._changed(row)

    def _stop_script(self, name: str) -> None:
        """Stopping one job that waits for the script stops the script: for all jobs that need it."""
        for row in self.table.rows:
            if row.id != name and (row.may_run_script or (row.state == "queued" and row.needs_script)):
                self.table.stopping(row.id)
                if row.active:
                    self._host(row.queue).send(j.CancelJob(id=row.id))
                else:
                    self.ended.emit(self.table[row.id])

    def pause(self, name: str) -> None:
        """Let a running job wait at its next safe point."""
        row = self.table[name]
        if row.state == "running":
            self._host(row.queue).send(j.PauseJob(id=name))

    def resume(self, name: str) -> None:
        """Let a paused job go on."""
        row = self.table[name]
        if row.state == "paused":
            self._host(row.queue).send(j.ResumeJob(id=name))

    def stop_now(self, name: str) -> None:
        """Kill the host of a job that does not answer; results so far stay."""
        row = self.table[name]
        if row.active:
            self.table.stopping(name)
            self._host(row.queue).stop_now()

    def cancel_all(self) -> None:
        """Ask every job to stop, those that wait first."""
        for row in sorted(self.table.rows, key=lambda row: row.active):
            if row.active or row.state == "queued":
                self.cancel(row.id)

    @property
    def busy(self) -> tuple[JobRow, ...]:
        """The jobs that run or wait."""
        return tuple(r for r in self.table.rows if r.active or r.state == "queued")

    def restart(self, python: str = "") -> None:
        """Forget all jobs, and all hosts but fresh ones: modules of two projects never meet in a process."""
        stale = set(self._hosts) if python != self.python else self._used
        self._end(stale - {READER})
        self.python = python
        self.table.clear()
        self.jobs_changed.emit()

    def close(self) -> None:
        """End all hosts."""
        self._watch.stop()
        self._end(set(self._hosts))
        if self._ready is not None:  # never needed
            self._ready.kill()
            self._ready.communicate()
            self._ready = None

    def _end(self, queues: set[str]) -> None:
        for queue in queues & set(self._hosts):
            host = self._hosts.pop(queue)
            host.close(0.2)
            host.deleteLater()
            self._greeted.discard(queue)
        self._used -= queues

    def pid(self, queue: str) -> int:
        """Process id of a host, 0 where there is none."""
        return self._hosts[queue].pid if queue in self._hosts else 0

    def _host(self, queue: str) -> EngineHost:
        if queue not in self._hosts:
            reads = queue == READER  # foreign files; never in an interpreter that a project chose
            host = self._make_host("reader" if reads else "engine", "" if reads else self.python)
            host.setParent(self)
            host.events.connect(lambda batch, queue=queue: self._take(queue, batch))
            host.hello.connect(lambda hello, queue=queue: self._greet(queue, hello))
            if self._ready is not None and host.role == "engine" and not self.python:
                host.adopt(self._ready)
                self._ready = None
            host.died.connect(lambda said, detail, queue=queue: self._revive(queue, said, detail))
            self._hosts[queue] = host
        return self._hosts[queue]

    def _greet(self, queue: str, hello: e.Hello) -> None:
        self._greeted.add(queue)
        self.hello.emit(hello)
        self._advance(READER)
        self._advance(LANDSCAPE)

    def _may_start(self, queue: str) -> bool:
        """The first bars come first: hosts that start at the same time delay each other."""
        waits = queue != STATISTICS and STATISTICS in self._hosts and STATISTICS not in self._greeted
        return not waits or queue in self._greeted

    def _advance(self, queue: str) -> None:
        row = self.table.next_queued(queue) if self._may_start(queue) else None
        if row is not None:
            self.table.sent(row.id)
            self._used.add(queue)
            self._host(queue).send(j.RunJob(id=row.id, job=row.job))

    def _take(self, queue: str, batch: list[e.Event]) -> None:
        self.events.emit(batch)
        finished = []
        for event in batch:
            self.table.take(event)
            if isinstance(event.body, e.ENDINGS) and event.job in self.table:
                finished.append(self.table[event.job])
        self._advance(queue)
        for row in finished:
            self._crashes.pop(queue, None)
            self.ended.emit(row)
        self.jobs_changed.emit()

    def _revive(self, queue: str, what: str, detail: str) -> None:
        """The host is gone: end its job with a sentence; go on with the rest in a new one."""
        self._greeted.add(queue)  # nobody waits for it any more
        row = self.table.active(queue)
        wanted = not what or (row is not None and row.state == "stopping")
        hopeless = not wanted and self._dies_again(queue)
        sentence = STOPPED if wanted else f"{what}{GIVEN_UP if hopeless else GOES_ON}"
        lost = self.table.lost(queue, sentence, detail)
        over = [lost] if lost is not None else []
        over += self._give_up(queue) if hopeless else []
        if not wanted:
            self.trouble.emit(sentence, detail)
        for ended in over:
            self.ended.emit(ended)
        for other in dict.fromkeys((queue, READER, LANDSCAPE)):
            self._advance(other)
        self.jobs_changed.emit()

    def _dies_again(self, queue: str) -> bool:
        """Whether a host died several times in a short time without ending a job."""
        now = time.monotonic()
        self._crashes[queue] = [t for t in self._crashes.get(queue, []) if now - t < _CRASH_WINDOW_S] + [now]
        return len(self._crashes[queue]) >= _CRASHES_IN_A_ROW

    def _give_up(self, queue: str) -> list[JobRow]:
        waiting = [row.id for row in self.table.rows if row.queue == queue and row.state == "queued"]
        for name in waiting:
            self.table.stopping(name)
        return [self.table[name] for name in waiting]

    def _changed(self, row: JobRow) -> None:
        if self.table[row.id].state == "cancelled":
            self.ended.emit(self.table[row.id])
        self._advance(row.queue)
        self.jobs_changed.emit()

    def _look(self) -> None:
        """While something is asked to stop, let the panel offer "Stop now" in time.

        A script that runs hears of no token, and nothing is lost with its process.
        """
        for name in self.table.overdue(STOP_AFTER_S):
            if self.table[name].may_run_script:
                self.stop_now(name)
        if not any(row.state == "stopping" for row in self.table.rows):
            self._watch.stop()
        self.jobs_changed.emit()
