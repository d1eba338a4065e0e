"""Fewer rows of a batch, evenly spread: most of what a map shows is said by a quarter of its positions."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

ROWS_PER_FEATURE = 8
"""Rows per feature of a batch that are never left out."""


def thinned(samples: Tensor, share: float, random: np.random.Generator) -> Tensor:
    """About max(share · n, 8 · D) of the n rows of samples (…, D), a view.

    Rows lie on a lattice over the positions of a map or the steps of a sequence (and over the items, where
    that is not enough), with a random origin, so that over many batches every row is equally likely.
    """
    rows, features = math.prod(samples.shape[:-1]), samples.shape[-1]
    every = int(rows / max(share * rows, ROWS_PER_FEATURE * features, 1.0))
    for axis, step in enumerate(_steps(samples.shape[:-1], every)):
        if step > 1:
            origin = int(random.integers(step))
            samples = samples[(slice(None),) * axis + (slice(origin, None, step),)]
    return samples


def _steps(sizes: tuple[int, ...], every: int) -> list[int]:
    """One step per leading axis; their product is at most ``every``."""
    steps = [1] * len(sizes)
    left = every
    for axis in range(len(sizes) - 1, 0, -1):
        steps[axis] = min(sizes[axis], math.floor(left ** (1 / axis) + 1e-9))
        left //= max(1, steps[axis])
    steps[0] = max(1, min(sizes[0], left))
    return steps
