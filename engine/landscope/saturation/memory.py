"""How much memory covariances will take, told before the first sample is seen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from landscope.layers.kinds import Layer
from landscope.layers.samples import ConvMethod
from landscope.saturation.covariance import STORED_BYTES, STORED_ROWS
from landscope.saturation.embedding import EMBEDDED_BYTES, embedded_rows
from landscope.saturation.shifted_blocks import BLOCK_ELEMENTS, BLOCK_ROWS

BLOCK_BYTES = 4 * BLOCK_ELEMENTS
"""Most bytes of a block of float32 samples."""

_FEATURES = ("out_features", "out_channels", "embed_dim", "embedding_dim", "num_features", "normalized_shape")
"""What modules call their number of features."""

_MEMINFO = Path("/proc/meminfo")


def features_of(layer: Layer, conv_method: ConvMethod) -> int | None:
    """D of the layer's samples; None where only a forward pass can tell, as for flattened maps."""
    module: Any = layer.module
    if layer.family == "map" and conv_method == "flatten":
        return None
    directions = 2 if isinstance(module, nn.RNNBase) and module.bidirectional else 1
    names = ("proj_size", "hidden_size") if hasattr(module, "hidden_size") else _FEATURES
    found = next((size for name in names if (size := getattr(module, name, None))), None)
    size = found[-1] if isinstance(found, tuple) else found
    return size * directions if isinstance(size, int) else None  # others may mean anything by these names


def covariance_bytes(dimension: int | None, *, embedded: bool = False, maps: bool = False) -> int:
    """Most bytes that one covariance of float32 samples holds, however many samples come.

    Up to 4,096 features D: 12·D² for the sums (a float32 and a float64 matrix); above: 4·D for each of at
    most 4,096 stored rows, together at most 128 MiB. Beside them a block of samples, 4·min(2²⁰, 1024·D) bytes
    (4·2²⁰ for maps), and 4·(D + 1) for each of at most 512 embedded rows, together at most 64 MiB. While a
    report is made, the float64 work on one layer at a time comes on top, about 40·D².

    Args:
        dimension: D; None = not known, then the largest of all.
        embedded: whether rows are kept to be embedded.
        maps: whether an item of a batch gives many rows.
    """
    size = STORED_ROWS if dimension is None else dimension
    rows = min(STORED_ROWS, max(1, STORED_BYTES // (4 * size)))
    sums = 12 * size * size if size <= STORED_ROWS else 4 * size * rows
    block = BLOCK_ELEMENTS if maps else min(BLOCK_ELEMENTS, BLOCK_ROWS * size)
    kept = embedded_rows(size) * 4 * (size + 1) if dimension is not None else EMBEDDED_BYTES
    return sums + 12 * size + 4 * max(block, size) + embedded * kept


def free_bytes(device: torch.device) -> int | None:
    """Memory that is free on the device; None where that cannot be told."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type != "cpu" or not _MEMINFO.exists():
        return None
    facts = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines() if ":" in line)
    available = facts.get("MemAvailable", "").split()
    return 1024 * int(available[0]) if available else None


def shortage(layers: Mapping[str, int], device: torch.device, advice: str) -> str | None:
    """A sentence if the layers together need more bytes than are free on the device, else None."""
    total, free = sum(layers.values()), free_bytes(device)
    if free is None or total <= free:
        return None
    widest = max(layers, key=lambda name: layers[name])
    return (
        f"The covariances of {len(layers)} layers may take {total / 1e9:.3g} GB (most of it {widest}, "
        f"{layers[widest] / 1e9:.3g} GB), but {free / 1e9:.3g} GB are free on {device}: {advice}."
    )
