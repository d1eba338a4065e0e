"""Maps made smaller before they become samples."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from landscope.contract.errors import OptionError

_ANY_RANK = ("nearest", "nearest-exact", "area")
_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}
STRATEGIES = (*_ANY_RANK, *_LINEAR.values(), "bicubic")


def check_strategy(strategy: str | None) -> None:
    """Refuse what torch cannot interpolate by.

    Raises:
        OptionError: the strategy is unknown.
    """
    if strategy is not None and strategy not in STRATEGIES:
        raise OptionError(
            f"interpolation_strategy is {strategy!r}, which is none of {', '.join(STRATEGIES)}."
        )


def resized(maps: Tensor, strategy: str, size: int) -> Tensor:
    """Maps (B, C, *space) with every spatial dimension ``size`` if one is larger, else as they are.

    A strategy of another number of dimensions becomes the linear one of this number.
    """
    spatial = maps.dim() - 2
    if spatial not in _LINEAR or max(maps.shape[2:]) <= size:
        return maps
    fits = strategy in _ANY_RANK or (strategy == "bicubic" and spatial == 2)
    exact = maps.to(torch.promote_types(maps.dtype, torch.float32))  # half precision would round averages
    return functional.interpolate(exact, size=(size,) * spatial, mode=strategy if fits else _LINEAR[spatial])
