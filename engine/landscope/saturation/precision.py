"""Which precision the sums of the covariance need, and where float64 can live."""

from __future__ import annotations

import torch
from torch import Tensor

SMALLEST_NORM = 1e-12
LARGEST_NORM = 1e16
"""Between these norms of a block, float32 products neither vanish nor overflow within a fold."""

_LARGEST_VALUE = 1e150


def wide_device(device: torch.device) -> torch.device:
    """Where float64 sums of values on ``device`` are kept: MPS has no float64, so there the host."""
    return torch.device("cpu") if device.type == "mps" else device


def working(values: Tensor) -> Tensor:
    """The values in the precision they are summed in: float64 stays, everything else is float32."""
    return values if values.dtype == torch.float64 else values.to(torch.float32)


def wide(values: Tensor) -> Tensor:
    """The values as float64 where float64 can live."""
    return values.to(wide_device(values.device)).to(torch.float64)  # two steps: MPS cannot cast to it


def finite_rows(rows: Tensor) -> Tensor:
    """The rows of (n, D) whose values are finite and have squares that fit into float64."""
    return rows[(rows.abs() <= min(_LARGEST_VALUE, torch.finfo(rows.dtype).max)).all(1)]


def norm_of(rows: Tensor) -> float:
    """Frobenius norm; not finite if a value is not, or if the squares do not fit into float32."""
    return float(torch.linalg.vector_norm(rows))


def mean_row(rows: Tensor) -> Tensor:
    """Mean of the rows of (n, D), n ≥ 1, in float64 then rounded; exact for a column that never changes."""
    first = wide(rows[:1])
    return (first[0] + (wide(rows) - first).mean(0)).to(rows.dtype).to(rows.device)
