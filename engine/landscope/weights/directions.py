"""Directions in weight space: random pairs from a seed, and from one checkpoint to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from landscope.contract.errors import OptionError
from landscope.contract.options import Normalization
from landscope.weights.flat import Flat
from landscope.weights.normalise import clear_fixed, normalise
from landscope.weights.units import units_of
from landscope.weights.vector import ParameterVector


@dataclass(frozen=True)
class Pair:
    """Two directions that span a plane.

    Attributes:
        first, second: d1 and d2.
        cosine: of the angle between them as they are used.
        explained: (share, share) of a path's squared length along each; NaN where it means nothing.
    """

    first: Flat
    second: Flat
    cosine: float
    explained: tuple[float, float] = (float("nan"), float("nan"))

    def sha256(self) -> tuple[str, str]:
        """Hashes of the two directions' bytes."""
        return self.first.sha256(), self.second.sha256()


def gaussian(vector: ParameterVector, generator: torch.Generator) -> Flat:
    """A standard normal direction, drawn on the host in float64 in the order of ``vector.names``.

    The same seed gives the same direction on every device, in every memory format and for every tie.
    """
    direction = vector.zeros()
    for part in vector.views(direction).values():
        wide = torch.complex128 if part.is_complex() else torch.float64
        part.copy_(torch.randn(part.shape, generator=generator, dtype=wide))
    return direction


@torch.no_grad()
def random_pair(
    vector: ParameterVector,
    model: nn.Module,
    seed: int,
    normalization: Normalization = "filter",
    ignore_1d: bool = True,
) -> Pair:
    """Two random directions: drawn, made orthogonal, then each normalised (which tilts them again a little).

    Args:
        vector: parameters to move; its base gives the norms.
        model: the model of the vector, whose layers say what a unit is.
        seed: of an own generator; the global ones are not touched.
        normalization: unit of the scaling, see ``normalise``.
        ignore_1d: leave biases, weights of norm layers and scalars where they are.

    Raises:
        OptionError: unknown normalisation, or nothing is left to move.
    """
    generator = torch.Generator("cpu").manual_seed(seed)
    units, base = units_of(model), vector.base
    first, second = gaussian(vector, generator), gaussian(vector, generator)
    if ignore_1d:
        clear_fixed(vector, first, units)
        clear_fixed(vector, second, units)
    length = first.dot(first)
    if length == 0:
        raise OptionError("The model has no weights that a random direction could move.")
    second.add_(first, -second.dot(first) / length)
    for direction in (first, second):
        normalise(vector, direction, base, normalization, units)
    return Pair(first, second, first.cosine(second))


def between(vector: ParameterVector, end: Mapping[str, Tensor]) -> Flat:
    """The direction from the vector's base to a checkpoint, θ_end − θ0.

    Raises:
        CheckpointError: the checkpoint does not fit the model.
    """
    return vector.read_state(end).add_(vector.base, -1.0)
