"""The weights of a run's checkpoints, read one file at a time and kept only while they fit."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from landscope.checkpoints.discover import load_state
from landscope.distance.frame import Frame, frame_of, tensors_of

BUDGET = 512 << 20
"""Bytes of weights that may stay in memory between uses."""


class RunStates:
    """Reads checkpoints in the order of one frame, which the first readable checkpoint lays down.

    Attributes:
        frame: None until a checkpoint was read. bytes_each: size of one checkpoint's tensors.
    """

    def __init__(self, folder: Path, *, trusted: bool, budget: int | None = None) -> None:
        self.frame: Frame | None = None
        self.bytes_each = 0
        self.budget = BUDGET if budget is None else budget
        self._folder = folder
        self._trusted = trusted
        self._kept: dict[str, list[Tensor]] = {}

    def load(self, checkpoint: str) -> list[Tensor]:
        """The P tensors of a checkpoint in the frame's order, on the CPU.

        Raises:
            CheckpointError: the file cannot be read, or holds another network than the first.
        """
        if checkpoint in self._kept:
            return self._kept[checkpoint]
        state = load_state(self._folder, checkpoint, trusted=self._trusted)
        if self.frame is None:
            self.frame = frame_of(state)
        tensors = tensors_of(self.frame, state, checkpoint)
        self.bytes_each = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        if (len(self._kept) + 1) * self.bytes_each <= self.budget:
            self._kept[checkpoint] = tensors
        return tensors
