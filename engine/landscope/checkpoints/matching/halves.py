"""Without a model: a mapping that holds weights and their moving average under two prefixes, taken apart."""

from __future__ import annotations

from collections.abc import Iterator

from landscope.checkpoints.files.mappings import Candidate, Weights, is_average

_COUNTS = ("n_averaged", "decay", "num_updates", "initted", "step")
"""What averaging classes store beside the weights."""


def halves(candidate: Candidate) -> list[Candidate]:
    """The plain weights and their average (``model.…`` and ``ema_model.…``); else the mapping itself."""
    groups: dict[str, dict[str, Weights]] = {}
    for name, tensor in candidate.tensors.items():
        first, _, rest = name.partition(".")
        groups.setdefault(first, {})[rest] = tensor
    return [half for pair in _pairs(groups) for half in _apart(candidate, groups, pair)] or [candidate]


def _pairs(groups: dict[str, dict[str, Weights]]) -> Iterator[tuple[str, str]]:
    plain = {_names(tensors): first for first, tensors in groups.items() if not is_average(first)}
    for first, tensors in groups.items():
        if is_average(first) and _names(tensors) in plain:
            yield plain[_names(tensors)], first


def _names(tensors: dict[str, Weights]) -> frozenset[str]:
    bare = (name.removeprefix("module.") for name in tensors)
    return frozenset(name for name in bare if name and name not in _COUNTS)


def _apart(
    candidate: Candidate, groups: dict[str, dict[str, Weights]], pair: tuple[str, str]
) -> Iterator[Candidate]:
    for first in pair:
        path = f"{candidate.path}.{first}" if candidate.path else first
        kept = {name: tensor for name, tensor in groups[first].items() if name not in _COUNTS}
        yield Candidate(path, kept, {})
