"""Why parts of a model have no values: what no hook can see, and what no forward pass has called."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from torch import nn

from landscope.layers.kinds import unobservable
from landscope.saturation.tracking.layers import Watched

_ATTENDS = "It is computed inside an attention; layers=[nn.MultiheadAttention] measures the output of that."
_NOT_YET = (
    "No forward pass has called it as a module yet; one compiled before the tracker was made calls none."
)
_PASSED_BY = (
    "{} forward passes have not called it as a module: it is not used, or functional code uses its weights."
)


def hidden_parts(
    roots: Sequence[nn.Module], watched: Collection[nn.Module], ignored: Collection[str]
) -> dict[str, str]:
    """The reason for every part with weights that no hook can see, by name; ``ignored`` ones are left out."""
    skipped = {name.replace(".", "-") for name in ignored}
    found = {}
    for root in roots:
        attention = {
            name: part for name, part in root.named_modules() if isinstance(part, nn.MultiheadAttention)
        }
        for part in unobservable(root):
            name, parent = part.layer.replace(".", "-"), part.layer.rpartition(".")[0]
            reason = part.reason
            if parent in attention and attention[parent] not in watched:
                reason = _ATTENDS
            if name not in skipped:
                found[name] = reason
    return found


def silent_layers(
    watched: Sequence[Watched], called: Collection[str], passes: Mapping[int, int]
) -> dict[str, str]:
    """The reason for every layer that was not called; ``passes``: how many ended, by the id of the root."""
    silent = [one for one in watched if one.layer.name not in called]
    return {
        one.layer.name: _PASSED_BY.format(passes[id(one.root)]) if passes.get(id(one.root)) else _NOT_YET
        for one in silent
    }
