"""Which of a file's mappings becomes the model's weights: it fits as a whole, or the file is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from landscope.checkpoints.files.mappings import Candidate, Weights, elements, is_integer
from landscope.checkpoints.matching.fit import Fit, fits_of
from landscope.checkpoints.matching.halves import halves
from landscope.checkpoints.matching.notes import notes_on
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.matching.refusal import refusal, why_no_model
from landscope.checkpoints.records import TensorRecord
from landscope.checkpoints.wording import some
from landscope.contract.errors import CheckpointError

AVERAGED = "averaged"
"""The word that asks for the moving average of the weights, whatever a file calls it."""
_TOP = "top level"
_PLAUSIBLE_PART = 10
_MOST_TRIED = 64
_MOST_NEAR = 8


@dataclass(frozen=True)
class Matched:
    """A file's tensors under the model's own names.

    Attributes:
        tensors: model name to record; absent buffers are left out.
        extras: model name to stored extra state.
        notes: what was done, a clause each ("removed prefix module.").
        sets: names of all sets of weights that fit, the used one first; empty if there is only one.
    """

    tensors: Mapping[str, Weights]
    extras: Mapping[str, Any]
    notes: tuple[str, ...]
    sets: tuple[str, ...] = ()


def match(
    candidates: Iterable[Candidate], reference: Reference, file: str = "The file", wanted: str = ""
) -> Matched:
    """The one mapping of a file that fits the model.

    Args:
        candidates: the file's mappings, most likely first (``find_mappings``).
        reference: what the model wants. file: its name, for sentences.
        wanted: a set by its path or the last part of it, or ``averaged``; empty = the plainest that fits.

    Raises:
        CheckpointError: none fits, the sentence names what is missing or both shapes; or the wanted set is
            not there, the sentence names those that are.
    """
    fits = _fits(_worth_trying(tuple(candidates), reference, wanted), reference)
    sets = _distinct([fit for fit in fits if fit.complete])
    if wanted:
        sets = _wanted_first(fits, sets, reference, file, wanted)
    if not sets:
        raise CheckpointError(refusal(file, max(fits, key=lambda f: f.closeness, default=None), reference))
    names = _names(sets)
    return Matched(
        sets[0].tensors,
        _extras(sets[0], reference),
        tuple(notes_on(sets, names, reference)),
        names if len(names) > 1 else (),
    )


def _worth_trying(
    candidates: tuple[Candidate, ...], reference: Reference, wanted: str
) -> tuple[Candidate, ...]:
    """The mappings with enough tensors for the model; without any, the likeliest, for the refusal."""
    needed = len({min((name, *reference.twins.get(name, ()))) for name in reference.parameters})
    enough = [one for one in candidates if len(one.tensors) >= needed] or list(candidates[:_MOST_NEAR])
    asked = [one for one in candidates if wanted and _answers(one.path, one.is_average, wanted)]
    tried = enough[:_MOST_TRIED]
    return (*tried, *(one for one in asked if not any(one is other for other in tried)))


def _fits(candidates: tuple[Candidate, ...], reference: Reference) -> list[Fit]:
    """Fits of the mappings that the file has; of those put together only where none of them fits."""
    fits = [fit for one in candidates if not one.is_joint for fit in fits_of(one, reference)]
    if not any(fit.complete for fit in fits):
        fits += [fit for one in candidates if one.is_joint for fit in fits_of(one, reference)]
    return fits


def choose(candidates: Iterable[Candidate], wanted: str = "") -> tuple[Candidate, tuple[str, ...]]:
    """The set of weights to take without a model.

    Args:
        candidates: the file's mappings, most likely first (``find_mappings``). wanted: as for ``match``.

    Returns:
        the set, and the names of all that may be weights, the chosen one first; no names if there is only
        one.

    Raises:
        CheckpointError: there are no weights, or the wanted set is not there.
    """
    apart = [half for candidate in candidates if not candidate.is_joint for half in halves(candidate)]
    found = [one for one in apart if not all(map(is_integer, one.tensors.values()))]
    if not found:
        raise CheckpointError(f"The file: {'only integers, ' if apart else ''}no weights found")
    chosen = found[0]
    likely = _likely(found)
    if wanted:
        asked = [c for c in found if _answers(c.path, c.is_average, wanted)]
        if not asked:
            raise CheckpointError(_not_there("The file", wanted, [c.path or _TOP for c in likely]))
        chosen = asked[0]
    why = why_no_model(chosen.tensors)
    if why:
        raise CheckpointError(f"The file: {why}")
    names = tuple(dict.fromkeys(c.path or _TOP for c in (chosen, *likely)))
    return chosen, names if len(names) > 1 else ()


def _likely(found: list[Candidate]) -> list[Candidate]:
    """The first and what may be meant as well: of some size, no tables of data beside networks."""
    alike = [c for c in found if not c.is_stray and c.is_loose <= found[0].is_loose]
    most = max(map(elements, alike), default=0)
    return [found[0], *(c for c in alike if c is not found[0] and elements(c) * _PLAUSIBLE_PART >= most)]


def _distinct(fits: list[Fit]) -> list[Fit]:
    """Plain sets before averaged ones, each set of tensors once."""
    found: dict[tuple[Any, ...], Fit] = {}
    for fit in sorted(fits, key=lambda fit: fit.is_average):
        found.setdefault(tuple(map(_place, fit.tensors.values())), fit)
    return list(found.values())


def _place(tensor: Weights) -> tuple[int, ...]:
    if isinstance(tensor, TensorRecord) and tensor.storage is not None:
        return (tensor.storage.offset, tensor.start)
    return (id(tensor),)


def _wanted_first(
    fits: list[Fit], sets: list[Fit], reference: Reference, file: str, wanted: str
) -> list[Fit]:
    asked = [fit for fit in fits if _fit_answers(fit, wanted)]
    complete = [fit for fit in sets if _fit_answers(fit, wanted)]
    if not asked:
        names = _names(sets) or tuple(dict.fromkeys(fit.candidate.path or _TOP for fit in fits))
        raise CheckpointError(_not_there(file, wanted, names))
    if not complete:
        raise CheckpointError(refusal(file, max(asked, key=lambda f: f.closeness), reference))
    return [complete[0], *(fit for fit in sets if fit is not complete[0])]


def _fit_answers(fit: Fit, wanted: str) -> bool:
    return any(_answers(path, fit.is_average, wanted) for path in (fit.candidate.path, fit.path))


def _answers(path: str, averaged: bool, wanted: str) -> bool:
    name = path or _TOP
    return wanted in (name, name.rsplit(".", 1)[-1]) or (wanted == AVERAGED and averaged)


def _not_there(file: str, wanted: str, names: Iterable[str]) -> str:
    there = some(tuple(dict.fromkeys(names)), 8)
    return f"{file}: has no set of weights named {wanted!r}" + (f", only {there}" if there else "")


def _names(sets: list[Fit]) -> tuple[str, ...]:
    """Names of the sets: the mapping's path, with the prefix where one mapping holds several."""
    paths = [fit.candidate.path for fit in sets]
    return tuple(
        (fit.path if paths.count(fit.candidate.path) > 1 else fit.candidate.path) or _TOP for fit in sets
    )


def _extras(fit: Fit, reference: Reference) -> dict[str, Any]:
    found = {}
    for name in reference.extras:
        key = fit.prefix + name if not fit.prefix.startswith("-") else name.removeprefix(fit.prefix[1:])
        for stored, value in fit.candidate.extras.items():
            if stored == key or stored.endswith("." + key):
                found[name] = value
    return found
