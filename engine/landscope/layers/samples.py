"""A layer's output as samples × features: every row one sample, by the rules that a person chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from landscope.layers.kinds import Layer

ConvMethod = Literal["channelwise", "mean", "max", "median", "flatten"]
TimeseriesMethod = Literal["last_timestep", "timestepwise"]


@dataclass(frozen=True)
class Sampling:
    """The two rules. ``conv_method``: what a map becomes; ``timeseries_method``: what a sequence becomes."""

    conv_method: ConvMethod = "channelwise"
    timeseries_method: TimeseriesMethod = "last_timestep"


def sequence_of(output: object) -> Tensor | PackedSequence | None:
    """The part of a module's output that holds its features: of a tuple the first tensor, else None."""
    if isinstance(output, Tensor | PackedSequence):
        return output
    if isinstance(output, dict):
        return sequence_of(tuple(output.values()))
    if isinstance(output, tuple | list):
        return next((part for part in map(sequence_of, output) if part is not None), None)
    return None


def map_samples(output: Tensor, spatial: int, method: ConvMethod) -> Tensor:
    """A map (B, C, *space) or unbatched (C, *space) as (…, features), a view where possible.

    ``channelwise`` gives (B, *space, C), every position a sample; ``mean``, ``max`` and ``median`` (the lower
    of two middle values, as torch has it) over space give (B, C); ``flatten`` gives (B, C·space).
    """
    batched = output.unsqueeze(0) if output.dim() == spatial + 1 else output
    if method == "channelwise":
        return batched.movedim(1, -1)
    if method == "flatten":
        return batched.flatten(1)
    positions = batched.flatten(2)
    if method == "mean":  # rounded to half precision it would lose what little differs under a large mean
        return positions.mean(2, dtype=torch.promote_types(positions.dtype, torch.float32))
    return positions.amax(2) if method == "max" else positions.median(2).values


def series_samples(output: Tensor, method: TimeseriesMethod, real: Tensor | None = None) -> Tensor:
    """A sequence (B, T, F) as (…, F): all its real steps, or the last real step of each.

    Args:
        real: (B, T) bool, False at padding; None = every step is real. A sequence without a real step
            has no sample.
    """
    if real is None:
        return output[:, -1] if method == "last_timestep" and output.shape[1] else output
    if method == "timestepwise":
        return output[real]
    steps = torch.arange(real.shape[1], device=real.device)
    last = torch.where(real, steps, -1).amax(1)
    filled = last >= 0
    return output[filled, last[filled]]


def packed_samples(output: PackedSequence, method: TimeseriesMethod) -> Tensor:
    """A packed sequence as (n, F): its real steps, or the last real step of each sequence."""
    if method == "timestepwise":
        return output.data
    padded, lengths = pad_packed_sequence(output, batch_first=True)
    return padded[torch.arange(len(lengths), device=padded.device), (lengths - 1).to(padded.device)]


def sequence_method(layer: Layer, sampling: Sampling) -> TimeseriesMethod:
    """What a sequence from this layer becomes: tokens are samples whatever the rule says."""
    return "timestepwise" if layer.tokens else sampling.timeseries_method


def layer_samples(
    layer: Layer,
    output: Tensor | PackedSequence,
    sampling: Sampling,
    batch_first: bool = True,
    real: Tensor | None = None,
) -> Tensor:
    """The output of one layer as (…, D), leading dimensions counting samples.

    Args:
        batch_first: whether a sequence is (B, T, F) rather than (T, B, F).
        real: (B, T) bool, False at padding; None = unknown, then every step counts as real.
    """
    method = sequence_method(layer, sampling)
    if isinstance(output, PackedSequence):
        return packed_samples(output, method)
    if layer.family == "map":
        return map_samples(output, layer.spatial, sampling.conv_method)
    if layer.family == "any" and output.dim() >= 4:
        return map_samples(output, output.dim() - 2, sampling.conv_method)
    if output.dim() == 3:
        ordered = output if batch_first else output.transpose(0, 1)
        return series_samples(ordered, method, real)
    if output.dim() == 2 and isinstance(layer.module, nn.RNNBase):  # one sequence without a batch
        return series_samples(output.unsqueeze(0), method)
    return output.unsqueeze(0) if output.dim() < 2 else output
