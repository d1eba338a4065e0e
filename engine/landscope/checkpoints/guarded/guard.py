"""Checkpoint files described by guarded children, in order; a file that ends its child costs only itself."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from landscope.checkpoints.files.formats import by_target
from landscope.checkpoints.guarded.child import Request
from landscope.checkpoints.guarded.facts import FileFacts, Part
from landscope.checkpoints.guarded.known import Known
from landscope.checkpoints.guarded.limits import Limits
from landscope.checkpoints.guarded.process import ChildProcess, give, take
from landscope.checkpoints.wording import shown
from landscope.contract.job import CancelToken

LIMITS = Limits()
_CHECKED_SIZE = 32 << 20
_CHECKED_IN_ALL = 256 << 20
_MOST_CHILDREN = 2
_WORTH_ANOTHER = 150
"""Files per child: starting one takes as long as describing that many small files."""
_BATCH = 32
_BATCH_BYTES = 4096
_LOOK_S = 0.1

_decoder = msgspec.msgpack.Decoder(FileFacts)
_known = Known()


def describe_files(
    paths: Sequence[Path], token: CancelToken | None = None, *, limits: Limits = LIMITS
) -> Iterator[FileFacts]:
    """What every file holds, or why it cannot be used, in the order of ``paths``.

    Files that were described before and have not changed since are not read again.

    Raises:
        CheckpointError: the child process cannot be started. JobCancelled: somebody cancelled.
    """
    requests, found = _requests(paths)
    with contextlib.ExitStack() as stack:
        crew = stack.enter_context(_Crew(requests, limits)) if requests else None
        for index in range(len(paths)):
            while crew is not None and index not in found:
                if token is not None:
                    token.check()
                found.update(crew.news())
            yield found.pop(index)


def describe_file(path: Path) -> FileFacts:
    """What one file holds; as ``describe_files``."""
    return next(describe_files([path]))


def describe_optimizers(path: Path, token: CancelToken | None = None) -> FileFacts:
    """What the state of the optimizers in a file tells of their last step; as ``describe_files``."""
    try:
        part = Part.of(path)
    except OSError as error:
        return FileFacts(state="skipped", reason=_why_not(path, error))
    found: dict[int, FileFacts] = {}
    with _Crew(deque([(0, Request(part.path, part.size, optimizers=True))]), LIMITS) as crew:
        while not found:
            if token is not None:
                token.check()
            found.update(crew.news())
    return found[0]


def _requests(paths: Sequence[Path]) -> tuple[deque[tuple[int, Request]], dict[int, FileFacts]]:
    """The files that must be read, and what is known of the others."""
    requests: deque[tuple[int, Request]] = deque()
    found: dict[int, FileFacts] = {}
    budget = _CHECKED_IN_ALL
    for index, path in enumerate(paths):
        try:
            part = Part.of(path)
        except OSError as error:
            found[index] = FileFacts(state="skipped", reason=_why_not(path, error))
            continue
        body = _known.of(part)
        if body is not None:
            found[index] = _decoder.decode(body)
            continue
        check = min(_CHECKED_SIZE, budget)
        budget -= part.size if part.size <= check else 0
        requests.append((index, Request(part.path, part.size, check)))
    return requests, found


def _why_not(path: Path, error: OSError) -> str:
    """Why a file cannot be looked at; git-annex, and data on other disks, leave links that lead nowhere."""
    if path.is_symlink() and isinstance(error, FileNotFoundError):
        target = os.fsdecode(path.readlink())
        return by_target(target) or f"a link to {shown(target)}, which is not there"
    return f"cannot be read ({error.strerror or error})"


class _Crew:
    """One or two threads, each asking a child of its own, until all requests are answered."""

    def __init__(self, requests: deque[tuple[int, Request]], limits: Limits) -> None:
        self._requests, self._limits = requests, limits
        self._news: queue.SimpleQueue[tuple[int, FileFacts] | BaseException] = queue.SimpleQueue()
        self._children: dict[int, ChildProcess] = {}
        self._lock = threading.Lock()
        self._stopped = False
        count = min(_MOST_CHILDREN, 1 + len(requests) // _WORTH_ANOTHER)
        self._share = max(1, min(_BATCH, len(requests) // (4 * count)))
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name="checkpoint reader", daemon=True)
            for number in range(count)
        ]

    def __enter__(self) -> _Crew:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Children that are still at work are ended."""
        with self._lock:
            self._stopped = True
            for child in self._children.values():
                child.stop()
        for thread in self._threads:
            thread.join()

    def news(self) -> dict[int, FileFacts]:
        """What was answered meanwhile; waits a little for something.

        Raises:
            CheckpointError: a child could not be started.
        """
        found: dict[int, FileFacts] = {}
        with contextlib.suppress(queue.Empty):
            item = self._news.get(timeout=_LOOK_S)
            while True:
                if isinstance(item, BaseException):
                    raise item
                found[item[0]] = item[1]
                item = self._news.get_nowait()
        with self._lock:
            for child in self._children.values():
                child.end_if_late()
        return found

    def _work(self, number: int) -> None:
        """Answer requests until none is left."""
        try:
            asked: deque[tuple[int, Request]] = deque()
            while (asked or self._requests) and not self._stopped:
                with self._hired(number) as child:
                    asked = self._ask_on(child, asked)
        except BaseException as error:  # whatever it is, the one who listens must not wait for ever
            self._news.put(error)

    @contextlib.contextmanager
    def _hired(self, number: int) -> Iterator[ChildProcess]:
        """A child for one thread, which is ended when the crew is stopped."""
        child = take(self._limits)
        with self._lock:
            self._children[number] = child
            if self._stopped:
                child.stop()
        try:
            yield child
        except BaseException:  # it may still have answers for somebody who is gone
            child.stop()
            raise
        finally:
            with self._lock:
                del self._children[number]
            give(child)

    def _ask_on(self, child: ChildProcess, asked: deque[tuple[int, Request]]) -> deque[tuple[int, Request]]:
        """Ask one child as long as it lives; the requests that it left unanswered."""
        if asked:
            child.ask([request for _, request in asked])
        while True:
            if len(asked) <= self._share // 2 and (batch := self._batch()):
                asked.extend(batch)
                child.ask([request for _, request in batch])
            if not asked:
                return asked
            size = asked[0][1].size
            body = child.answer(size)
            if body is None:
                break
            self._tell(*asked.popleft(), body)
        reason = child.why_it_ended(size)
        if reason:
            index, _ = asked.popleft()
            self._news.put((index, FileFacts(state="skipped", reason=reason)))
        return asked

    def _batch(self) -> list[tuple[int, Request]]:
        batch: list[tuple[int, Request]] = []
        room = _BATCH_BYTES
        while self._requests and len(batch) < self._share and room > 0:
            try:
                batch.append(self._requests.popleft())
            except IndexError:  # the other thread was faster
                break
            room -= len(batch[-1][1].path)
        return batch

    def _tell(self, index: int, request: Request, body: bytes) -> None:
        try:
            facts = _decoder.decode(body)
        except msgspec.MsgspecError:
            facts = FileFacts(state="skipped", reason="its reader answered nonsense")
        if not request.optimizers:
            _known.keep(request.path, facts, body)
        self._news.put((index, facts))
