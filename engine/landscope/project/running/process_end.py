"""A script cannot end the process: while its code runs, what would do so at once raises SystemExit."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_Place = tuple[Any, str]
_leave = os._exit
_process = os.getpid()


@contextmanager
def outliving() -> Iterator[None]:
    """Inside, whatever would end this process raises SystemExit, and no signal handlers are installed.

    Processes that the script forks are their own: they end as they like, here at the latest.
    """
    global _process
    process = _process = os.getpid()
    before = {place: getattr(*place) for place in _STAND_INS}
    try:
        for (module, name), stand_in in _STAND_INS.items():
            setattr(module, name, stand_in)
        yield
    finally:
        if os.getpid() != process:
            _leave(0)
        for (module, name), own in before.items():
            setattr(module, name, own)


def _always(*_given: Any, **_named: Any) -> bool:
    return True


def _kills_this(number: int, sent: int) -> bool:
    return bool(sent) and number in (os.getpid(), 0, -1, -_group())


def _kills_this_group(number: int, sent: int) -> bool:
    return bool(sent) and number in (0, _group())


def _group() -> int:
    return os.getpgrp() if hasattr(os, "getpgrp") else os.getpid()


def _raising(place: _Place, ends: Callable[..., bool]) -> Callable[..., Any]:
    real, name = getattr(*place), place[1]

    def stand_in(*given: Any, **named: Any) -> Any:
        if os.getpid() != _process or not ends(*given, **named):
            return real(*given, **named)
        raise SystemExit([*given, *named.values()][0] if name == "_exit" else f"{name}()")

    return stand_in


_ENDS: dict[_Place, Callable[..., bool]] = {
    (os, "_exit"): _always,
    (os, "abort"): _always,
    (os, "execv"): _always,  # the other ways to become another program call this one or the next
    (os, "execve"): _always,
    (os, "kill"): _kills_this,
    (os, "killpg"): _kills_this_group,
    (signal, "raise_signal"): _always,
}
"""What ends the process or makes another program of it, and when: with which arguments."""

_UNHEARD: dict[_Place, Callable[..., Any]] = {
    (signal, "signal"): lambda number, _handler: signal.getsignal(number),
    (signal, "alarm"): lambda _seconds: 0,
    (signal, "setitimer"): lambda *_given: (0.0, 0.0),
}
"""The process's signals are not the script's to handle; an alarm that nobody handles would end it."""

_STAND_INS: dict[_Place, Callable[..., Any]] = {
    **{place: _raising(place, ends) for place, ends in _ENDS.items() if hasattr(*place)},
    **{place: stand_in for place, stand_in in _UNHEARD.items() if hasattr(*place)},
}
