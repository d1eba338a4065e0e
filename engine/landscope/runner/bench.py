"""The subjects that jobs work on, kept between jobs so that a model is built and data drawn once."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from landscope.contract.options import ProjectSpec

if TYPE_CHECKING:
    from landscope.project.subject import Subject

_KEPT = 4


class Bench:
    """Opens subjects and keeps the last few; a script that was edited is loaded again.

    Args:
        threads: intra-op threads for projects that name none; 0 = what is fastest on their first batch.
    """

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads
        self._most = 0
        self._settled: dict[tuple[object, ...], int] = {}
        self._subjects: OrderedDict[tuple[object, ...], Subject] = OrderedDict()

    def subject(self, project: ProjectSpec, run: str) -> Subject:
        """The subject of one run.

        Raises:
            ScriptError, DataError, TrustError: as ``open_subject``.
        """
        from landscope.project.subject import open_subject

        key = _key(project, run)
        if key not in self._subjects:
            self._forget_older_than(key)
            self._subjects[key] = open_subject(project, run, like=self._like(key))
        self._subjects.move_to_end(key)
        self._settle_threads(key)
        while len(self._subjects) > _KEPT:
            self._subjects.popitem(last=False)
        return self._subjects[key]

    def clear(self) -> None:
        """Forget all subjects."""
        self._subjects.clear()

    def _like(self, key: tuple[object, ...]) -> Subject | None:
        """A subject of the same project: its script and data serve another run as well."""
        return next((subject for other, subject in self._subjects.items() if other[:-1] == key[:-1]), None)

    def _settle_threads(self, key: tuple[object, ...]) -> None:
        import torch

        from landscope.runner.threads import settle_threads

        self._most = self._most or torch.get_num_threads()
        subject = self._subjects[key]
        asked = subject.project.engine.threads or self._threads or self._settled.get(key, 0)
        self._settled[key] = settle_threads(subject, asked, self._most)

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
        run,
    )
