"""Which parameter of a network each slot of an optimizer is: told by name, else where shapes leave one way.

A file numbers the parameters of an optimizer, group after group; their names are in it only where somebody
asked torch to keep them. Within a group they are in the order of the network, with some left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from landscope.checkpoints.matching.names import bare_names, plain_parametrisation, without_wrappers
from landscope.checkpoints.optimizers import Slot, StoredOptimizer

Shape = tuple[int, ...]
SEVERAL = "several optimizers of the file could be those of these weights"
AMBIGUOUS = "which parameter each part of the optimizer's state belongs to cannot be told by order and shape"
FOREIGN = "the optimizer's state is that of another network"
PART = "the file holds several networks, and the optimizer's state is not one of all these weights"


@dataclass(frozen=True)
class Network:
    """The parameters of a file, without buffers.

    Attributes:
        shapes: in the order of the file. names: place of each name, all names of tied ones among them.
        ordered: whether the file keeps the order of the network. alone: whether it holds no other weights.
    """

    shapes: tuple[Shape, ...]
    names: Mapping[str, int]
    ordered: bool
    alone: bool


@dataclass(frozen=True)
class Placed:
    """Slots by place of the parameter.

    Attributes:
        slots: those whose place is known. complete: whether all that have state are among them.
        reason: why some, or all, are not placed; one clause.
    """

    slots: Mapping[int, Slot]
    complete: bool
    reason: str = ""


def placed(optimizers: Sequence[StoredOptimizer], network: Network) -> Placed:
    """The parameters of the one optimizer that fits, or of several that share the network among them."""
    found = [_placed(one, network) for one in optimizers]
    everywhere = [one for one in found if one.complete and len(one.slots) == len(network.shapes)]
    if len(found) == 1:
        (only,) = found
        return only if everywhere or network.alone or not only.slots else Placed({}, False, PART)
    if everywhere:
        return everywhere[0] if len(everywhere) == 1 else Placed({}, False, SEVERAL)
    shared = {place: slot for one in found for place, slot in one.slots.items()}
    whole = len(shared) == len(network.shapes) == sum(len(one.slots) for one in found)
    return Placed(shared, True) if whole else Placed({}, False, SEVERAL if shared else FOREIGN)


def _placed(optimizer: StoredOptimizer, network: Network) -> Placed:
    slots = optimizer.slots
    places = _by_name(slots, network)
    if places is None:
        groups = optimizer.groups
        places = _by_order(groups, network) if network.ordered else _by_shape(groups, network)
    if places is None:
        return Placed({}, False, FOREIGN)
    known = {place: slot for place, slot in zip(places, slots, strict=True) if place is not None}
    lost = any(place is None and slot.shape is not None for place, slot in zip(places, slots, strict=True))
    return Placed(known, not lost, AMBIGUOUS if lost else "")


def _by_name(slots: Sequence[Slot], network: Network) -> list[int | None] | None:
    """Places by the names, however wrappers were written before them; None if they are not the network's."""
    names = [slot.name for slot in slots]
    if not names or not all(names):
        return None
    spelt: tuple[Callable[[list[str]], Iterable[str]], ...] = (
        lambda known: known,
        lambda known: without_wrappers(known)[0].values(),
        lambda known: bare_names(known)[0].values(),
    )
    for spelling in spelt:
        places = [network.names.get(plain_parametrisation(name)) for name in spelling(names)]
        if len(places) == len(slots) and all(map(_fits(network), places, slots)):
            return _once(places)
    return None


def _fits(network: Network) -> Callable[[int | None, Slot], bool]:
    return lambda place, slot: place is not None and slot.shape in (None, network.shapes[place])


def _once(places: Sequence[int | None]) -> list[int | None] | None:
    """The places, None if one would be taken twice."""
    taken = [place for place in places if place is not None]
    return list(places) if len(set(taken)) == len(taken) else None


def _by_order(groups: Sequence[Sequence[Slot]], network: Network) -> list[int | None] | None:
    """Where the slots of each group must be, as its order is the network's; None if they cannot be there.

    A slot whose earliest possible place is its latest can only be there. What one group takes is gone for
    the others, which may leave one way for them.
    """
    found: list[list[int | None]] = [[None] * len(group) for group in groups]
    while True:
        before = [list(places) for places in found]
        for k, group in enumerate(groups):
            taken = {place for other in found if other is not found[k] for place in other}
            free = [place for place in range(len(network.shapes)) if place not in taken]
            only = _only_way([slot.shape for slot in group], [network.shapes[place] for place in free])
            if only is None:
                return None
            found[k] = [None if place is None else free[place] for place in only]
        if found == before:
            return _once([place for places in found for place in places])


def _only_way(wanted: Sequence[Shape | None], there: Sequence[Shape]) -> list[int | None] | None:
    first = _earliest(wanted, there)
    last = _earliest(wanted[::-1], there[::-1])
    if first is None or last is None:
        return None
    latest = (len(there) - 1 - place for place in reversed(last))
    return [one if one == other else None for one, other in zip(first, latest, strict=True)]


def _earliest(wanted: Sequence[Shape | None], there: Sequence[Shape]) -> list[int] | None:
    """The first place of each in order; one without a shape may be anywhere."""
    places: list[int] = []
    at = 0
    for shape in wanted:
        while at < len(there) and shape not in (None, there[at]):
            at += 1
        if at == len(there):
            return None
        places.append(at)
        at += 1
    return places


def _by_shape(groups: Sequence[Sequence[Slot]], network: Network) -> list[int | None] | None:
    """Places by shapes alone, for files sorted by name: only a shape that one parameter has tells it."""
    shapes = [slot.shape for group in groups for slot in group]
    there = Counter(network.shapes)
    wanted = Counter(shape for shape in shapes if shape is not None)
    if wanted - there or len(shapes) > len(network.shapes):
        return None
    place = {shape: k for k, shape in enumerate(network.shapes)}
    return [place[shape] if shape is not None and there[shape] == 1 else None for shape in shapes]
