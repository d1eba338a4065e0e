"""The last update of every parameter of a checkpoint, from the optimizer's state in its file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from landscope.checkpoints.entry import Entry
from landscope.checkpoints.files.mappings import Weights
from landscope.checkpoints.matching.fitting import AVERAGE
from landscope.checkpoints.optimizers import Slot, StoredOptimizers, stored_optimizers
from landscope.checkpoints.read import load_tensors, load_value
from landscope.checkpoints.records import TensorRecord
from landscope.checkpoints.wording import some
from landscope.contract.errors import CheckpointError
from landscope.contract.events import Notice
from landscope.contract.job import CancelToken
from landscope.distance.frame import Frame
from landscope.distance.last_update import Rule, UntoldError, check_state, rule_of, squared_step
from landscope.distance.optimizer_match import Network, placed
from landscope.distance.states import alone

KEY = "last_update"
_ORDERED = ("zip", "legacy")
"""Files that keep the order in which a network names its parameters; others are sorted by name."""
_WHOLE = 32
"""Bytes per element up to which the storage of a tensor is read whole, which compares its checksum."""
_MOVES = "no optimizer of the file steps it, and yet it has moved"
_AVERAGES = "the weights are averages, which no optimizer steps"
_NEXT = (
    "The last update of {} is reconstructed from the optimizer's state. The learning rate in a file may "
    "already be the next one, where a scheduler was stepped before saving: then it is off by their ratio."
)


class LastUpdates:
    """Reads the last updates of one run's checkpoints, and says what cannot be told, each reason once.

    Args:
        run: its name. token: for cancelling.
    """

    def __init__(self, run: str, token: CancelToken) -> None:
        self.notices: list[Notice] = []
        self._run, self._token = run, token
        self._said: set[str] = set()

    def of(
        self, entry: Entry, frame: Frame, tensors: Sequence[Tensor], moved: NDArray[np.bool_] | None
    ) -> NDArray[np.float64] | None:
        """(P,) Σ (θt − θt−1)² of the last step, NaN where it cannot be told; None if that is so everywhere.

        A parameter that no optimizer steps counts as 0 unless it has moved.

        Args:
            entry: the checkpoint. frame: of its run. tensors: its P parameters.
            moved: (P,) which have moved since the reference; None = this is the reference, nothing is known.
        """
        try:
            found = stored_optimizers(entry, self._token)
            if found is None or not any(slot.state for one in found.optimizers for slot in one.slots):
                self._say_stateless(entry, found)
                return None
            if entry.matched is None or AVERAGE in entry.matched.notes:
                raise UntoldError(_AVERAGES)
            return self._read(entry, found, frame, tensors, moved)
        except (CheckpointError, UntoldError) as error:
            self._say(entry, _why(error))
            return None

    def taken(self) -> list[Notice]:
        """The notices since the last call."""
        notices, self.notices = self.notices, []
        return notices

    def _read(
        self,
        entry: Entry,
        found: StoredOptimizers,
        frame: Frame,
        tensors: Sequence[Tensor],
        moved: NDArray[np.bool_] | None,
    ) -> NDArray[np.float64] | None:
        network, rows = network_of(entry, frame)
        fit = placed(found.optimizers, network)
        out, untold = self._steps(found, {rows[place]: slot for place, slot in fit.slots.items()}, tensors)
        others = [row for place, row in enumerate(rows) if place not in fit.slots]
        told = sum(map(len, untold.values())) < len(fit.slots)
        if fit.reason:
            untold[fit.reason] = others
        elif told and moved is not None:
            out[[row for row in others if not moved[row]]] = 0.0
            untold[_MOVES] = [row for row in others if moved[row]]
        for reason, lost in untold.items():
            if lost:
                names = [frame.parameters[row] for row in lost]
                self._say(entry, reason, "" if len(lost) == len(rows) else some(names))
        if told:
            self._say_next()
        return out if told else None

    def _steps(
        self, found: StoredOptimizers, slots: Mapping[int, Slot], tensors: Sequence[Tensor]
    ) -> tuple[NDArray[np.float64], dict[str, list[int]]]:
        """(P,) the squared steps, and the rows that have none by the reason."""
        out = np.full(len(tensors), math.nan)
        untold: dict[str, list[int]] = {}
        reader = _Reader(found)
        for row, slot in slots.items():
            self._token.check()
            try:
                out[row] = reader.squared(slot, tensors[row], self._token.check)
            except (CheckpointError, UntoldError) as error:
                untold.setdefault(_why(error), []).append(row)
        return out, untold

    def _say_stateless(self, entry: Entry, found: StoredOptimizers | None) -> None:
        """Why there is nothing, where that is not simply because no step was taken yet."""
        for one in found.optimizers if found is not None else ():
            for slot in one.slots[:1]:
                try:
                    rule_of(slot.options)
                except UntoldError as error:
                    self._say(entry, str(error))

    def _say(self, entry: Entry, reason: str, names: str = "") -> None:
        if reason in self._said:
            return
        self._said.add(reason)
        of = f" of {names}" if names else ""
        sentence = f"{entry.info.name}: the last update{of} cannot be told: {reason}."
        self.notices.append(Notice(level="info", sentence=sentence))

    def _say_next(self) -> None:
        if _NEXT not in self._said:
            self._said.add(_NEXT)
            self.notices.append(Notice(level="info", sentence=_NEXT.format(self._run)))


class _Reader:
    """Reads what the optimizers of one checkpoint keep, one parameter at a time."""

    def __init__(self, found: StoredOptimizers) -> None:
        self._parts = found.parts
        self._rules: dict[int, Rule | str] = {}

    def squared(self, slot: Slot, weights: Tensor, check: Callable[[], None]) -> float:
        """Σ (θt − θt−1)² of one parameter.

        Raises:
            UntoldError: it cannot be told. CheckpointError: what it needs cannot be read.
        """
        rule = self._rule(slot.options)
        if slot.state is None:
            return 0.0  # it never had a gradient
        check_state(slot, rule, tuple(weights.shape))
        needed = {name: slot.state[name] for name in rule.needed}
        records = {name: _own(value) for name, value in needed.items() if isinstance(value, TensorRecord)}
        return squared_step(rule, {**needed, **load_tensors(records, self._parts)}, weights, check)

    def _rule(self, options: Mapping[str, Any]) -> Rule:
        """The rule of a group, whose parameters share their settings."""
        if id(options) not in self._rules:
            try:
                self._rules[id(options)] = rule_of(load_value(dict(options), self._parts))
            except UntoldError as error:
                self._rules[id(options)] = str(error)
        rule = self._rules[id(options)]
        if isinstance(rule, str):
            raise UntoldError(rule)
        return rule


def _own(record: TensorRecord) -> Weights:
    """The record, cut out of a storage that holds much more than it (those of fused optimizers do)."""
    if record.storage is None or record.problem or record.storage.size <= _WHOLE * max(1, record.elements):
        return record
    return alone(record)


def network_of(entry: Entry, frame: Frame) -> tuple[Network, list[int]]:
    """The parameters of a checkpoint in its file's order, and the row of each in the frame."""
    row_of = {name: row for row, names in enumerate(frame.aliases) for name in names}
    stored = entry.matched.tensors if entry.matched is not None else {}
    named = [row_of[name] for name in stored if name in row_of and not frame.buffers[row_of[name]]]
    rows = list(dict.fromkeys(named))
    place_of = {row: place for place, row in enumerate(rows)}
    return Network(
        shapes=tuple(frame.shapes[row] for row in rows),
        names={name: place_of[row] for name, row in row_of.items() if row in place_of},
        ordered=entry.kind in _ORDERED,
        alone=not entry.info.sets,
    ), rows


def _why(error: CheckpointError | UntoldError) -> str:
    return error.sentence.rstrip(".") if isinstance(error, CheckpointError) else str(error)
