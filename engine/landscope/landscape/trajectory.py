"""Which checkpoints can be used, and the plane that the path through them fills best."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from landscope.contract.errors import CheckpointError, OptionError
from landscope.contract.events import Notice
from landscope.contract.job import CancelToken
from landscope.project.measuring.measure import measure
from landscope.weights.flat import Flat
from landscope.weights.principal import HELD_BYTES, PrincipalPlane, principal_plane
from landscope.weights.restore import preserved
from landscope.weights.vector import ParameterVector

if TYPE_CHECKING:
    from landscope.project.subject import Subject


class StateReader:
    """Checkpoints of a run as vectors on the host; kept in memory while all of them fit."""

    def __init__(self, subject: Subject, vector: ParameterVector, token: CancelToken) -> None:
        self._subject, self._vector, self._token = subject, vector, token
        self._kept: dict[str, Flat] = {}
        self._problems: dict[str, str] = {}

    def flat(self, checkpoint: str) -> Flat:
        """θ of a checkpoint.

        Raises:
            CheckpointError: the file cannot be read or does not fit the model.
        """
        if checkpoint in self._kept:
            return self._kept[checkpoint]
        self._token.check()
        flat = self._vector.read_state(self._subject.state(checkpoint), device="cpu")
        row_bytes = sum(block.numel() * block.element_size() for block in flat.blocks)
        if row_bytes * len(self._subject.names) <= HELD_BYTES:
            self._kept[checkpoint] = flat
        return flat

    def problem(self, checkpoint: str) -> str:
        """Why a checkpoint cannot be part of a line or plane; empty where it can."""
        if checkpoint not in self._problems:
            self._problems[checkpoint] = self._find_problem(checkpoint)
        return self._problems[checkpoint]

    def _find_problem(self, checkpoint: str) -> str:
        try:
            finite = self.flat(checkpoint).is_finite()
        except CheckpointError as error:
            return error.sentence
        if not finite:
            return f"The weights of “{checkpoint}” hold NaN or infinite values."
        if not self._has_loss(checkpoint):
            return f"“{checkpoint}” has no finite loss, though its weights are finite."
        return ""

    def _has_loss(self, checkpoint: str) -> bool:
        """Whether the loss of the first batch is finite: weights that ran away overflow on the way to it."""
        split = self._subject.data.splits[0]
        batches = self._subject.data.batches(split)[:1]
        with preserved(self._subject.model):
            self._subject.load(checkpoint)
            return math.isfinite(measure(self._subject, split, self._token, batches=batches).loss)

    def first(self) -> str:
        """The earliest checkpoint that can be used.

        Raises:
            OptionError: the run has no checkpoint. CheckpointError: none can be used.
        """
        return self._first_of(self._subject.names)

    def last(self) -> str:
        """The latest checkpoint that can be used.

        Raises:
            OptionError: the run has no checkpoint. CheckpointError: none can be used.
        """
        return self._first_of(self._subject.names[::-1])

    def _first_of(self, names: tuple[str, ...]) -> str:
        for name in names:
            if not self.problem(name):
                return name
        if names:
            raise CheckpointError(
                f"No checkpoint of “{self._subject.run}” can be used. {self.problem(names[0])}"
            )
        raise OptionError(f"The run “{self._subject.run}” has no checkpoint that can be used.")

    def require(self, asked: str) -> str:
        """The checkpoint of this name.

        Raises:
            OptionError: the run has none. CheckpointError: it cannot be used.
        """
        names = self._subject.names
        if asked not in names:
            raise OptionError(
                f"The run “{self._subject.run}” has no checkpoint “{asked}”; "
                f"there is {', '.join(names) or 'none'}."
            )
        if self.problem(asked):
            raise CheckpointError(f"{self.problem(asked)} Choose another checkpoint.")
        return asked


def later_left_out(subject: Subject, used: str, what: str) -> Iterator[Notice]:
    """Say that an earlier checkpoint than the last was taken; ``what``: as in "The line ends at"."""
    if used != subject.names[-1]:
        yield Notice(level="warning", sentence=f"{what} “{used}”: later checkpoints cannot be used.")


@dataclass(frozen=True)
class Path:
    """A run's path in the plane that it fills best.

    Attributes:
        checkpoints: M names in training order. plane: directions, coordinates and residuals.
        skipped: for each checkpoint left out, why, in a sentence.
    """

    checkpoints: tuple[str, ...]
    plane: PrincipalPlane
    skipped: tuple[str, ...]


def find_path(subject: Subject, vector: ParameterVector, base: str, reader: StateReader) -> Path:
    """Uncentred PCA of all usable checkpoints minus ``base``, all parameters of the vector together.

    Raises:
        OptionError: fewer than three usable checkpoints, or a straight path.
    """
    names = subject.names
    usable = tuple(name for name in names if not reader.problem(name))
    skipped = tuple(reader.problem(name) for name in names if reader.problem(name))
    plane = principal_plane(vector, len(usable), usable.index(base), lambda i: reader.flat(usable[i]))
    return Path(usable, plane, skipped)
