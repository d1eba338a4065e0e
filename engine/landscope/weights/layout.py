"""Where each parameter of a model lies in flat buffers: strides kept, shared memory counted once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

BlockKey = tuple[torch.dtype, torch.device]


@dataclass(frozen=True)
class Slot:
    """One parameter's place: ``block[offset:]`` seen with the parameter's own shape and strides.

    Attributes:
        name: the parameter's first name in the model.
        parameter: the live object of the model.
        block: index of the flat buffer. offset: in elements.
        owner: name of the parameter whose memory this one shares (a tie), else its own name.
    """

    name: str
    parameter: nn.Parameter
    block: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    owner: str

    def view(self, block: Tensor) -> Tensor:
        """The parameter's elements inside a flat buffer, with its shape and strides."""
        return block.as_strided(self.shape, self.stride, self.offset)


@dataclass(frozen=True)
class Layout:
    """The flat buffers of a model: their kinds and sizes, and the slots in model order.

    ``aliases`` maps every further name of a parameter (a tie) to the name that owns the memory.
    """

    keys: tuple[BlockKey, ...]
    sizes: tuple[int, ...]
    slots: tuple[Slot, ...]
    aliases: dict[str, str]

    @property
    def owners(self) -> tuple[Slot, ...]:
        """The slots that own their memory: what a direction moves, ties once."""
        return tuple(slot for slot in self.slots if slot.owner == slot.name)


@dataclass
class _Segment:
    """Parameters whose memory overlaps: elements ``start`` to ``stop`` of one storage."""

    start: int
    stop: int
    members: list[tuple[str, nn.Parameter]] = field(default_factory=list)


def find_layout(model: nn.Module, trainable_only: bool) -> Layout:
    """Lay out the floating and complex parameters of ``model``, one block per dtype and device."""
    chosen = list(_chosen(model, trainable_only))
    storages: dict[tuple[BlockKey, int], list[tuple[str, nn.Parameter]]] = {}
    for name, parameter in chosen:
        place = ((parameter.dtype, parameter.device), parameter.untyped_storage().data_ptr())
        storages.setdefault(place, []).append((name, parameter))
    sizes: dict[BlockKey, int] = {}
    slots: dict[str, Slot] = {}
    keys = list(dict.fromkeys(key for key, _ in storages))
    for (key, _), members in storages.items():
        for segment in _segments(members):
            begin = sizes.get(key, 0)
            sizes[key] = begin + segment.stop - segment.start
            slots.update(_slots_of(segment, keys.index(key), begin))
    ordered = tuple(slots[name] for name, _ in chosen)
    return Layout(tuple(keys), tuple(sizes[key] for key in keys), ordered, _aliases(model, ordered))


def _chosen(model: nn.Module, trainable_only: bool) -> Iterator[tuple[str, nn.Parameter]]:
    for name, parameter in model.named_parameters():
        moves = parameter.is_floating_point() or parameter.is_complex()
        if moves and parameter.numel() > 0 and (parameter.requires_grad or not trainable_only):
            yield name, parameter


def _aliases(model: nn.Module, slots: tuple[Slot, ...]) -> dict[str, str]:
    owner_of = {id(slot.parameter): slot.owner for slot in slots}
    everything = model.named_parameters(remove_duplicate=False)
    return {n: owner_of[id(p)] for n, p in everything if id(p) in owner_of and owner_of[id(p)] != n}


def _extent(parameter: Tensor) -> tuple[int, int]:
    """First and one past the last element of the storage that a tensor touches."""
    start = int(parameter.storage_offset())
    reach = sum((n - 1) * s for n, s in zip(parameter.shape, parameter.stride(), strict=True))
    return start, start + reach + 1


def _segments(members: list[tuple[str, nn.Parameter]]) -> list[_Segment]:
    """Join the members of one storage whose extents overlap."""
    found: list[_Segment] = []
    for name, parameter in sorted(members, key=lambda member: _extent(member[1])[0]):
        start, stop = _extent(parameter)
        if found and start < found[-1].stop:
            found[-1].stop = max(found[-1].stop, stop)
        else:
            found.append(_Segment(start, stop))
        found[-1].members.append((name, parameter))
    return found


def _slots_of(segment: _Segment, block: int, begin: int) -> dict[str, Slot]:
    """Slots of a segment; the largest of several parameters on the same elements owns them."""
    owners: list[tuple[str, set[int]]] = []
    slots = {}
    for name, parameter in sorted(segment.members, key=lambda member: -member[1].numel()):
        offset = begin + int(parameter.storage_offset()) - segment.start
        owner = name
        if len(segment.members) > 1:
            owner = _owner(name, parameter, owners)
        slots[name] = Slot(
            name, parameter, block, offset, tuple(parameter.shape), tuple(parameter.stride()), owner
        )
    return slots


def _owner(name: str, parameter: Tensor, owners: list[tuple[str, set[int]]]) -> str:
    start, stop = _extent(parameter)
    places = torch.arange(start, stop).as_strided(parameter.shape, parameter.stride(), 0)
    elements = set(places.reshape(-1).tolist())
    for owner, taken in owners:
        if elements & taken:
            return owner
    owners.append((name, elements))
    return name
