"""Sums over one parameter in float64 blocks: memory stays small, and bf16 is widened before subtracting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 65_536
"""Elements widened to float64 at a time."""

_NAN = float("nan")


class Sums(NamedTuple):
    """Additive sums of one parameter at checkpoint t; NaN where an earlier checkpoint is needed but missing.

    Attributes:
        norm: Σ θt². dot: Σ θt θ0. distance: Σ (θt − θ0)². update: Σ (θt − θt₋₁)².
        turn: Σ (θt − θt₋₁)(θt₋₁ − θt₋₂).
        unit_ratio: Σ over units f with ‖θ0,f‖ > 0 of ‖θt,f − θ0,f‖ / ‖θ0,f‖; unit_count: their number.
    """

    norm: float
    dot: float
    distance: float
    update: float
    turn: float
    unit_ratio: float
    unit_count: float


def parameter_sums(
    current: Tensor,
    reference: Tensor,
    previous: Tensor | None = None,
    before: Tensor | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> Sums:
    """All sums of one parameter from its values at t, 0, t − 1 and t − 2 (same shape, any float dtype).

    ``check`` is called at every block; what it raises stops the sums.
    """
    norm = dot = distance = update = turn = 0.0
    for now, start, last, older in _blocks(current, reference, previous, before):
        check()
        moved = now - start
        norm += _dot(now, now)
        dot += _dot(now, start)
        distance += _dot(moved, moved)
        if last is not None:
            step = now - last
            update += _dot(step, step)
            turn += _dot(step, last - older) if older is not None else 0.0
    ratio, count = unit_ratios(current, reference)
    return Sums(
        norm=norm,
        dot=dot,
        distance=distance,
        update=update if previous is not None else _NAN,
        turn=turn if before is not None else _NAN,
        unit_ratio=ratio,
        unit_count=count,
    )


def unit_ratios(current: Tensor, reference: Tensor) -> tuple[float, float]:
    """(Σ ‖Δf‖ / ‖θ0,f‖, number of units) over the rows of the first dimension with ‖θ0,f‖ > 0.

    Tensors of fewer than two dimensions have no such units and give (0, 0).
    """
    if reference.dim() < 2:
        return 0.0, 0.0
    total = count = 0.0
    rows = max(1, BLOCK // max(1, reference[0].numel()))
    for now, start in zip(torch.split(current, rows), torch.split(reference, rows), strict=True):
        before, after = widened(start).flatten(1), widened(now).flatten(1)
        lengths = torch.linalg.vector_norm(before, dim=1)
        moved = torch.linalg.vector_norm(after - before, dim=1)
        used = lengths != 0  # NaN stays in and makes the sum NaN
        total += float((moved[used] / lengths[used]).sum())
        count += float(used.sum())
    return (total if math.isfinite(total) else _NAN), count


def widened(values: Tensor) -> Tensor:
    """Real float64 values; complex ones as pairs."""
    real = torch.view_as_real(values) if values.is_complex() else values
    return real.to(torch.float64)


def _blocks(*tensors: Tensor | None) -> Iterator[tuple[Tensor, Tensor, Tensor | None, Tensor | None]]:
    flat = [None if tensor is None else tensor.reshape(-1) for tensor in tensors]
    assert flat[0] is not None
    for begin in range(0, len(flat[0]), BLOCK):
        yield tuple(  # type: ignore[misc]
            None if values is None else widened(values[begin : begin + BLOCK]).reshape(-1) for values in flat
        )


def _dot(one: Tensor, other: Tensor) -> float:
    value = float(torch.dot(one, other))
    return value if math.isfinite(value) else _NAN
