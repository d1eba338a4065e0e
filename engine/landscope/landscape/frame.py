"""The frame of a plane: its base, its two directions, its axes, and the path over it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from landscope.contract.job import PlaneJob
from landscope.contract.options import Setting
from landscope.landscape.grid import Node, covering_axis, symmetric_axis
from landscope.landscape.trajectory import StateReader, find_path
from landscope.weights.directions import Pair, random_pair
from landscope.weights.units import units_of
from landscope.weights.vector import ParameterVector

if TYPE_CHECKING:
    from landscope.project.subject import Subject

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """Where a plane lies.

    Attributes:
        base: checkpoint at (0, 0). pair: directions of the axes.
        alpha, beta: (A,), (B,) coordinates of the finest grid.
        axis_titles: with the share of the path's variance where there is one.
        checkpoints: names of the path's M points. coordinates: (M, 2). residuals: (M,).
        skipped: for each checkpoint left out of the path, why, in a sentence.
        recipe: how the directions came to be.
    """

    base: str
    pair: Pair
    alpha: Doubles
    beta: Doubles
    axis_titles: tuple[str, str]
    checkpoints: tuple[str, ...]
    coordinates: Doubles
    residuals: Doubles
    skipped: tuple[str, ...]
    recipe: dict[str, Setting]

    @property
    def centre(self) -> Node:
        """The node at (0, 0)."""
        return int(np.abs(self.alpha).argmin()), int(np.abs(self.beta).argmin())

    @property
    def path_indices(self) -> Doubles:
        """(M, 2) the path in fractional indices of the finest grid."""
        steps = np.array([self.alpha[1] - self.alpha[0], self.beta[1] - self.beta[0]])
        return np.asarray(self.coordinates / steps + np.array(self.centre), np.float64)


def random_frame(subject: Subject, job: PlaneJob, base: str, vector: ParameterVector) -> Frame:
    """Two random directions around the base, which the model holds already.

    Raises:
        OptionError: an option that cannot be used, or no weights to move.
    """
    options = job.options
    pair = random_pair(vector, subject.model, options.seed, options.normalization)
    axis = symmetric_axis(options.reach, options.grid)
    units = units_of(subject.model)
    counted = Counter(units[name].kind for name in vector.names)
    recipe: dict[str, Setting] = {
        "directions": "gaussian, float64 on the host; second made orthogonal to the first, then normalised",
        "seed": options.seed,
        "normalization": options.normalization,
        "reach": options.reach,
        "one_dimensional": "held at the base (biases, norm layers, scalars)",
        "units": ", ".join(f"{kind} {count}" for kind, count in sorted(counted.items())),
    }
    return Frame(
        base=base,
        pair=pair,
        alpha=axis,
        beta=axis.copy(),
        axis_titles=("α", "β"),
        checkpoints=(base,),
        coordinates=np.zeros((1, 2)),
        residuals=np.zeros(1),
        skipped=(),
        recipe={**recipe, **_facts(vector, pair)},
    )


def trajectory_frame(
    subject: Subject, job: PlaneJob, base: str, vector: ParameterVector, reader: StateReader
) -> Frame:
    """The plane that the run's path fills best, wide enough for all of the path.

    Raises:
        OptionError: fewer than three usable checkpoints, or a straight path.
    """
    path = find_path(subject, vector, base, reader)
    first, second = path.plane.pair.explained
    recipe: dict[str, Setting] = {
        "directions": "uncentred PCA of the checkpoints minus the base; unit vectors, not normalised",
        "normalization": "none",
        "explained_alpha": first,
        "explained_beta": second,
    }
    return Frame(
        base=base,
        pair=path.plane.pair,
        alpha=covering_axis(path.plane.coordinates[:, 0], job.options.grid),
        beta=covering_axis(path.plane.coordinates[:, 1], job.options.grid),
        axis_titles=(f"α · {100 * first:.1f} %", f"β · {100 * second:.1f} %"),
        checkpoints=path.checkpoints,
        coordinates=path.plane.coordinates,
        residuals=path.plane.residuals,
        skipped=path.skipped,
        recipe={**recipe, **_facts(vector, path.plane.pair)},
    )


def _facts(vector: ParameterVector, pair: Pair) -> dict[str, Setting]:
    first, second = pair.sha256()
    return {
        "cosine": pair.cosine,
        "sha256_first": first,
        "sha256_second": second,
        "parameters": vector.size,
    }
