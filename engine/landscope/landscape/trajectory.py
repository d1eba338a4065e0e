"""Which checkpoints can be used, and the plane that the path through them fills best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from landscope.contract.errors import CheckpointError, OptionError
from landscope.contract.job import CancelToken
from landscope.weights.flat import Flat
from landscope.weights.principal import HELD_BYTES, PrincipalPlane, principal_plane
from landscope.weights.vector import ParameterVector

if TYPE_CHECKING:
    from landscope.project.subject import Subject


class StateReader:
    """Checkpoints of a run as vectors on the host; kept in memory while all of them fit."""

    def __init__(self, subject: Subject, vector: ParameterVector, token: CancelToken) -> None:
        self._subject, self._vector, self._token = subject, vector, token
        self._kept: dict[str, Flat] = {}
        self._finite: dict[str, bool] = {}

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

    def is_finite(self, checkpoint: str) -> bool:
        """Whether all weights of a checkpoint are numbers."""
        if checkpoint not in self._finite:
            self._finite[checkpoint] = self.flat(checkpoint).is_finite()
        return self._finite[checkpoint]

    def choose(self, asked: str) -> str:
        """The checkpoint asked for; where none is, the last one whose weights are finite.

        Raises:
            OptionError: the run has no such checkpoint, or none at all.
            CheckpointError: its weights are not finite, or no checkpoint's are.
        """
        names = self._subject.names
        if asked:
            self._require(asked)
            return asked
        for name in reversed(names):
            if self.is_finite(name):
                return name
        if names:
            raise CheckpointError(
                f"No checkpoint of “{self._subject.run}” has finite weights; there is nothing to draw."
            )
        raise OptionError(f"The run “{self._subject.run}” has no checkpoint that can be used.")

    def _require(self, asked: str) -> None:
        names = self._subject.names
        if asked not in names:
            raise OptionError(
                f"The run “{self._subject.run}” has no checkpoint “{asked}”; "
                f"there is {', '.join(names) or 'none'}."
            )
        if not self.is_finite(asked):
            raise CheckpointError(
                f"The weights of “{asked}” hold NaN or infinite values; choose another checkpoint."
            )


@dataclass(frozen=True)
class Path:
    """A run's path in the plane that it fills best.

    Attributes:
        checkpoints: M names in training order. plane: directions, coordinates and residuals.
        skipped: checkpoints left out because their weights are not finite.
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
    usable = tuple(name for name in names if reader.is_finite(name))
    skipped = tuple(name for name in names if name not in usable)
    plane = principal_plane(vector, len(usable), usable.index(base), lambda i: reader.flat(usable[i]))
    return Path(usable, plane, skipped)
