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

_WITHOUT_DATA = "Its outputs had a shape but no data, as on the device meta."


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
    watched: Sequence[Watched],
    called: Collection[str],
    passes: Mapping[int, int],
    without_data: Collection[str],
) -> dict[str, str]:
    """The reason for every layer that no data went through.

    ``passes``: how many ended, by the id of the root. ``without_data``: layers that put out shapes only.
    """
    return {
        one.layer.name: _WITHOUT_DATA if one.layer.name in without_data else _why(passes.get(id(one.root), 0))
        for one in watched
        if one.layer.name not in called
    }


def _why(passes: int) -> str:
    return _PASSED_BY.format(passes) if passes else _NOT_YET
