"""The weights of a run's checkpoints: whole files while they fit, else one parameter after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from landscope.checkpoints.entry import Entry
from landscope.checkpoints.files.mappings import Weights
from landscope.checkpoints.read import StoredTensors, check_bytes, load_tensors
from landscope.checkpoints.records import ITEM_SIZES, TensorRecord
from landscope.contract.errors import CheckpointError
from landscope.distance.frame import Frame, frame_of, names_of

BUDGET = 512 << 20
"""Bytes of weights that may stay in memory between uses."""
_AT_ONCE = 4
"""Checkpoints that are compared at a time: the reference, this one and the two before it."""


class RunStates:
    """Reads checkpoints in the order of one frame, which the first readable checkpoint lays down.

    Attributes:
        frame: None until a checkpoint was read. bytes_each, largest: size of one checkpoint's tensors, and of
            the largest among them.
    """

    def __init__(self, entries: Mapping[str, Entry], *, budget: int | None = None) -> None:
        self.frame: Frame | None = None
        self.bytes_each = self.largest = 0
        self.budget = BUDGET if budget is None else budget
        self._entries = entries
        self._kept: dict[str, Sequence[Tensor]] = {}

    @property
    def group(self) -> int:
        """How many checkpoints two groups of the matrices may have each."""
        return self.budget // (2 * max(1, self.largest if self._large else self.bytes_each))

    @property
    def _large(self) -> bool:
        """Whether files are too large to be in memory as a whole."""
        return self.bytes_each * _AT_ONCE > self.budget

    def entry(self, checkpoint: str) -> Entry:
        """What is known of a checkpoint's file."""
        return self._entries[checkpoint]

    def load(self, checkpoint: str) -> Sequence[Tensor]:
        """The P tensors of a checkpoint in the frame's order, on the CPU; of a large file, read when needed.

        Raises:
            CheckpointError: the file cannot be read, or holds another network than the first.
        """
        if checkpoint in self._kept:
            return self._kept[checkpoint]
        entry = self._entries[checkpoint]
        if entry.matched is None:
            raise CheckpointError(f"{checkpoint}: {entry.info.reason}")
        state = entry.matched.tensors
        frame = self.frame or frame_of(state)
        wanted = {name: state[name] for name in names_of(frame, state, checkpoint)}
        sizes = [_bytes(tensor) for tensor in wanted.values()]
        self.bytes_each, self.largest = sum(sizes), max(sizes, default=0)
        tensors = self._read(wanted, entry)
        self.frame = frame
        if self._large or (len(self._kept) + 1) * self.bytes_each <= self.budget:
            self._kept[checkpoint] = tensors
        return tensors

    def _read(self, wanted: Mapping[str, Weights], entry: Entry) -> Sequence[Tensor]:
        if not self._large:
            return [tensor.detach() for tensor in load_tensors(wanted, entry.parts).values()]
        check_bytes(wanted, entry.parts)
        return StoredTensors([alone(tensor) for tensor in wanted.values()], entry.parts)


class Chosen(Sequence[Tensor]):
    """Some of a checkpoint's tensors, still read when asked for."""

    def __init__(self, tensors: Sequence[Tensor], places: Sequence[int]) -> None:
        self._tensors, self._places = tensors, places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        return self._tensors[self._places[index]]


def _bytes(tensor: Weights) -> int:
    if not isinstance(tensor, TensorRecord):
        return tensor.nbytes
    return tensor.elements * (ITEM_SIZES[tensor.dtype] if tensor.quantised is None else 4)


def alone(tensor: Weights) -> Weights:
    """A tensor without the rest of its storage, whose checksum was compared before."""
    if not isinstance(tensor, TensorRecord) or tensor.storage is None:
        return tensor
    item = ITEM_SIZES[tensor.dtype]
    span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride, strict=True))
    begin = tensor.storage.offset + tensor.start * item
    return replace(tensor, storage=replace(tensor.storage, offset=begin, size=span * item, crc=None), start=0)
