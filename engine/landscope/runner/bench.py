"""The subjects that jobs work on, kept between jobs so that a model is built and data drawn once."""

from __future__ import annotations

import traceback
from collections import OrderedDict
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from landscope.contract.errors import LandscopeError
from landscope.contract.events import Progress
from landscope.contract.job import CancelToken
from landscope.contract.options import ProjectSpec

if TYPE_CHECKING:
    from landscope.project.subject import Subject

_KEPT = 4
DEFAULT_THREADS = 1
"""Intra-op threads on the CPU. More are faster on large layers and an idle machine, but collapse as soon as
another process wants a core: the sample's plane took 33 times longer with two threads on two cores, one of
them busy, than with one thread.
"""


class Bench:
    """Opens subjects and keeps the last few; a script that was edited is loaded again.

    Args:
        threads: intra-op threads for projects that name none.
        remember_failures: a script that failed is not run again, unless it is edited. For a list of jobs
            made in one go: an import that takes a minute to fail would take it once per job.
    """

    def __init__(self, threads: int = DEFAULT_THREADS, *, remember_failures: bool = False) -> None:
        self._threads = threads
        self._failures: dict[tuple[object, ...], LandscopeError] | None = {} if remember_failures else None
        self._subjects: OrderedDict[tuple[object, ...], Subject] = OrderedDict()

    def subject(self, project: ProjectSpec, run: str) -> Subject:
        """As ``opening``, without a word about how far it is."""
        for _progress in self.opening(project, run, None):
            pass
        return self._subjects[_key(project, run)]

    def opening(
        self, project: ProjectSpec, run: str, token: CancelToken | None
    ) -> Generator[Progress, None, Subject]:
        """The subject of one run; says how much of the data is drawn if it is not there yet.

        Raises:
            ScriptError, DataError, TrustError: as ``open_subject``. JobCancelled: somebody cancelled.
        """
        self._use_threads(project)
        key = _key(project, run)
        if key not in self._subjects:
            self._forget_older_than(key)
            self._subjects[key] = yield from self._opened(project, run, key, token)
        self._subjects.move_to_end(key)
        while len(self._subjects) > _KEPT:
            self._subjects.popitem(last=False)
        return self._subjects[key]

    def holds(self, project: ProjectSpec, run: str) -> bool:
        """Whether the subject is there already, so that its script need not run."""
        return _key(project, run) in self._subjects

    def clear(self) -> None:
        """Forget all subjects."""
        self._subjects.clear()

    def _opened(
        self, project: ProjectSpec, run: str, key: tuple[object, ...], token: CancelToken | None
    ) -> Generator[Progress, None, Subject]:
        from landscope.project.opening import opening

        known = (self._failures or {}).get(key)
        if known is not None:
            raise type(known)(known.sentence, known.detail)
        try:
            return (yield from opening(project, run, like=self._like(key), token=token))
        except LandscopeError as error:
            if self._failures is not None:
                self._failures[key] = type(error)(error.sentence, error.detail or traceback.format_exc())
            raise

    def _like(self, key: tuple[object, ...]) -> Subject | None:
        """A subject of the same project: its script and data serve another run as well."""
        return next((subject for other, subject in self._subjects.items() if other[:-1] == key[:-1]), None)

    def _use_threads(self, project: ProjectSpec) -> None:
        import torch

        torch.set_num_threads(project.engine.threads or self._threads)

    def _forget_older_than(self, key: tuple[object, ...]) -> None:
        """An edited script makes every subject built from its older text stale."""
        for other in [k for k in self._subjects if k[0] == key[0] and k[1] != key[1]]:
            del self._subjects[other]


def _key(project: ProjectSpec, run: str) -> tuple[object, ...]:
    script = Path(project.script) if project.script else None
    edited = script.stat().st_mtime_ns if script and script.is_file() else 0
    return (
        project.script,
        edited,
        project.root,
        project.runs,
        project.engine,
        project.data,
        project.trusted,
        project.arguments,
        project.weights,
        run,
    )
