"""Norms of differences at the speed of memory, to 1e-7: float32 differences, sums of squares in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_BLOCK = 131_072
"""Elements subtracted at a time: they stay in the caches until they are squared."""

_SUM = 16_384
"""Elements whose squares are summed in float32; more would cost the seventh digit."""

_FEW = 4_096
"""Below so many elements float64 costs nothing."""


def norms(tensors: Sequence[Tensor]) -> list[float]:
    """‖x‖ of every tensor."""
    return _rooted([_squared(tensor.detach(), None) for tensor in tensors])


def difference_norms(now: Sequence[Tensor], then: Sequence[Tensor]) -> list[float]:
    """‖x − y‖ of every pair of tensors of one shape; NaN where the shapes differ."""
    return _rooted([_squared(x.detach(), y) for x, y in zip(now, then, strict=True)])


def _rooted(squares: Sequence[Tensor | float]) -> list[float]:
    """Square roots; what lies on a device is fetched all at once."""
    there = [square for square in squares if isinstance(square, Tensor)]
    fetched = iter(torch.stack(there).tolist() if there else ())
    numbers = [next(fetched) if isinstance(square, Tensor) else square for square in squares]
    return [math.sqrt(number) if number >= 0 else math.nan for number in numbers]


def _squared(x: Tensor, y: Tensor | None) -> Tensor | float:
    if y is not None and x.shape != y.shape:
        return math.nan
    if x.device.type != "cpu":
        return _squared_there(x, y)
    if x.dtype == torch.float32 and (y is None or y.dtype == torch.float32):
        with np.errstate(invalid="ignore", over="ignore"):  # inf − inf, and squares that float32 cannot hold
            return math.fsum(_blocks(x.reshape(-1).numpy(), None if y is None else y.reshape(-1).numpy()))
    return float(_squared_there(x, y))


def _squared_there(x: Tensor, y: Tensor | None) -> Tensor:
    """On the device of the values; half precision is widened before subtracting, float64 stays."""
    wide = torch.float64 if x.device.type != "mps" else torch.float32
    x = x if x.dtype == torch.float64 else x.to(torch.float32)
    difference = x if y is None else x - y.to(device=x.device, dtype=x.dtype)
    norm: Tensor = torch.linalg.vector_norm(difference, dtype=wide)
    return norm.square()


def _blocks(x: NDArray[np.float32], y: NDArray[np.float32] | None) -> Iterator[float]:
    room = np.empty(min(_BLOCK, len(x)), np.float32)
    for begin in range(0, len(x), _BLOCK):
        part = x[begin : begin + _BLOCK]
        if y is not None:
            part = np.subtract(part, y[begin : begin + _BLOCK], out=room[: len(part)])
        yield from _sums_of_squares(part)


def _sums_of_squares(values: NDArray[np.float32]) -> Iterator[float]:
    for begin in range(0, len(values), _SUM):
        part = values[begin : begin + _SUM]
        found = float(np.dot(part, part)) if len(part) >= _FEW else math.nan
        if not math.isfinite(found) or (found < 1e-30 and part.any()):  # or squares left the range of float32
            wide = part.astype(np.float64)
            found = float(np.dot(wide, wide))
        yield found
