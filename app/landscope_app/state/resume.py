"""Going on with a plane that was interrupted, without Qt: what is known is not measured again."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from landscope.contract.deltas import Floats
from landscope.contract.job import AnyJob, KnownPoints, PlaneJob
from landscope.session.model import SAMPLED, Plane, Session


def known_points(plane: Plane) -> KnownPoints | None:
    """All points of a plane that were measured; None where there are none."""
    rows, columns = np.nonzero(plane.state == SAMPLED)
    if not len(rows):
        return None
    values: dict[str, Floats] = {name: found[rows, columns] for name, found in plane.values.items()}
    return KnownPoints(rows=rows.astype(np.int64), columns=columns.astype(np.int64), values=values)


def resumed(job: AnyJob, session: Session) -> AnyJob:
    """The same job, told what the session already knows of its plane."""
    plane = session.planes.get(job.id) if isinstance(job, PlaneJob) else None
    if plane is None or not isinstance(job, PlaneJob) or not _same_grid(job, plane):
        return job
    return replace(job, known=known_points(plane))


def _same_grid(job: PlaneJob, plane: Plane) -> bool:
    """Points may only be reused on the very grid they were measured on."""
    settings = plane.opened.settings
    wanted = {"seed": job.options.seed, "reach": job.options.reach} if job.kind == "random" else {}
    same = all(settings.get(name, value) == value for name, value in wanted.items())
    return same and plane.opened.kind == job.kind and len(plane.opened.alpha) == job.options.grid
