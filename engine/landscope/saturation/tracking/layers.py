"""Which layers a tracker watches, and what it calls them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from torch import nn

from landscope.contract.errors import OptionError
from landscope.layers.kinds import Layer, observed_layers
from landscope.saturation.series_names import free_name

LayerFilter = Callable[[dict[str, nn.Module]], dict[str, nn.Module]]
"""Takes the layers by name and returns those to keep."""

_DEFAULT = (nn.Conv2d, nn.Linear, nn.LSTM)


@dataclass(frozen=True)
class Watched:
    """One layer, under the name it is reported by, and the module whose mode counts for it."""

    layer: Layer
    root: nn.Module


def watched_layers(
    modules: nn.Module | Sequence[nn.Module],
    *,
    layer_filter: LayerFilter | None = None,
    ignored: Collection[str] = (),
    include_conv: bool = True,
    more: Collection[str | type[nn.Module]] = (),
) -> tuple[Watched, ...]:
    """The layers to watch, each once, in the order of ``modules``.

    Conv2d, Linear and LSTM, and those in ``more`` (classes, or names as in ``named_modules()``). A name here
    joins the parts by dashes (``block-0-fc``); a bare layer goes by its class, in a list by its place there
    too (``Module-0-Linear``). ``ignored`` may be written with dashes or dots.

    Raises:
        OptionError: ``modules`` are no modules, a name in ``more`` is no module of any of them, or
            ``layer_filter`` returns no layers.
    """
    roots = roots_of(modules)
    bare = "" if isinstance(modules, nn.Module) else "Module-{}-"
    wanted = _wanted_names(roots, more)
    kinds = (
        *(_DEFAULT if include_conv else _DEFAULT[1:]),
        *(kind for kind in more if isinstance(kind, type)),
    )
    found: dict[str, Watched] = {}
    seen: set[int] = set()
    for place, root in enumerate(roots):
        for layer in _chosen(root, kinds, wanted):
            if id(layer.module) not in seen:
                seen.add(id(layer.module))
                name = free_name(layer.name.replace(".", "-") or bare.format(place) + layer.kind, found)
                found[name] = Watched(replace(layer, name=name), root)
    unwanted = {name.replace(".", "-") for name in ignored}
    kept = {name: one for name, one in found.items() if name not in unwanted}
    if layer_filter is not None:
        passed = _passed(layer_filter, {name: one.layer.module for name, one in kept.items()})
        kept = {name: one for name, one in kept.items() if name in passed}
    return tuple(kept.values())


def _passed(layer_filter: LayerFilter, layers: dict[str, nn.Module]) -> Collection[str]:
    passed = layer_filter(layers) if callable(layer_filter) else None
    if not isinstance(passed, Collection):
        raise OptionError("layer_filter must be a function that returns the dict of those layers to keep.")
    return passed


def roots_of(modules: nn.Module | Sequence[nn.Module]) -> list[nn.Module]:
    """The modules that were given, as a list.

    Raises:
        OptionError: they are no modules.
    """
    if isinstance(modules, nn.Module):
        return [modules]
    roots = list(modules) if isinstance(modules, Iterable) else [modules]
    if not all(isinstance(root, nn.Module) for root in roots):
        raise OptionError("modules must be a torch.nn.Module or a list of them.")
    return roots


def _wanted_names(roots: Sequence[nn.Module], more: Collection[str | type[nn.Module]]) -> set[str]:
    names = {name for name in more if isinstance(name, str)}
    known = {name for root in roots for name, _ in root.named_modules()}
    for name in sorted(names - known):
        raise OptionError(f"layers names {name!r}, but the model has no module called so.")
    return names


def _chosen(root: nn.Module, kinds: tuple[type[nn.Module], ...], wanted: set[str]) -> list[Layer]:
    names = {name for name, module in root.named_modules() if isinstance(module, kinds) or name in wanted}
    inside = {
        f"{name}.out_proj" for name, part in root.named_modules() if isinstance(part, nn.MultiheadAttention)
    }
    return [
        layer for layer in observed_layers(root, embeddings=True, named=names - inside) if layer.name in names
    ]
