"""All eigenvalues of a symmetric matrix and the eigenvectors of only the largest ones."""

from __future__ import annotations

import torch
from torch import Tensor

_WHOLE = 384
"""Up to so many rows all eigenvectors cost less than finding the first ones alone."""

_BLOCK, _DEPTH, _ROUNDS = 4, 16, 20
_SMALL = 1e-7
_ROUNDING = 1e-13


def decomposed(matrix: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(n,) eigenvalues, smallest first, and (n, min(count, n)) eigenvectors of the largest, largest first.

    Every pair satisfies ‖Cv − λv‖ ≤ max(1e-7 λ, 1e-13 λ1). The vectors come from block Krylov spaces; only
    where these do not get there in time (nearly equal eigenvalues) all eigenvectors are computed.

    Args:
        matrix: (n, n) float64, symmetric, positive semidefinite. count: how many eigenvectors.
    """
    if count and len(matrix) > _WHOLE:
        vectors = _iterated(matrix, count)
        if vectors is not None:
            return torch.linalg.eigvalsh(matrix), vectors
    if not count:
        return torch.linalg.eigvalsh(matrix), matrix[:, :0]
    values, vectors = torch.linalg.eigh(matrix)
    return values, vectors.flip(1)[:, :count]


def signed(vectors: Tensor) -> Tensor:
    """The columns of (n, k), each with the sign that makes its largest entry positive."""
    if not vectors.numel():
        return vectors
    largest = vectors.gather(0, vectors.abs().argmax(0, keepdim=True))
    return vectors * torch.where(largest < 0, -1.0, 1.0)


def _iterated(matrix: Tensor, count: int) -> Tensor | None:
    """Eigenvectors from spaces span{Y, CY, C²Y, …}, each begun with the best of the one before."""
    start = torch.randn(len(matrix), _BLOCK, generator=torch.Generator().manual_seed(0), dtype=matrix.dtype)
    block: Tensor = start.to(matrix.device)
    for _ in range(_ROUNDS):
        basis, image = _krylov(matrix, block)
        values, mixing = torch.linalg.eigh(basis.t() @ image)
        values, best = values[-_BLOCK:], mixing[:, -_BLOCK:]
        block = basis @ best
        error = torch.linalg.vector_norm(image @ best - block * values, dim=0)
        if bool((error <= torch.maximum(_SMALL * values, _ROUNDING * values[-1]))[-count:].all()):
            return block[:, -count:].flip(1)
    return None


def _krylov(matrix: Tensor, block: Tensor) -> tuple[Tensor, Tensor]:
    """An orthonormal basis (n, block · depth) and its image; at low rank its last columns are arbitrary."""
    newest = torch.linalg.qr(block).Q
    basis, images = newest, [matrix @ newest]
    while len(images) < _DEPTH:
        newest = images[-1]
        for _ in range(2):  # what is left after the first time may be rounding
            newest = torch.linalg.qr(newest - basis @ (basis.t() @ newest)).Q
        basis = torch.cat([basis, newest], dim=1)
        images.append(matrix @ newest)
    return basis, torch.cat(images, dim=1)
