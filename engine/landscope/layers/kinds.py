"""Which modules of a model are observed, as what, and which cannot be, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from landscope.contract.deltas import NotObserved
from landscope.contract.errors import OptionError

Family = Literal["map", "series", "cell", "any"]
"""How an output is laid out: (B, C, …), (B, T, F) or (T, B, F), one step (B, F), or told by its rank."""

_MAPS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_CELLS = (nn.RNNCell, nn.LSTMCell, nn.GRUCell)
_SERIES = (nn.Linear, nn.RNNBase, nn.MultiheadAttention)
_FEATURES_LAST: tuple[Any, ...] = (nn.LayerNorm, nn.Bilinear, nn.Embedding)
_FEATURES_LAST += (nn.RMSNorm,) if hasattr(nn, "RMSNorm") else ()  # torch has it from 2.4 on
_HOLDERS = (nn.ParameterList, nn.ParameterDict)
_ATTENTION = (nn.MultiheadAttention,)
_BARE = "It is used in functional code, which has no output that a hook could see."
_COMPILED = "It runs inside torch.jit, which calls no hooks."


@dataclass(frozen=True)
class Layer:
    """One observed module.

    Attributes:
        name: as in ``model.named_modules()``. kind: its class name.
        spatial: number of spatial dimensions of a map (2 for Conv2d), else 0.
        tokens: a sequence output is a set of tokens, each a sample, whatever the option for series says.
    """

    name: str
    module: nn.Module
    kind: str
    family: Family
    spatial: int = 0
    tokens: bool = False


def observed_layers(
    model: nn.Module, *, embeddings: bool = False, named: Collection[str] = ()
) -> tuple[Layer, ...]:
    """Modules whose outputs are recorded, in the model's own order.

    Linear, convolutions (also transposed), recurrent layers and cells, and multi-head attention; embeddings
    if asked for; any other module by name. A module registered under several names appears once. In a model
    with multi-head attention the sequences between its layers are tokens.

    Raises:
        OptionError: a name in ``named`` is no module of the model, or one of torch.jit.script.
    """
    modules = dict(model.named_modules())
    missing = [name for name in named if name not in modules]
    if missing:
        raise OptionError(f"The model has no module called {missing[0]!r}; it cannot be observed.")
    scripted = [name for name in named if isinstance(modules[name], torch.jit._script.RecursiveScriptModule)]
    if scripted:
        raise OptionError(f"The module {scripted[0]!r} runs inside torch.jit.script, which takes no hooks.")
    tokens = any(isinstance(module, _ATTENTION) for module in modules.values())
    inside = set(_inner_projections(modules))
    chosen = (
        (name, module, _family(module, embeddings) or (_family_by_name(module) if name in named else None))
        for name, module in modules.items()
        if name not in inside
    )
    return tuple(
        Layer(
            name=name,
            module=module,
            kind=type(module).__name__.removeprefix("Parametrized"),
            family=family,
            spatial=_spatial(module),
            tokens=tokens and not isinstance(module, nn.RNNBase),
        )
        for name, module, family in chosen
        if family is not None
    )


def names_of(model: nn.Module, wanted: Collection[str]) -> tuple[str, ...]:
    """Names of the modules that ``wanted`` holds by name or by class.

    Raises:
        OptionError: one of them is neither.
    """
    modules = dict(model.named_modules())
    found: dict[str, None] = {}
    for one in wanted:
        of_class = [name for name, module in modules.items() if type(module).__name__ == one]
        if one not in modules and not of_class:
            raise OptionError(
                f"layers names {one!r}, but the model has no module and no class of modules called so."
            )
        found |= dict.fromkeys([one] if one in modules else of_class)
    return tuple(found)


def unobservable(model: nn.Module) -> tuple[NotObserved, ...]:
    """Parts with weights that no hook sees: inside attention or torch.jit, and functionally used weights."""
    modules = dict(model.named_modules())
    inner = (
        NotObserved(layer=name, reason=f"It is computed inside {parent}, whose output is observed instead.")
        for name, parent in _inner_projections(modules).items()
    )
    return (*inner, *_bare_weights(modules))


def _family(module: nn.Module, embeddings: bool) -> Family | None:
    if isinstance(module, _MAPS):
        return "map"
    if isinstance(module, _CELLS):
        return "cell"
    if isinstance(module, _SERIES) or (embeddings and isinstance(module, nn.Embedding)):
        return "series"
    return None


def _family_by_name(module: nn.Module) -> Family:
    """Of a module that is not observed by itself; a ``forward`` of its own may put features elsewhere."""
    own: Any = type(module)
    if not isinstance(module, _FEATURES_LAST) or own.forward not in [kind.forward for kind in _FEATURES_LAST]:
        return "any"
    return "any" if len(getattr(module, "normalized_shape", ())) > 1 else "series"  # a norm of whole maps


def _spatial(module: nn.Module) -> int:
    return len(module.kernel_size) if isinstance(module, _MAPS) else 0


def _inner_projections(modules: dict[str, nn.Module]) -> dict[str, str]:
    """Names of output projections that attention applies functionally, with the attention's name."""
    return {
        f"{name}.out_proj" if name else "out_proj": name or "the attention"
        for name, module in modules.items()
        if isinstance(module, _ATTENTION)
    }


def _bare_weights(modules: dict[str, nn.Module]) -> Iterator[NotObserved]:
    """Matrices that a module of the script's own holds itself: only functional code can use them.

    Modules of torch.jit that hold some are told as a whole.
    """
    for name, module in modules.items():
        if isinstance(module, torch.jit.ScriptModule):
            if any(parameter.dim() >= 2 for parameter in module.parameters(recurse=False)):
                yield NotObserved(layer=name or module.original_name, reason=_COMPILED)
            continue
        if type(module).__module__.startswith("torch.nn.") and not isinstance(module, _HOLDERS):
            continue
        if _family(module, embeddings=True) is not None:
            continue
        for own, parameter in module.named_parameters(recurse=False):
            if parameter.dim() >= 2:
                full = f"{name}.{own}" if name else own
                yield NotObserved(layer=full, reason=_BARE)
