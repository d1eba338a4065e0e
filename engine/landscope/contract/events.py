"""Everything an engine says: one event carries the job it belongs to and one body."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from landscope.contract.deltas import AnyDelta
from landscope.contract.errors import LandscopeError

PROTOCOL = 1
SCRIPT_RUNS = "script is still running"
"""What ``Progress`` says while a script is imported, builds its model and draws its data: nobody knows how
long that takes, and no token is asked meanwhile.
"""
Level = Literal["info", "warning", "error"]


class Body(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag=True):
    """Base of all bodies."""


class Hello(Body, frozen=True, kw_only=True):
    """First frame of a host: who speaks. ``torch`` is empty where torch is not installed."""

    protocol: int
    version: str
    python: str
    torch: str
    devices: tuple[str, ...]
    role: str
    pid: int


class Started(Body, frozen=True, kw_only=True):
    """A job left the queue and runs."""

    title: str


class Progress(Body, frozen=True, kw_only=True):
    """``done`` of ``total`` units of work; ``eta_s`` seconds left, None = not known yet."""

    done: float
    total: float
    eta_s: float | None = None
    what: str = ""


class Partial(Body, frozen=True, kw_only=True):
    """A piece of result; apply it to the session."""

    delta: AnyDelta


class Notice(Body, frozen=True, kw_only=True):
    """Something a person should know; the work goes on."""

    level: Level
    sentence: str
    detail: str = ""


def told(error: LandscopeError) -> Notice:
    """An error that costs one part of the work, while the rest goes on."""
    return Notice(level="warning", sentence=error.sentence, detail=error.detail)


class Log(Body, frozen=True, kw_only=True):
    """What the script printed. ``stream`` is "stdout" or "stderr"."""

    stream: str
    text: str


class Paused(Body, frozen=True, kw_only=True):
    """The job waits at a safe point until resumed."""


class Resumed(Body, frozen=True, kw_only=True):
    """The job goes on."""


class Failed(Body, frozen=True, kw_only=True):
    """The job ended with an error; results so far stay.

    ``error``: name of its class in ``contract.errors`` (``ScriptError``, …), by which a face may offer what
    helps; empty for anything unexpected.
    """

    sentence: str
    detail: str = ""
    error: str = ""


class Cancelled(Body, frozen=True, kw_only=True):
    """The job ended because somebody cancelled it; results so far stay, the model is restored."""


class Done(Body, frozen=True, kw_only=True):
    """The job ended well. ``summary`` is a sentence for the log; ``answer`` what the job was asked for."""

    summary: str = ""
    answer: dict[str, Any] = {}


AnyBody = Hello | Started | Progress | Partial | Notice | Log | Paused | Resumed | Failed | Cancelled | Done
Update = Progress | Partial | Notice
ENDINGS = (Failed, Cancelled, Done)


class Event(msgspec.Struct, frozen=True):
    """``body`` happened in the job called ``job`` (empty: in no job)."""

    job: str
    body: AnyBody
