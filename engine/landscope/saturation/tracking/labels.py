"""Labels of a batch, carried by the rows of its layers that are kept to be embedded."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.layers.row_items import leading_items, series_items
from landscope.layers.samples import TimeseriesMethod
from landscope.saturation.precision import wide

_NONE = torch.finfo(torch.float32).min
"""Stands for "no label" in a column of finite numbers."""


def as_labels(targets: Any) -> Tensor:
    """(B,) float32 labels on the host; a trailing dimension of one is dropped.

    Raises:
        ValueError: they are not one number per item.
    """
    labels = torch.as_tensor(targets).detach().cpu()
    labels = labels.squeeze(-1) if labels.dim() == 2 and labels.shape[1] == 1 else labels
    if labels.dim() != 1 or labels.is_complex():
        raise ValueError(f"labels of shape {tuple(labels.shape)} are not one number per item of the batch")
    return labels.to(torch.float32, copy=True)


def labels_of_rows(
    labels: Tensor, samples: Tensor, batch: Tensor, real: Tensor | None, method: TimeseriesMethod
) -> Tensor | None:
    """(n,) the label of each row of ``samples`` (…, D), None where rows cannot be traced to items.

    Args:
        labels: (B,). batch: (B, …) the output that the samples were taken from.
        real: (B, T) bool, the real steps of a sequence if known. method: what a sequence became.
    """
    size = len(batch)
    items = leading_items(samples, size) if real is None else series_items(real, size, method)
    return labels[items] if items is not None and len(labels) == size else None


def with_labels(rows: Tensor, labels: Tensor | None) -> Tensor:
    """(n, D + 1) the rows (n, D) with a column of labels, which says so where there is none."""
    column = rows.new_full((len(rows),), _NONE) if labels is None else labels
    return torch.cat([rows, column.nan_to_num(nan=_NONE).to(rows)[:, None]], 1)


def embedded(rows: Tensor, directions: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(m, 2) the rows about their mean along the directions, and their labels (m,), NaN where there is none.

    Args:
        rows: (m, D + 1) with a column of labels. directions: (D, k ≤ 2) float64; a missing one gives zeros.
    """
    held = wide(rows)
    values, labels = held[:, :-1], held[:, -1]
    placed = np.zeros((len(held), 2))
    placed[:, : directions.shape[1]] = ((values - values.mean(0)) @ directions.to(held.device)).cpu().numpy()
    return placed, labels.masked_fill(labels == _NONE, float("nan")).cpu().numpy()
