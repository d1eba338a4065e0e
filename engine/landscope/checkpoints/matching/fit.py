"""Fitting one mapping of a file to a model: under which spelling and prefix its names are the model's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from landscope.checkpoints.files.mappings import Candidate, Weights, dtype_of, is_average, is_integer
from landscope.checkpoints.matching.names import Spelling, plain_names, unwrapped_names, without_module
from landscope.checkpoints.matching.reference import Reference, Shape
from landscope.checkpoints.records import TensorRecord
from landscope.checkpoints.records import unreadable as why_unreadable

_MOST_PREFIXES = 64


@dataclass(frozen=True)
class Fit:
    """A mapping seen under one prefix.

    Attributes:
        candidate: the mapping. prefix: what its names have more than the model's; ``-p`` = lack.
        removed: wrappers' prefixes that were removed. tensors: model name to record.
        missing: parameters not found. wrong: name, its shape in the file, the shape wanted.
        unreadable: name, why its numbers cannot be read. missing_buffers: buffers not found.
        unused: names of the file that the model does not have.
        renamed: whether names of parametrisations were translated.
    """

    candidate: Candidate
    prefix: str
    removed: tuple[str, ...]
    tensors: Mapping[str, Weights]
    missing: tuple[str, ...]
    wrong: tuple[tuple[str, Shape, Shape], ...]
    unreadable: tuple[tuple[str, str], ...]
    missing_buffers: tuple[str, ...]
    unused: tuple[str, ...]
    renamed: bool

    @property
    def complete(self) -> bool:
        """Whether every parameter was found with its shape."""
        return not self.missing and not self.wrong and not self.unreadable

    @property
    def closeness(self) -> tuple[bool, int, int]:
        """Larger for a mapping that fits better."""
        known = len(self.tensors) + len(self.wrong) + len(self.unreadable)
        return (self.complete, known, len(self.tensors))

    @property
    def is_average(self) -> bool:
        """Whether the mapping's name or the prefix says that it is a moving average."""
        return self.candidate.is_average or is_average(self.prefix)

    @property
    def path(self) -> str:
        """The mapping's path with the prefix, which tells apart two networks in one mapping."""
        prefix = "" if self.prefix.startswith("-") else without_module(self.prefix).rstrip(".")
        return ".".join(part for part in (self.candidate.path, prefix) if part)


def fits_of(candidate: Candidate, reference: Reference) -> list[Fit]:
    """The mapping under every prefix that may lead to the model's names; the plainest complete ones first.

    Names are compared as they are without wrappers; if that fits nowhere, also without ``module.`` in them.
    """
    found: list[Fit] = []
    for spelling in (plain_names, unwrapped_names):
        stored, wanted = spelling(candidate.tensors), spelling(reference.shapes)
        by_name = {name: key for key, name in stored.names.items()}
        prefixes = _prefixes(by_name, [wanted.names[name] for name in reference.parameters])
        found += [_under(candidate, reference, by_name, stored, wanted, p) for p in prefixes]
        if any(fit.complete for fit in found):
            break
    return sorted(found, key=lambda fit: (not fit.complete, fit.is_average, len(fit.prefix)))


def _prefixes(by_name: Mapping[str, str], parameters: list[str]) -> Iterator[str]:
    """Prefixes under which the file may hold the model's names; ``-p`` stands for names that lack ``p``."""
    seen = {""}
    yield ""
    for wanted in sorted(parameters, key=len, reverse=True)[:3]:
        for name in by_name:
            longer, shorter, sign = (name, wanted, "") if len(name) > len(wanted) else (wanted, name, "-")
            prefix = sign + longer[: len(longer) - len(shorter)]
            if longer.endswith("." + shorter) and prefix not in seen and len(seen) < _MOST_PREFIXES:
                seen.add(prefix)
                yield prefix


def _under(
    candidate: Candidate,
    reference: Reference,
    by_name: Mapping[str, str],
    stored: Spelling,
    wanted: Spelling,
    prefix: str,
) -> Fit:
    keys = _keys(reference, by_name, wanted, prefix)
    found = {name: candidate.tensors[key] for name, key in keys.items()}
    problems = {name: _problem(tensor, reference.dtypes.get(name, "")) for name, tensor in found.items()}
    shapes = reference.shapes
    wrong = tuple(
        (name, tuple(tensor.shape), shapes[name])
        for name, tensor in found.items()
        if not problems[name] and tuple(tensor.shape) != shapes[name]
    )
    bad = {name for name, _, _ in wrong} | {name for name, problem in problems.items() if problem}
    used = set(keys.values())
    return Fit(
        candidate,
        prefix,
        stored.removed,
        tensors={name: tensor for name, tensor in found.items() if name not in bad},
        missing=tuple(name for name in reference.parameters if name not in keys),
        wrong=wrong,
        unreadable=tuple((name, problem) for name, problem in problems.items() if problem),
        missing_buffers=tuple(name for name in reference.buffers if name not in keys),
        unused=tuple(key for key in candidate.tensors if key not in used),
        renamed=any((n in wanted.translated) != (key in stored.translated) for n, key in keys.items()),
    )


def _keys(reference: Reference, by_name: Mapping[str, str], wanted: Spelling, prefix: str) -> dict[str, str]:
    """The file's name of each tensor of the model that it has; one is never two tensors that are not tied."""
    keys: dict[str, str] = {}
    owner: dict[str, str] = {}
    for name in reference.shapes:
        own = (name, *reference.twins.get(name, ()))
        there = (_there(wanted.names[one], prefix) for one in own)
        key = next((by_name[one] for one in there if one in by_name), None)
        if key is not None and owner.setdefault(key, name) in own:
            keys[name] = key
    return keys


def _problem(tensor: Weights, wanted: str) -> str:
    """Why a tensor cannot become one of type ``wanted``, empty if it can."""
    problem = why_unreadable(tensor) if isinstance(tensor, TensorRecord) else ""
    if problem or not wanted.startswith(("float", "bfloat")):
        return problem
    if is_integer(tensor):
        return f"holds integers ({dtype_of(tensor)}) where the model has {wanted}; save float weights"
    if dtype_of(tensor).startswith("complex"):
        return f"is complex where the model has {wanted}"
    return ""


def _there(name: str, prefix: str) -> str:
    """How the file would call what the model calls ``name``."""
    return name.removeprefix(prefix[1:]) if prefix.startswith("-") else prefix + name
