"""Fitting the tensors of a file to a model: every parameter found, with its shape, or the file is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from landscope.checkpoints.mappings import Candidate, Weights
from landscope.checkpoints.names import plain_weight_norm, without_wrappers
from landscope.contract.errors import CheckpointError

if TYPE_CHECKING:
    from torch import nn

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """What a model wants from a file.

    Attributes:
        parameters: name to shape, every name of a tied parameter included.
        buffers: name to shape of the buffers that ``state_dict()`` holds.
        twins: name to the other names of the same tensor.
        extras: names of entries that are no tensors (``get_extra_state``).
    """

    parameters: Mapping[str, Shape]
    buffers: Mapping[str, Shape] = field(default_factory=dict)
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extras: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: nn.Module) -> Reference:
        """What ``model`` wants, by its own names."""
        named = dict(model.named_parameters(remove_duplicate=False))
        stored = model.state_dict(keep_vars=True)
        buffers = {n: tuple(b.shape) for n, b in model.named_buffers(remove_duplicate=False) if n in stored}
        groups: dict[int, list[str]] = {}
        for name, parameter in named.items():
            groups.setdefault(id(parameter), []).append(name)
        twins = {
            n: tuple(o for o in group if o != n) for group in groups.values() for n in group if len(group) > 1
        }
        extras = tuple(n for n in stored if n.rsplit(".", 1)[-1] == "_extra_state")
        return cls({n: tuple(p.shape) for n, p in named.items()}, buffers, twins, extras)

    @property
    def shapes(self) -> dict[str, Shape]:
        """Parameters and buffers."""
        return {**self.parameters, **self.buffers}


@dataclass(frozen=True)
class Matched:
    """A file's tensors under the model's own names.

    Attributes:
        tensors: model name to record; absent buffers are left out.
        extras: model name to stored extra state.
        notes: what was done, a clause each ("removed prefix module.").
    """

    tensors: Mapping[str, Weights]
    extras: Mapping[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Fit:
    candidate: Candidate
    prefix: str
    removed: tuple[str, ...]
    tensors: dict[str, Weights]
    missing: tuple[str, ...]
    wrong: tuple[tuple[str, Shape, Shape], ...]
    missing_buffers: tuple[str, ...]
    unused: tuple[str, ...]
    renamed: bool

    @property
    def complete(self) -> bool:
        return not self.missing and not self.wrong


def match(candidates: Iterable[Candidate], reference: Reference, file: str = "The file") -> Matched:
    """The one mapping of a file that fits the model.

    Args:
        candidates: the file's mappings, most likely first (``find_mappings``).
        reference: what the model wants. file: its name, for sentences.

    Raises:
        CheckpointError: none fits; the sentence names what is missing or both shapes.
    """
    found = tuple(candidates)
    best: _Fit | None = None
    for candidate in found:
        fit = _fit(candidate, reference)
        if fit.complete:
            return _matched(fit, found, reference)
        if best is None or _closeness(fit) > _closeness(best):
            best = fit
    raise CheckpointError(_refusal(file, best, reference))


def _closeness(fit: _Fit) -> tuple[int, int]:
    return (len(fit.tensors) + len(fit.wrong), len(fit.tensors))


def _fit(candidate: Candidate, reference: Reference) -> _Fit:
    bare, removed = without_wrappers(candidate.tensors)
    by_name = {plain_weight_norm(name): key for key, name in bare.items()}
    fits = [_fit_prefix(candidate, reference, by_name, removed, p) for p in _prefixes(by_name, reference)]
    return max(fits, key=lambda fit: (fit.complete, *_closeness(fit)))


def _prefixes(by_name: Mapping[str, str], reference: Reference) -> Iterator[str]:
    """Prefixes under which the file may hold the model's names; ``-p`` stands for names that lack ``p``."""
    seen = {""}
    yield ""
    for wanted in sorted(map(plain_weight_norm, reference.parameters), key=len, reverse=True)[:3]:
        for name in by_name:
            longer, shorter, sign = (name, wanted, "") if len(name) > len(wanted) else (wanted, name, "-")
            prefix = sign + longer[: len(longer) - len(shorter)]
            if longer.endswith("." + shorter) and prefix not in seen and len(seen) < 64:
                seen.add(prefix)
                yield prefix


