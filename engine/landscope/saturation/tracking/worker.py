"""A thread beside the training loop that multiplies what the hooks copied."""

from __future__ import annotations

import os
import queue
import threading
import weakref
from collections.abc import Callable

import torch

WAITING = 32
"""Pieces of work that may wait; with more the training thread waits, so that memory stays bounded."""

Work = Callable[[], None]


class Worker:
    """Runs work in the order it is given, in one thread with one torch thread, started by the first piece.

    Work must not raise. Work on a CUDA device goes to the stream that was current where it was given, behind
    the copies that it needs.

    A process that is forked off has no such thread, and works where work is handed over. Before the fork all
    work is done, so that neither process finds sums half made. A worker that was closed while another thread
    was in a forward pass has none either, nor one for which the system has no thread to give.
    """

    def __init__(self) -> None:
        self._waiting: queue.Queue[Work | None] = queue.Queue(WAITING)
        self._serving, self._over = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._closed = False
        self._starting = threading.RLock()  # again: closed by the garbage collector in the midst of it
        _ALL.add(self)

    def put(self, work: Work) -> None:
        """Hand over work; waits while too much of it is waiting already."""
        if os.getpid() != self._process or not self._is_served():
            work()
        else:
            self._waiting.put(_on_current_stream(work))

    def drain(self) -> None:
        """Wait until all work is done."""
        if self._thread is not None and self._thread.is_alive():
            self._waiting.join()

    def close(self) -> None:
        """Finish the work and end the thread."""
        with self._starting:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is None or not thread.is_alive():  # not alive in a process that was forked off
            return
        if thread is threading.current_thread():  # the last reference went while it worked
            self._over.set()
            return
        self._waiting.put(None)
        thread.join()

    def _is_served(self) -> bool:
        """Whether the thread runs; the first call starts it."""
        with self._starting:
            if self._thread is None and not self._closed:
                self._start()
            return self._thread is not None

    def _start(self) -> None:
        try:
            self._thread = threading.Thread(
                target=_serve,
                args=(self._waiting, self._serving, self._over),
                name="landscope-saturation",
                daemon=True,  # a loop that never closes its tracker may still end
            )
            self._thread.start()
        except RuntimeError:
            self._thread = None
        except BaseException:  # an interrupt from the keyboard, while the thread comes up or before
            if not self._serving.wait(1.0):
                self._thread = None
            raise


_ALL: weakref.WeakSet[Worker] = weakref.WeakSet()


def _drain_all() -> None:
    for worker in list(_ALL):
        worker.drain()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(before=_drain_all)


def _serve(waiting: queue.Queue[Work | None], serving: threading.Event, over: threading.Event) -> None:
    serving.set()
    _use_one_torch_thread()
    with torch.no_grad():
        while not over.is_set():
            work = waiting.get()
            if work is None:
                over.set()
            else:
                work()
            del work  # what it holds must not live until the next piece comes
            waiting.task_done()


def _use_one_torch_thread() -> None:
    """For this thread only: torch also keeps the number for threads to come, and that is put back."""
    others = torch.get_num_threads()
    torch.set_num_threads(1)
    putting_back = threading.Thread(target=torch.set_num_threads, args=(others,))
    try:
        putting_back.start()
    except RuntimeError:  # the system has no more threads: then this one computes with all of torch's
        return torch.set_num_threads(others)
    return putting_back.join()


def _on_current_stream(work: Work) -> Work:
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return work
    stream = torch.cuda.current_stream()

    def on_stream() -> None:
        with torch.cuda.stream(stream):
            work()

    return on_stream
