"""The parameters that a loop hands over, each with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn

from landscope.contract.errors import OptionError

Parameters = nn.Module | Mapping[str, Tensor] | Iterable[Tensor] | Iterable[tuple[str, Tensor]]
"""A model, its ``named_parameters()``, its ``parameters()``, or a dict of tensors."""


def named(params: Parameters) -> list[tuple[str, Tensor]]:
    """(name, tensor) in the order given, each tensor once; parameters without a name go by their place.

    A tied parameter goes by its first name.

    Raises:
        OptionError: they are no tensors.
    """
    if isinstance(params, nn.Module):
        return list(params.named_parameters())
    given = params.items() if isinstance(params, Mapping) else params
    found: dict[int, tuple[str, Tensor]] = {}
    for place, one in enumerate(given):
        name, tensor = one if isinstance(one, tuple) else (str(place), one)
        if not isinstance(tensor, Tensor):
            raise OptionError(f"params holds {type(tensor).__name__}, which is no tensor.")
        found.setdefault(id(tensor), (str(name), tensor))
    return list(found.values())
