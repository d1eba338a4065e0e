"""Which part of a parameter counts as one unit (a filter, a row, a token), and how long it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from landscope.weights.flat import as_double

_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.LocalResponseNorm)
_LORA = re.compile(r"(^|[._])lora_(embedding_)?[AB]([._]|$)")
_PARAMETRIZED = re.compile(r"\.?parametrizations\.(?P<leaf>[^.]+)\.original\d*$")


@dataclass(frozen=True)
class Unit:
    """How a parameter falls into units.

    Attributes:
        kind: ``row`` (output row or filter), ``token``, ``position``, ``tensor`` or ``fixed`` (bias, weight
            of a norm layer, scalar: not moved unless asked).
        axis: the axis that counts units; None = the whole tensor is one.
        groups: groups of a transposed convolution, whose outputs are counted in each group.
    """

    kind: str
    axis: int | None = None
    groups: int = 1


def units_of(model: nn.Module) -> dict[str, Unit]:
    """The unit of every parameter of a model, by name (ties under their first name)."""
    modules = dict(model.named_modules())
    return {name: _unit(name, parameter, modules) for name, parameter in model.named_parameters()}


def _owner(name: str, modules: dict[str, nn.Module]) -> nn.Module:
    """The module a parameter belongs to; behind a parametrization, the module that is parametrized."""
    parametrized = _PARAMETRIZED.search(name)
    path = name[: parametrized.start()] if parametrized else name.rpartition(".")[0]
    return modules[path]


def _unit(name: str, parameter: Tensor, modules: dict[str, nn.Module]) -> Unit:
    """The table of units: what one output of the layer is made of."""
    module = _owner(name, modules)
    if parameter.ndim <= 1 or isinstance(module, _NORMS) or type(module).__name__.endswith("RMSNorm"):
        return Unit("fixed")
    if _LORA.search(name):
        return Unit("tensor")
    if isinstance(module, nn.Embedding | nn.EmbeddingBag):
        return Unit("token", 0)
    if isinstance(module, _TRANSPOSED):
        return Unit("row", 1, module.groups)
    if type(module).__name__ == "Conv1D" and parameter.ndim == 2:  # GPT-2's: weights are (inputs, outputs)
        return Unit("row", 1)
    if parameter.ndim == 3 and parameter.shape[0] == 1:
        return Unit("position", 1)
    return Unit("row", 0)


def unit_norms(values: Tensor, unit: Unit) -> Tensor:
    """Euclidean norm of every unit, float64, shaped to multiply ``values`` (after ``grouped``)."""
    wide = as_double(grouped(values, unit))
    axes = _axes(unit)
    others = [axis for axis in range(wide.ndim) if axis not in axes]
    return torch.linalg.vector_norm(wide, dim=others, keepdim=True) if others else wide.abs()


def grouped(values: Tensor, unit: Unit) -> Tensor:
    """``values`` with the groups of a transposed convolution as an axis of their own in front."""
    if unit.groups == 1:
        return values
    return values.view(unit.groups, values.shape[0] // unit.groups, *values.shape[1:])


def _axes(unit: Unit) -> tuple[int, ...]:
    if unit.axis is None:
        return ()
    return (unit.axis,) if unit.groups == 1 else (0, unit.axis + 1)
