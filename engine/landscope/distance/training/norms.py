"""Norms of differences at the speed of memory, to 1e-7: float32 differences, sums of squares in float64."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_BLOCK = 262_144
"""Elements subtracted at a time: they stay in the caches until they are squared."""

_SUM = 32_768
"""Elements whose squares are summed in float32; more would cost the seventh digit."""

_FEW = 4_096
"""Up to so many elements float64 costs nothing."""

_SMALLEST = 1e-24
"""Below this sum of squares some of them may have vanished in float32."""


Array = NDArray[np.float32]


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
        return _of_arrays(x.reshape(-1).numpy(), None if y is None else y.reshape(-1).numpy())
    return float(_squared_there(x, y))


def _squared_there(x: Tensor, y: Tensor | None) -> Tensor:
    """On the device of the values; half precision is widened before subtracting, float64 stays."""
    wide = torch.float64 if x.device.type != "mps" else torch.float32
    x = x if x.dtype == torch.float64 else x.to(torch.float32)
    difference = x if y is None else x - y.to(device=x.device, dtype=x.dtype)
    norm: Tensor = torch.linalg.vector_norm(difference, dtype=wide)
    return norm.square()


def _of_arrays(x: Array, y: Array | None) -> float:
    with np.errstate(invalid="ignore", over="ignore"):  # inf − inf, and squares that float32 cannot hold
        if len(x) > _FEW:
            found = math.fsum(_sums(x, y))
            if _SMALLEST < found < math.inf or math.isnan(found):
                return found
        return math.fsum(_wide_sums(x, y))


def _sums(x: Array, y: Array | None) -> Iterator[float]:
    room = np.empty(min(_BLOCK, len(x)), np.float32)
    for begin in range(0, len(x), _BLOCK):
        part = x[begin : begin + _BLOCK]
        if y is not None:
            part = np.subtract(part, y[begin : begin + _BLOCK], room[: len(part)])
        for start in range(0, len(part), _SUM):
            few = part[start : start + _SUM]
            yield float(np.dot(few, few))


def _wide_sums(x: Array, y: Array | None) -> Iterator[float]:
    for begin in range(0, len(x), _BLOCK):
        part = x[begin : begin + _BLOCK].astype(np.float64)
        if y is not None:
            part -= y[begin : begin + _BLOCK]
        yield float(np.dot(part, part))
