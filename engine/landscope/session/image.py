"""A session as the bytes of an HDF5 file, made in memory.

libhdf5 never writes to a disk in our process: a kill, a power loss or a full disk in the middle of its own
writing damages the file or, for the full disk, ends the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from landscope.session.hdf5 import h5py
from landscope.session.layout.distances import put_distances, put_gradients
from landscope.session.layout.facts import put_facts
from landscope.session.layout.lines import put_line
from landscope.session.layout.planes import put_plane, put_trajectory
from landscope.session.layout.runs import put_run
from landscope.session.layout.saturations import put_saturation
from landscope.session.layout.similarities import put_similarity
from landscope.session.model import Session
from landscope.session.schema import numbered

_GROWTH = 1 << 22


def image(session: Session) -> bytes:
    """The whole file. Nothing is written anywhere."""
    with h5py.File("session", "w", driver="core", backing_store=False, block_size=_GROWTH) as file:
        put_session(file, session)
        file.flush()
        found: bytes = file.id.get_file_image()
        return found


def put_session(file: Any, session: Session) -> None:
    """Everything into an empty HDF5 file."""
    put_facts(file, session)
    _each(file, "checkpoints", put_run, session.runs.values())
    _each(file, "saturation", put_saturation, session.saturation.values())
    _each(file, "distances", put_distances, session.distances.values())
    _each(file, "gradients", put_gradients, session.gradients.values())
    _each(file, "similarity", put_similarity, session.similarities.values())
    _each(file, "lines", put_line, session.lines.values())
    _each(file, "planes", put_plane, session.planes.values())
    paths = [path for plane in session.planes.values() for path in plane.trajectories.values()]
    _each(file, "trajectories", put_trajectory, paths)


def _each(file: Any, name: str, put: Callable[[Any, Any], None], results: Iterable[Any]) -> None:
    parent = file.create_group(name)
    for index, result in enumerate(results):
        put(parent.create_group(numbered(index)), result)
