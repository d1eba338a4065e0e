"""Batches of samples gathered into blocks large enough to be multiplied at once."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from landscope.saturation.precision import finite_rows, mean_row, working

BLOCK_ELEMENTS = 1 << 20
"""Elements of a block: it should stay in a core's caches while it is summed and multiplied."""

BLOCK_ROWS = 1_024
"""Rows from which a larger block is not multiplied any faster."""


class Block(NamedTuple):
    """(n, D) shifted rows, a view of ``memory``."""

    rows: Tensor
    memory: Tensor


class ShiftedBlocks:
    """Copies samples (…, D) minus a fixed shift into blocks, whatever sizes they come in.

    The shift is the mean of the first batch's finite rows (postponed until there is one); without it float32
    gives wrong ranks once mean / standard deviation exceeds about 500. Blocks of maps lie features first, as
    maps do, so that copying needs no transposition. A block is the caller's until ``recycle``, from whatever
    thread; then its memory is used again.

    Attributes:
        nonfinite: rows that came before there was a shift; each held NaN or inf.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.nonfinite = 0
        self.shift: Tensor | None = None
        self._features_first = False
        self._capacity = 0
        self._memory: Tensor | None = None
        self._filled = 0
        self._spare: deque[Tensor] = deque()

    def take(self, samples: Tensor) -> Iterator[Block]:
        """Copy samples (…, D), every leading dimension counting rows; what is yielded is full."""
        samples = samples.detach() if samples.requires_grad else samples
        samples = samples if samples.dim() > 1 else samples.unsqueeze(0)
        if 0 in samples.shape:
            return
        if self.shift is None and not self._choose_shift(samples):
            self.nonfinite += samples.numel() // self.dimension
            return
        per_item = math.prod(samples.shape[1:-1])
        if per_item > self._capacity:
            yield from self.rest()
            self._capacity = self._rows_of_a_block(per_item, samples.shape[0])
        fitting = self._capacity // per_item
        for part in (samples,) if samples.shape[0] <= fitting else torch.split(samples, fitting):
            rows = part.shape[0] * per_item
            if self._filled + rows > self._capacity:
                yield from self.rest()
            self._copy(part, rows)
        if self._filled == self._capacity:
            yield from self.rest()

    def rest(self) -> Iterator[Block]:
        """What is left in a block that is not full, if anything."""
        if self._memory is not None:
            memory, filled = self._memory, self._filled
            self._memory, self._filled = None, 0
            yield Block(memory[:, :filled].t() if self._features_first else memory[:filled], memory)

    def recycle(self, block: Block) -> None:
        """Let the memory of a block be used again."""
        self._spare.append(block.memory)

    def _choose_shift(self, samples: Tensor) -> bool:
        rows = finite_rows(working(samples).reshape(-1, self.dimension))
        if len(rows):
            self.shift = mean_row(rows)
            self._features_first = samples.stride(-1) != 1 and samples.dim() > 2
        return len(rows) > 0

    def _rows_of_a_block(self, per_item: int, items: int) -> int:
        fitting = max(1, BLOCK_ELEMENTS // self.dimension)
        whole_items = per_item * max(1, min(items, fitting // per_item))
        return max(min(BLOCK_ROWS, fitting), whole_items)

    def _copy(self, part: Tensor, rows: int) -> None:
        assert self.shift is not None
        if self._memory is None:
            self._memory = self._empty()
        begin, end = self._filled, self._filled + rows
        if self._features_first:
            shift = self.shift.reshape(-1, *(1 for _ in part.shape[:-1]))
            out = self._memory[:, begin:end].view(self.dimension, *part.shape[:-1])
            torch.sub(part.movedim(-1, 0), shift, out=out)
        else:
            rows_here = self._memory[begin:end]
            torch.sub(part, self.shift, out=rows_here if part.dim() == 2 else rows_here.view(part.shape))
        self._filled = end

    def _empty(self) -> Tensor:
        """Memory for a block, one that was given back if it is of the size that is wanted now."""
        assert self.shift is not None
        size, wanted = (self.dimension, self._capacity), self.shift
        shape = size if self._features_first else size[::-1]
        while self._spare:
            spare = self._spare.pop()
            if spare.shape == shape:
                return spare
        return torch.empty(shape, dtype=wanted.dtype, device=wanted.device)