def _fit_prefix(
    candidate: Candidate,
    reference: Reference,
    by_name: Mapping[str, str],
    removed: tuple[str, ...],
    prefix: str,
) -> _Fit:
    tensors: dict[str, Weights] = {}
    wrong: list[tuple[str, Shape, Shape]] = []
    used: set[str] = set()
    renamed = False
    for name, shape in reference.shapes.items():
        key = _lookup(name, reference, by_name, prefix)
        if key is None:
            continue
        used.add(key)
        actual = tuple(candidate.tensors[key].shape)
        if actual != shape:
            wrong.append((name, actual, shape))
            continue
        tensors[name] = candidate.tensors[key]
        renamed = renamed or _spelling(name) != _spelling(key)
    known = {*tensors, *(name for name, _, _ in wrong)}
    return _Fit(
        candidate,
        prefix,
        removed,
        tensors,
        tuple(n for n in reference.parameters if n not in known),
        tuple(wrong),
        tuple(n for n in reference.buffers if n not in known),
        tuple(k for k in candidate.tensors if k not in used),
        renamed,
    )


def _lookup(name: str, reference: Reference, by_name: Mapping[str, str], prefix: str) -> str | None:
    for own in (name, *reference.twins.get(name, ())):
        wanted = plain_weight_norm(own)
        wanted = wanted.removeprefix(prefix[1:]) if prefix.startswith("-") else prefix + wanted
        if wanted in by_name:
            return by_name[wanted]
    return None


def _spelling(name: str) -> bool:
    return plain_weight_norm(name) != name


def _matched(fit: _Fit, found: tuple[Candidate, ...], reference: Reference) -> Matched:
    extras = {}
    for name in reference.extras:
        key = fit.prefix + name if not fit.prefix.startswith("-") else name.removeprefix(fit.prefix[1:])
        for stored, value in fit.candidate.extras.items():
            if stored == key or stored.endswith("." + key):
                extras[name] = value
    return Matched(fit.tensors, extras, tuple(_notes(fit, found)))


def _notes(fit: _Fit, found: tuple[Candidate, ...]) -> Iterator[str]:
    if fit.candidate.path:
        yield f"weights taken from '{fit.candidate.path}'"
    for prefix in (*fit.removed, *([fit.prefix] if fit.prefix and fit.prefix[0] != "-" else [])):
        yield f"removed prefix {prefix}"
    if fit.prefix.startswith("-"):
        yield f"added prefix {fit.prefix[1:]}"
    if fit.renamed:
        yield "weight_norm names translated"
    if fit.missing_buffers:
        buffers = _count(len(fit.missing_buffers), "buffer")
        yield f"{buffers} missing, kept from the model: {_list(fit.missing_buffers)}"
    if fit.unused:
        yield f"{_count(len(fit.unused), 'entry')} that the model does not have ignored: {_list(fit.unused)}"
    for other in found:
        if other.is_average and other.path != fit.candidate.path:
            yield f"averaged weights are there too, under '{other.path}'"


def _count(number: int, noun: str) -> str:
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else plural}"


def _list(names: tuple[str, ...], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _refusal(file: str, best: _Fit | None, reference: Reference) -> str:
    if best is None:
        return f"{file}: no weights found"
    if best.wrong:
        name, actual, wanted = best.wrong[0]
        more = f" (and {len(best.wrong) - 1} more)" if len(best.wrong) > 1 else ""
        return f"{file}: {name} has shape {actual}, the model wants {wanted}{more}"
    if not best.tensors:
        return f"{file}: none of its {len(best.candidate.tensors)} tensors has a name that the model knows"
    total = len(reference.parameters)
    return (
        f"{file}: {len(best.missing)} of {total} parameters of the model are missing: {_list(best.missing)}"
    )
