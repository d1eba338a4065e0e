"""Progress for people: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from types import TracebackType
from typing import Protocol

from landscope.cli.waiting import EVERY_S, Waiting
from landscope.contract.events import Cancelled, Done, Event, Failed, Log, Notice, Progress, Started


class Face(Protocol):
    """Shows events while they come."""

    def __enter__(self) -> Face: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def show(self, event: Event) -> None:
        """Show one event."""


def face(quiet: bool, verbose: bool = False) -> Face:
    """The right face for where the output goes. ``verbose``: failures with their details."""
    if quiet:
        return Plain(level="error")
    return Bar(Failures(verbose)) if sys.stderr.isatty() else Plain(failures=Failures(verbose))


class Failures:
    """How a failure is told: with its details if they are wanted, else once how to get them."""

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose
        self._hinted = False

    def text(self, title: str, failed: Failed) -> str:
        """The sentence, and the lines below it."""
        sentence = f"{title}: {failed.sentence}"
        detail = failed.detail.strip()
        if not detail:
            return sentence
        if self._verbose:
            return "\n".join([sentence, *(f"    {line}" for line in detail.splitlines())])
        hint = "" if self._hinted else "\n  For the details run it again with --verbose."
        self._hinted = True
        return sentence + hint


class Plain:
    """One line per job, notice and every ten seconds of progress."""

    def __init__(self, level: str = "info", failures: Failures | None = None) -> None:
        self._errors_only = level == "error"
        self._failures = failures or Failures()
        self._title = ""
        self._last = time.monotonic()
        self._stream = sys.stderr  # also while a script runs, whose output is listened to
        self._waiting = Waiting(self._print)

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.end()

    def show(self, event: Event) -> None:
        """Print what matters."""
        body = event.body
        if not self._errors_only:
            self._waiting.hear(body)
        if isinstance(body, Failed):
            self._print(self._failures.text(self._title, body))
        elif self._errors_only and not (isinstance(body, Notice) and body.level == "error"):
            return
        elif isinstance(body, Started):
            self._title, self._last = body.title, time.monotonic()
            self._print(f"{body.title} …")
        elif isinstance(body, Progress) and time.monotonic() - self._last > EVERY_S:
            self._last = time.monotonic()
            self._print(f"{self._title}: {progress_text(body)}")
        elif (text := notice_text(event)) is not None:
            self._print(text)

    def _print(self, text: str) -> None:
        with contextlib.suppress(OSError):  # whoever read it has gone: no reason to lose the work
            print(text, file=self._stream, flush=True)


class Bar:
    """A bar that moves, notices above it."""

    def __init__(self, failures: Failures | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(file=sys.stderr),  # this one, whatever stands there while a script runs
        )
        self._task = self._bar.add_task("", total=1.0, left="")
        self._title = ""
        self._failures = failures or Failures()
        self._waiting = Waiting(lambda text: self._bar.console.print(text, markup=False))

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.end()
        self._bar.stop()

    def show(self, event: Event) -> None:
        """Move the bar or print above it."""
        body = event.body
        self._waiting.hear(body)
        if isinstance(body, Started):
            self._title = body.title
            self._bar.update(self._task, description=body.title, completed=0.0, total=1.0, left="")
        elif isinstance(body, Progress):
            self._bar.update(
                self._task, completed=body.done, total=body.total, left=left_text(body.eta_s) or body.what
            )
        elif isinstance(body, Failed):
            self._bar.console.print(self._failures.text(self._title, body), style="red", markup=False)
        elif isinstance(body, Done):
            self._bar.update(self._task, completed=1.0, total=1.0, left="")
        elif (text := notice_text(event)) is not None:
            self._bar.console.print(text, markup=False)


def notice_text(event: Event) -> str | None:
    """A line for what is neither progress nor a failure; None if there is nothing to say."""
    body = event.body
    if isinstance(body, Notice):
        return f"  {body.level}: {body.sentence}" if body.level != "info" else f"  {body.sentence}"
    if isinstance(body, Log):
        return f"  | {body.text}"
    return "  cancelled" if isinstance(body, Cancelled) else None


def progress_text(body: Progress) -> str:
    """Such as "42 %, 12 s left"."""
    share = 100.0 * body.done / body.total if body.total else 0.0
    left = left_text(body.eta_s)
    return f"{share:.0f} %" + (f", {left}" if left else "")


def left_text(seconds: float | None) -> str:
    """Time left in words; empty if not known."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s left" if minutes else f"{rest} s left"
