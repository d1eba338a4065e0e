"""Scale a direction to the weights it starts from, unit by unit (Li et al. 2018, section 4)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from landscope.contract.errors import OptionError
from landscope.contract.options import Normalization
from landscope.weights.flat import Flat
from landscope.weights.units import Unit, grouped, unit_norms
from landscope.weights.vector import ParameterVector

NORMALIZATIONS = ("filter", "module", "tensor", "model", "none")


def clear_fixed(vector: ParameterVector, direction: Flat, units: dict[str, Unit]) -> None:
    """Set the direction to zero, in place, for biases, weights of norm layers and scalars."""
    for name, part in vector.views(direction).items():
        if units[name].kind == "fixed":
            part.zero_()


@torch.no_grad()
def normalise(
    vector: ParameterVector, direction: Flat, base: Flat, normalization: Normalization, units: dict[str, Unit]
) -> None:
    """Scale each unit of ``direction``, in place, to the norm of the same unit of ``base``.

    d_u ← d_u · ‖θ_u‖ / ‖d_u‖, where u runs over filters (``filter``), tensors, modules or the whole model;
    ``none`` leaves the direction as drawn. A unit of norm zero, in the weights or in the direction, gives a
    zero direction. Norms are float64.

    Raises:
        OptionError: the normalisation is not one of NORMALIZATIONS.
    """
    if normalization not in NORMALIZATIONS:
        raise OptionError(
            f'There is no normalisation "{normalization}"; choose one of {", ".join(NORMALIZATIONS)}.'
        )
    if normalization == "none":
        return
    moved, weights = vector.views(direction), vector.views(base)
    if normalization == "filter":
        for name, part in moved.items():
            _scale_units(part, weights[name], units[name])
        return
    for names in _families(moved, normalization):
        _scale_together([moved[name] for name in names], [weights[name] for name in names])


def _scale_units(part: Tensor, weights: Tensor, unit: Unit) -> None:
    wanted, present = unit_norms(weights, unit), unit_norms(part, unit)
    factors = torch.where(present > 0, wanted / present.clamp_min(torch.finfo(present.dtype).tiny), 0.0)
    target = grouped(part, unit)
    target.mul_(factors.to(device=target.device, dtype=_real(target.dtype)))


def _real(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype.is_complex else dtype


def _families(names: Iterable[str], normalization: str) -> list[list[str]]:
    """Names that share one factor."""
    families: dict[str, list[str]] = {}
    for name in names:
        key = {"tensor": name, "module": name.rpartition(".")[0], "model": ""}[normalization]
        families.setdefault(key, []).append(name)
    return list(families.values())


def _scale_together(parts: list[Tensor], weights: list[Tensor]) -> None:
    wanted, present = _joint_norm(weights), _joint_norm(parts)
    factor = wanted / present if present > 0 else 0.0
    for part in parts:
        part.mul_(factor)


def _joint_norm(tensors: list[Tensor]) -> float:
    whole = Unit("tensor")
    return math.sqrt(sum(float(unit_norms(tensor, whole).sum()) ** 2 for tensor in tensors))
