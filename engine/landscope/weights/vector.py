"""The parameters of a live model as one vector that can be moved and is put back bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import torch
from torch import Tensor, nn

from landscope.contract.errors import CheckpointError, LandscopeError
from landscope.weights.flat import Flat
from landscope.weights.layout import Layout, find_layout

_HALF = (torch.float16, torch.bfloat16)


class ParameterVector:
    """θ: the parameters of a model, moved as one vector while the context is open.

    On entering, every parameter's data becomes a view into one flat buffer per dtype and device, with its
    own strides (plain views would undo ``channels_last``). The tensors that the parameters had before are
    never written: they are the base θ0, and on leaving each parameter gets its own back. Tied parameters
    are one part of the vector; buffers and integer tensors are none.

    θ = θ0 + α·d1 + β·d2 is computed from the base at every point, never accumulated. Half-precision
    weights are added in float32 and rounded once.

    Memory beyond the model, in bytes per float32 parameter: 4 for the moved weights, 4 for the row
    θ0 + β·d2, and 4 for each direction.

    Attributes:
        names: of the parameters that a direction moves, in model order, ties once.
        size: number of their elements.
        layout: where each parameter lies in the flat buffers.
    """

    def __init__(self, model: nn.Module, trainable_only: bool = True) -> None:
        self.layout: Layout = find_layout(model, trainable_only)
        self.names = tuple(slot.name for slot in self.layout.owners)
        self.size = sum(slot.parameter.numel() for slot in self.layout.owners)
        self._base: list[Tensor] = []
        self._live: list[Tensor] = []
        self._row: Flat | None = None
        self._row_key: tuple[float, Flat | None] = (0.0, None)

    def __enter__(self) -> ParameterVector:
        """Point the parameters into the flat buffers; their values stay."""
        self._base = [slot.parameter.data for slot in self.layout.slots]
        self._live = self._buffers(compute=False)
        try:
            for slot, base in zip(self.layout.slots, self._base, strict=True):
                view = slot.view(self._live[slot.block])
                view.copy_(base)
                slot.parameter.data = view
        except BaseException:
            self._put_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give every parameter the very tensor it had."""
        self._put_back()

    def _put_back(self) -> None:
        for slot, base in zip(self.layout.slots, self._base, strict=True):
            slot.parameter.data = base
        self._base, self._live, self._row = [], [], None

    def _buffers(self, compute: bool, device: str | torch.device | None = None) -> list[Tensor]:
        """New flat buffers of zeros; ``compute`` widens half precision to float32."""
        made = []
        for (dtype, own_device), size in zip(self.layout.keys, self.layout.sizes, strict=True):
            wide = torch.float32 if compute and dtype in _HALF else dtype
            made.append(torch.zeros(size, dtype=wide, device=device or own_device))
        return made

    def zeros(self, device: str | torch.device | None = None) -> Flat:
        """A zero vector on the model's devices, or on ``device``."""
        return Flat(tuple(self._buffers(compute=True, device=device)))

    def to_device(self, flat: Flat) -> Flat:
        """A vector read to the host, on the model's devices."""
        pairs = zip(flat.blocks, self.layout.keys, strict=True)
        return Flat(tuple(block.to(device) for block, (_, device) in pairs))

    def views(self, flat: Flat) -> dict[str, Tensor]:
        """The parts of a vector by parameter name, with the parameters' shapes; writing moves the vector."""
        return {slot.name: slot.view(flat.blocks[slot.block]) for slot in self.layout.owners}

    @property
    def base(self) -> Flat:
        """A copy of θ0 (of the model's present weights where the context is not open)."""
        flat = self.zeros()
        values = self._base or [slot.parameter.data for slot in self.layout.slots]
        for slot, value in zip(self.layout.slots, values, strict=True):
            slot.view(flat.blocks[slot.block]).copy_(value)
        return flat

    def read_state(self, state: Mapping[str, Tensor], device: str | torch.device | None = None) -> Flat:
        """The vector of a checkpoint, on the model's devices or on ``device``.

        Raises:
            CheckpointError: a parameter is missing in ``state`` or has another shape.
        """
        flat = self.zeros(device)
        other_names = {owner: alias for alias, owner in self.layout.aliases.items()}
        for slot in self.layout.owners:
            value = state.get(slot.name, state.get(other_names.get(slot.name, slot.name)))
            if value is None:
                raise CheckpointError(f'The checkpoint holds no tensor for the parameter "{slot.name}".')
            if tuple(value.shape) != slot.shape:
                raise CheckpointError(
                    f'The checkpoint\'s "{slot.name}" has shape {tuple(value.shape)}, '
                    f"the model's has {slot.shape}."
                )
            slot.view(flat.blocks[slot.block]).copy_(value.detach())
        return flat

    @torch.no_grad()
    def set(self, alpha: float, d1: Flat, beta: float = 0.0, d2: Flat | None = None) -> None:
        """Move the model to θ0 + alpha·d1 + beta·d2.

        Raises:
            LandscopeError: the context is not open.
        """
        row = self._row_at(beta, d2)
        for live, start, direction in zip(self._live, row.blocks, d1.blocks, strict=True):
            torch.add(start, direction, alpha=alpha, out=live)

    @torch.no_grad()
    def interpolate(self, end: Flat, t: float) -> None:
        """Move the model to θ0 + t·(end − θ0), exact at t = 0 and t = 1; t may lie outside [0, 1].

        Raises:
            LandscopeError: the context is not open.
        """
        row = self._row_at(0.0, None)
        for live, start, stop in zip(self._live, row.blocks, end.blocks, strict=True):
            live.copy_(torch.lerp(start, stop, t))

    def _row_at(self, beta: float, d2: Flat | None) -> Flat:
        """θ0 + beta·d2, kept for the next point of the same row."""
        if not self._base and self.layout.slots:
            raise LandscopeError("The weights can only be moved while their context is open.")
        if self._row is None:
            self._row = self.zeros()
        elif self._row_key[0] == beta and self._row_key[1] is d2:
            return self._row
        targets = [slot.view(self._row.blocks[slot.block]) for slot in self.layout.slots]
        for target, base in zip(targets, self._base, strict=True):
            target.copy_(base)
        if d2 is not None and beta != 0.0:
            self._row.add_(d2, beta)
        self._row_key = (beta, d2)
        return self._row
