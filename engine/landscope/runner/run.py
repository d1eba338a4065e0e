"""One job from start to end, as events. The same for host, command line and Python."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator

from landscope.contract.errors import JobCancelled, LandscopeError
from landscope.contract.events import AnyBody, Cancelled, Done, Event, Failed, Started
from landscope.contract.job import AnyJob, CancelToken
from landscope.runner.bench import Bench
from landscope.runner.catalogue import title, updates

_NO_TORCH = "This needs PyTorch, which this Python does not have; run: {python} -m pip install torch"


def run_job(name: str, job: AnyJob, bench: Bench, token: CancelToken) -> Iterator[Event]:
    """Started, then everything the analysis says, then exactly one of Done, Failed, Cancelled.

    Close the iterator to stop early: analyses are generators and restore the model in ``finally``.
    """
    yield Event(name, Started(title=title(job)))
    ending: AnyBody = Done()
    try:
        for update in _checked(job, bench, token):
            if isinstance(update, Done):
                ending = update
            else:
                yield Event(name, update)
    except JobCancelled:
        ending = Cancelled()
    except LandscopeError as error:
        detail = error.detail or traceback.format_exc()
        ending = Failed(sentence=error.sentence, detail=detail, error=type(error).__name__)
    except MemoryError:
        ending = Failed(
            sentence="There was not enough memory; choose fewer samples or a smaller batch size.",
            detail=traceback.format_exc(),
        )
    except (Exception, SystemExit) as error:  # a script may raise anything; the host lives on
        ending = Failed(sentence=_unexpected(job, error), detail=traceback.format_exc())
    yield Event(name, ending)


def _checked(job: AnyJob, bench: Bench, token: CancelToken) -> Iterator[AnyBody]:
    token.check()
    yield from updates(job, bench, token)


def _unexpected(job: AnyJob, error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return _NO_TORCH.format(python=sys.executable)
    said = " ".join(str(error).split()) or "no message"
    return f"{title(job)} stopped on an unexpected {type(error).__name__}: {said[:300]}"
