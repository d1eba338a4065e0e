"""Which item of the batch a layer's samples belong to: rows can then carry the label of their item."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from landscope.layers.samples import TimeseriesMethod


@lru_cache(maxsize=8)
def each_item(size: int) -> Tensor:
    """(size,) the items of samples of which each is one: always the same tensor, never to be written to."""
    return torch.arange(size, device="cpu")


def leading_items(samples: Tensor, size: int) -> Tensor | None:
    """(n,) items of samples (B, …, D); None where the leading dimension is not B = ``size``."""
    if samples.shape[0] != size:
        return None
    rows = samples.shape[:-1].numel()
    return torch.arange(size, device="cpu").repeat_interleave(rows // size)


def series_items(real: Tensor, size: int, method: TimeseriesMethod) -> Tensor | None:
    """(n,) items of the rows that ``series_samples`` takes from (B, T, F) by the mask ``real`` (B, T).

    None where the leading dimension is not B = ``size``.
    """
    if real.shape[0] != size:
        return None
    return (real if method == "timestepwise" else real.any(1, keepdim=True)).nonzero()[:, 0].cpu()


def packed_items(output: PackedSequence, size: int, method: TimeseriesMethod) -> Tensor | None:
    """(n,) items of the rows that ``packed_samples`` takes: of every step, or one per sequence."""
    if int(output.batch_sizes[0]) != size:
        return None
    if method == "last_timestep":
        return torch.arange(size, device="cpu")
    order = torch.arange(size, device="cpu") if output.sorted_indices is None else output.sorted_indices.cpu()
    return torch.cat([order[:count] for count in output.batch_sizes.tolist()])
