"""Which of a file's mappings are its weights; files that are laid out alike are fitted once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from landscope.checkpoints.files.mappings import AVERAGES, Candidate, Weights
from landscope.checkpoints.files.sniff import holds_no_weights
from landscope.checkpoints.guarded.facts import FileFacts
from landscope.checkpoints.guarded.plain import LeftAlone
from landscope.checkpoints.matching.match import Matched, choose, match
from landscope.checkpoints.matching.names import bare_names, plain_parametrisation
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.records import Storage, TensorRecord
from landscope.checkpoints.wording import shown
from landscope.contract.errors import CheckpointError

_MOST = 64
"""Layouts that are remembered."""
AVERAGE = "these are averaged weights"
"""The note at weights that no optimizer steps."""
_FILE = "The file: "
"""How sentences begin where ``match`` is told no name."""


class Fitting:
    """Chooses the weights of the files of a run.

    Args:
        reference: the model that they must fit, None = none is known.
        wanted: the set of weights to take (see ``match``).
    """

    def __init__(self, reference: Reference | None, wanted: str) -> None:
        self._reference, self._wanted = reference, wanted
        self._known: dict[bytes, _Layout | str] = {}

    def matched(self, facts: FileFacts, name: str) -> Matched:
        """The weights of a file of that name.

        Raises:
            CheckpointError: it has none that can be used; one clause.
        """
        reason = holds_no_weights(name)
        if reason and self._reference is None:
            raise CheckpointError(reason)
        try:
            return self._fitted(facts)
        except CheckpointError as error:
            raise CheckpointError(reason or error.sentence.removeprefix(_FILE)) from error

    def _fitted(self, facts: FileFacts) -> Matched:
        places, pattern = facts.places(), bytes(facts.sets)
        known = self._known.get(pattern)
        if isinstance(known, str):
            raise CheckpointError(known)
        if known is not None:
            return known.at(places)
        room = len(self._known) < _MOST
        try:
            matched = self._fit(facts.candidates(places))
        except CheckpointError as error:
            if room:
                self._known[pattern] = error.sentence
            raise
        if room and (layout := _layout(matched, places)):
            self._known[pattern] = layout
        return matched

    def _fit(self, candidates: tuple[Candidate, ...]) -> Matched:
        if self._reference is None:
            matched = _likeliest(candidates, self._wanted)
        else:
            matched = _without_foreign_state(match(candidates, self._reference, wanted=self._wanted))
        for name, tensor in matched.tensors.items():
            if isinstance(tensor, TensorRecord) and tensor.problem:
                raise CheckpointError(f"{shown(name)} {tensor.problem}")
        return matched


@dataclass(frozen=True)
class _Layout:
    """What was chosen from a file, and the index of the storage of each tensor."""

    matched: Matched
    indices: tuple[int, ...]

    def at(self, places: list[Storage]) -> Matched:
        """The same of a file that is laid out alike, whose storages are at ``places``."""
        found = zip(self.matched.tensors.items(), self.indices, strict=True)
        return replace(
            self.matched, tensors={name: _moved(tensor, places[index]) for (name, tensor), index in found}
        )


def _moved(tensor: Weights, place: Storage) -> TensorRecord:
    assert isinstance(tensor, TensorRecord)
    return TensorRecord(tensor.dtype, tensor.shape, tensor.stride, place, tensor.start)


def _layout(matched: Matched, places: list[Storage]) -> _Layout | None:
    """None where the file holds numbers outside its storages, which are its own."""
    index = {id(place): number for number, place in enumerate(places)}
    indices: list[int] = []
    for tensor in matched.tensors.values():
        if not isinstance(tensor, TensorRecord) or tensor.quantised or id(tensor.storage) not in index:
            return None
        indices.append(index[id(tensor.storage)])
    return None if matched.extras else _Layout(matched, tuple(indices))


def _likeliest(candidates: tuple[Candidate, ...], wanted: str) -> Matched:
    """The set to take without a model, its names as the bare model has them."""
    chosen, sets = choose(candidates, wanted)
    bare, removed = bare_names(name for name in chosen.tensors if name != AVERAGES)
    notes = [f"weights taken from '{chosen.path}'"] if chosen.path else []
    notes += [f"removed prefix {prefix}" for prefix in removed]
    notes += [AVERAGE] if chosen.is_average else []
    named = {plain_parametrisation(short): chosen.tensors[name] for name, short in bare.items()}
    return Matched(named, {}, tuple(notes), sets)


def _without_foreign_state(matched: Matched) -> Matched:
    """Extra state that is no plain data is left as the model has it, and said."""
    left = {name: value for name, value in matched.extras.items() if isinstance(value, LeftAlone)}
    notes = tuple(f"{name} kept from the model: the file's {why}" for name, why in left.items())
    kept = {name: value for name, value in matched.extras.items() if name not in left}
    return replace(matched, extras=kept, notes=(*matched.notes, *notes)) if left else matched
