"""What is no result of a session: root, ``/provenance``, ``/settings``, ``/view`` and ``/log``."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from landscope.contract.options import ProjectSpec, Setting
from landscope.session.layout.put import (
    as_json,
    put_array,
    put_attribute,
    put_json,
    put_text,
    put_texts,
)
from landscope.session.layout.take import (
    parsed,
    take_attribute,
    take_floats,
    take_group,
    take_integers,
    take_json,
    take_text,
    take_texts,
)
from landscope.session.model import LogLine, Session
from landscope.session.schema import FORMAT, FORMAT_VERSION, dataset_names

_TEXTS = ("uuid", "title", "created")


def put_facts(file: Any, session: Session) -> None:
    """Everything of a session that is no result."""
    put_attribute(file, "format", FORMAT)
    file.attrs["format_version"] = np.int64(FORMAT_VERSION)
    put_attribute(file, "NX_class", "NXroot")
    for name in _TEXTS:
        put_text(file, name, getattr(session, name))
    put_array(file, "saves", np.int64(session.saves))
    settings = file.create_group("settings")
    put_json(settings, "project", msgspec.to_builtins(session.project))
    put_json(settings, "options", session.settings)
    put_json(file.create_group("view"), "state", session.view)
    _put_provenance(file.create_group("provenance"), session.provenance)
    _put_log(file.create_group("log"), session.log)


def take_facts(file: Any) -> Session:
    """A session with everything but its results."""
    settings = take_group(file, "settings")
    return Session(
        uuid=take_text(file, "uuid"),
        title=take_text(file, "title"),
        created=take_text(file, "created"),
        saves=int(take_integers(file, "saves", ())),
        project=_untrusted(take_json(settings, "project", ProjectSpec | None)),
        settings=take_json(settings, "options", dict[str, Setting]),
        view=take_json(take_group(file, "view"), "state", dict[str, Any]),
        provenance=_take_provenance(take_group(file, "provenance")),
        log=_take_log(take_group(file, "log")),
    )


def _untrusted(project: ProjectSpec | None) -> ProjectSpec | None:
    """Trust is this person's word about a folder, never a file's."""
    return None if project is None else msgspec.structs.replace(project, trusted=False)


def take_version(file: Any) -> int | None:
    """The file's format version, None where it is no session of ours."""
    names = ("format", "format_version")
    if any(name not in file.attrs for name in names):
        return None
    kind = file.attrs.get_id("format_version")
    if kind.shape != () or kind.dtype != np.int64 or take_attribute(file, "format") != FORMAT:
        return None
    return int(file.attrs["format_version"])


def _put_provenance(group: Any, facts: dict[str, str]) -> None:
    """One readable text per fact, under its own name where that is possible."""
    names = dataset_names(list(facts), ("names", "datasets"))
    put_texts(group, "names", list(facts))
    put_texts(group, "datasets", names)
    for name, text in zip(names, facts.values(), strict=True):
        put_text(group, name, text)


def _take_provenance(group: Any) -> dict[str, str]:
    names = take_texts(group, "names")
    datasets = take_texts(group, "datasets", len(names))
    return {name: take_text(group, dataset) for name, dataset in zip(names, datasets, strict=True)}


def _put_log(group: Any, log: list[LogLine]) -> None:
    put_array(group, "time", np.array([line.time for line in log], np.float64))
    put_texts(group, "level", [line.level for line in log])
    put_texts(group, "sentence", [line.sentence for line in log])
    put_text(group, "detail", as_json([line.detail for line in log]))


def _take_log(group: Any) -> list[LogLine]:
    levels = take_texts(group, "level")
    times = take_floats(group, "time", (len(levels),))
    sentences = take_texts(group, "sentence", len(levels))
    details = parsed(take_text(group, "detail"), list[str], "/log/detail")
    return [
        LogLine(time=float(t), level=level, sentence=sentence, detail=detail)
        for t, level, sentence, detail in zip(times, levels, sentences, details, strict=True)
    ]
