"""What a model wants from a checkpoint: names and shapes, which of them are tied, which are no tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """What a model wants from a file.

    Attributes:
        parameters: name to shape, every name of a tied parameter included.
        buffers: name to shape of the buffers that ``state_dict()`` holds.
        twins: name to the other names of the same tensor.
        extras: names of entries that are no tensors (``get_extra_state``).
        dtypes: name to torch's name of the dtype, of parameters and buffers; empty = not known.
    """

    parameters: Mapping[str, Shape]
    buffers: Mapping[str, Shape] = field(default_factory=dict)
    twins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    dtypes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: nn.Module) -> Reference:
        """What ``model`` wants, by its own names."""
        named = dict(model.named_parameters(remove_duplicate=False))
        stored = model.state_dict(keep_vars=True)
        buffers = {n: b for n, b in model.named_buffers(remove_duplicate=False) if n in stored}
        groups: dict[int, list[str]] = {}
        for name, parameter in named.items():
            groups.setdefault(id(parameter), []).append(name)
        twins = {
            n: tuple(o for o in group if o != n) for group in groups.values() for n in group if len(group) > 1
        }
        extras = tuple(n for n in stored if n.rsplit(".", 1)[-1] == "_extra_state")
        dtypes = {n: str(t.dtype).removeprefix("torch.") for n, t in {**named, **buffers}.items()}
        return cls(_shapes(named), _shapes(buffers), twins, extras, dtypes)

    @property
    def shapes(self) -> dict[str, Shape]:
        """Parameters and buffers."""
        return {**self.parameters, **self.buffers}


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, Shape]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}
