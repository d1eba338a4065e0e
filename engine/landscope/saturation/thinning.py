"""Fewer rows of a batch, evenly spread: most of what a map shows is said by a quarter of its positions."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

ROWS_PER_FEATURE = 8
"""Rows per feature of a batch that are never left out."""


def thinned(samples: Tensor, share: float, turn: int) -> Tensor:
    """About max(share · n, 8 · D) of the n rows of samples (…, D), a view.

    Rows lie on a lattice over the positions of a map or the steps of a sequence (and over the items, where
    that is not enough). ``turn`` moves it: while it counts up, every position is taken equally often. Chance
    would do worse, since the positions of small maps differ much.
    """
    rows, features = math.prod(samples.shape[:-1]), samples.shape[-1]
    every = int(rows / max(share * rows, ROWS_PER_FEATURE * features, 1.0))
    steps = _steps(samples.shape[:-1], every)
    origins = np.unravel_index(turn % math.prod(steps), steps)
    return samples[tuple(slice(int(begin), None, step) for begin, step in zip(origins, steps, strict=True))]


def _steps(sizes: tuple[int, ...], every: int) -> list[int]:
    """One step per leading axis, the items first; their product is at most ``every``, and at least 1."""
    steps = [1] * len(sizes)
    left = max(1, every)
    for axis in range(len(sizes) - 1, 0, -1):
        steps[axis] = max(1, min(sizes[axis], math.floor(left ** (1 / axis) + 1e-9)))
        left //= steps[axis]
    steps[0] = max(1, min(sizes[0], left))
    return steps
