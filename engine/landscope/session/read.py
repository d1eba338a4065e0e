"""Reading a session file: first validated, then taken over piece by piece, each checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from landscope.contract.errors import SessionError
from landscope.session.layout.distances import take_distances, take_gradients
from landscope.session.layout.facts import take_facts, take_version
from landscope.session.layout.lines import take_line
from landscope.session.layout.planes import take_plane, take_trajectory
from landscope.session.layout.runs import take_run
from landscope.session.layout.saturations import take_saturation
from landscope.session.layout.similarities import take_similarity
from landscope.session.layout.take import members
from landscope.session.model import Session
from landscope.session.schema import FORMAT_VERSION
from landscope.session.validate import validated


def read(path: Path) -> Session:
    """The session in a file, equal to the one that was saved.

    Raises:
        SessionError: no such file, not HDF5, not a session, written by a newer version, damaged, or holding
            something that a session never holds.
    """
    with validated(path) as file, _damage_told(path):
        _check_version(file, path)
        return _session(file)


def _session(file: Any) -> Session:
    session = take_facts(file)
    session.runs = {run.name: run for run in map(take_run, members(file, "checkpoints"))}
    for one in map(take_saturation, members(file, "saturation")):
        session.saturation[f"{one.run}/{one.mode}"] = one
    for distances in map(take_distances, members(file, "distances")):
        session.distances[distances.opened.run] = distances
    for gradients in map(take_gradients, members(file, "gradients")):
        session.gradients[gradients.opened.run] = gradients
    for similarity in map(take_similarity, members(file, "similarity")):
        session.similarities[similarity.run, similarity.other] = similarity
    session.lines = {line.opened.id: line for line in map(take_line, members(file, "lines"))}
    session.planes = {plane.opened.id: plane for plane in map(take_plane, members(file, "planes"))}
    for path in map(take_trajectory, members(file, "trajectories")):
        if path.plane in session.planes:
            session.planes[path.plane].trajectories[path.run] = path
    return session


def _check_version(file: Any, path: Path) -> None:
    version = take_version(file)
    if version is None:
        raise SessionError(f"{path} is an HDF5 file, but not a session of Landscope.")
    if version > FORMAT_VERSION:
        raise SessionError(
            f"{path} was written by a newer Landscope (format {version}, this one reads up to "
            f"{FORMAT_VERSION}): update Landscope to open it."
        )
    if version < 1:
        raise SessionError(f"{path} has the unknown format version {version}.")


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Whatever goes wrong inside, a person reads one sentence that names the file."""
    try:
        yield
    except SessionError as error:
        sentence = error.sentence if str(path) in error.sentence else f"{path}: {error.sentence}"
        raise SessionError(sentence, error.detail) from error
    except MemoryError as error:
        raise SessionError(f"{path} needs more memory than there is.") from error
    except (OSError, ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        raise SessionError(f"{path} is damaged and cannot be read.", repr(error)) from error
