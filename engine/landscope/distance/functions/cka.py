"""Linear CKA: how alike two layers see the same samples, whatever rotation or scale they see them in.

CKA(X, Y) = HSIC(K, L) / √(HSIC(K, K) HSIC(L, L)) with K = XXᵀ, L = YYᵀ (Kornblith et al. 2019). The biased
HSIC is ⟨HKH, HLH⟩/(n − 1)²: with more features than samples its CKA tends to 1. The unbiased one (Song et al.
2012) is ⟨K̃, L̃⟩/(n(n − 3)) of the U-centred matrices (Székely and Rizzo 2014); its mean over minibatches has
the right expectation whatever their size (Nguyen et al. 2021).

Every HSIC here is an inner product of vectors, one per layer: those of all pairs are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from landscope.contract.errors import OptionError

Vector = NDArray[np.float32]
Estimator = Literal["unbiased", "biased"]
FEWEST = {"unbiased": 4, "biased": 2}
"""Samples that a minibatch needs."""
_EXACT = 4096
"""Up to so many features a Gram matrix is multiplied in float64; above, float32 costs half as much."""


def linear_cka(
    one: ArrayLike, other: ArrayLike, *, estimator: Estimator = "unbiased", minibatch: int = 0
) -> float:
    """Linear CKA of two layers on the same samples.

    Args:
        one: (n, …) outputs of one layer; all axes but the first are its features. other: (n, …).
        estimator: ``unbiased`` or ``biased`` HSIC. minibatch: 0 = all samples at once, else at most so many.

    Returns 1 for layers that differ by a rotation and a scale, about 0 for unrelated ones (the unbiased one
    may be below 0); NaN where a layer is constant or not finite.

    Raises:
        OptionError: the numbers of samples differ, or are too few for the estimator.
    """
    first, second = (torch.as_tensor(np.asarray(values)) for values in (one, other))
    if len(first) != len(second):
        raise OptionError(f"CKA compares the same samples, but there are {len(first)} and {len(second)}.")
    if len(first) < FEWEST[estimator]:
        raise OptionError(f"The {estimator} CKA needs {FEWEST[estimator]} samples, not {len(first)}.")
    vectors = [_vector(values.flatten(1), estimator, minibatch or len(values)) for values in (first, second)]
    return float(cka_matrix(vectors[:1], vectors[1:])[0, 0])


def cka_matrix(
    rows: Sequence[Vector | None], columns: Sequence[Vector | None] | None = None
) -> NDArray[np.float64]:
    """(M, K) CKA between the vectors of M and K layers; NaN where one is missing, constant or not finite.

    ``columns`` None: the rows among themselves.
    """
    length = max((len(one) for one in (*rows, *(columns or ())) if one is not None), default=0)
    one = _stacked(rows, length)
    other = one if columns is None else _stacked(columns, length)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        lengths = np.sqrt((one * one).sum(1))[:, None] * np.sqrt((other * other).sum(1))[None, :]
        return np.where(lengths > 0, one @ other.T / lengths, np.nan)


def _stacked(vectors: Sequence[Vector | None], length: int) -> NDArray[np.float64]:
    found = np.full((len(vectors), length), np.nan)
    for row, vector in enumerate(vectors):
        if vector is not None and len(vector) == length:
            found[row] = vector
    return found


def pieces(size: int, minibatch: int, estimator: Estimator) -> list[slice]:
    """The minibatches that a batch is cut into: about equally many samples each, none if they are too few."""
    if size < FEWEST[estimator]:
        return []
    number = min(math.ceil(size / minibatch), size // FEWEST[estimator])
    bounds = np.linspace(0, size, number + 1).round().astype(int).tolist()
    return [slice(begin, end) for begin, end in pairwise(bounds)]


def gram(features: Tensor) -> Tensor:
    """(n, n) products of the samples (n, F) about their mean, which no centred HSIC sees."""
    wide = features.to(torch.float64 if features.shape[1] <= _EXACT else torch.float32)
    centred = wide - wide.mean(0)
    return centred @ centred.T


def centred_vector(products: Tensor, estimator: Estimator) -> Vector:
    """The centred (n, n) Gram matrix as a vector: inner products of such vectors are HSIC, but for a mean.

    Only one half of the matrix, which is symmetric, is kept.
    """
    n, matrix = len(products), products.to(torch.float64)
    if estimator == "biased":
        rows = matrix.mean(0)
        matrix = (matrix - rows[:, None] - rows[None, :] + rows.mean()) / (n - 1)
    else:
        matrix = matrix - torch.diag(torch.diagonal(matrix))
        rows = matrix.sum(0) / (n - 2)
        matrix = matrix - rows[:, None] - rows[None, :] + rows.sum() / (n - 1)
        matrix = (matrix - torch.diag(torch.diagonal(matrix))) / math.sqrt(n * (n - 3))
    half = torch.triu_indices(n, n)
    twice = torch.where(half[0] == half[1], 1.0, math.sqrt(2.0)).to(torch.float64)
    found: Vector = (matrix[half[0], half[1]] * twice).to(torch.float32).numpy()
    return found


def _vector(features: Tensor, estimator: Estimator, minibatch: int) -> Vector:
    parts = pieces(len(features), minibatch, estimator)
    return np.concatenate([centred_vector(gram(features[part]), estimator) for part in parts])
