"""What a tracker's sums will take of the memory, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from landscope.saturation.memory import BLOCK_BYTES, covariance_bytes, features_of, shortage
from landscope.saturation.tracking.layers import Watched
from landscope.saturation.tracking.sums import Mode, Recorded, Series, log
from landscope.saturation.tracking.worker import WAITING

_MODES = 2
_ADVICE = (
    "leave wide layers away by ignore_layer_names or layer_filter, or take a conv_method other than flatten "
    "(log_interval and max_samples do not help)"
)


def memory_of_layers(
    watched: Sequence[Watched], options: Recorded, series: Mapping[Mode, Mapping[str, Series]]
) -> dict[str, int]:
    """Most bytes by layer, both modes together; further calls of a layer count once they are met."""
    met = {name: one.covariance for calls in series.values() for name, one in calls.items() if one.covariance}
    layers = {one.layer.name: one.layer for one in watched}
    found = {}
    for name in dict.fromkeys([*layers, *met]):
        layer = layers[name] if name in layers else layers[name.rpartition("#")[0]]
        known = met[name].dimension if name in met else features_of(layer, options.sampling.conv_method)
        maps = layer.family == "map"
        found[name] = _MODES * covariance_bytes(known, embedded=options.embed, maps=maps)
    return found


def waiting_bytes(options: Recorded) -> int:
    """Most bytes of the samples that wait for a worker, if there is one."""
    return WAITING * BLOCK_BYTES if options.worker else 0


def tell_shortage(layers: Mapping[str, int], watched: Sequence[Watched], device: torch.device | None) -> None:
    """Warn if the layers need more memory than is free where their sums are kept."""
    tensors = (tensor for one in watched for tensor in one.layer.module.parameters())
    home = device or next((tensor.device for tensor in tensors), torch.device("cpu"))
    if sentence := shortage(layers, home, _ADVICE):
        log.warning(sentence)
