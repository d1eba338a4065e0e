"""What the rows of a distance result are: parameters once each, their layers, and which are buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from landscope.checkpoints.files.mappings import Weights
from landscope.checkpoints.matching.names import looks_like_buffer
from landscope.checkpoints.records import TensorRecord
from landscope.contract.errors import CheckpointError

_SHOWN = 3
"""Differing tensors that a sentence names."""


@dataclass(frozen=True)
class Frame:
    """The rows of one run's distances, laid down by its reference checkpoint.

    Attributes:
        parameters: P names in the file's order; tied tensors once, float buffers among them.
        shapes: P shapes. aliases: for each, all names of the same tensor in the reference, its own first.
        buffers: (P,) bool. layers: L names. layer_of: (P,) index of the layer, −1 for buffers outside any.
    """

    parameters: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    aliases: tuple[tuple[str, ...], ...]
    buffers: NDArray[np.bool_]
    layers: tuple[str, ...]
    layer_of: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(P,) number of elements of each parameter."""
        return np.array([int(np.prod(shape)) for shape in self.shapes], np.int64)

    @property
    def groups(self) -> int:
        """P + L + 1: parameters, layers and the total."""
        return len(self.parameters) + len(self.layers) + 1

    def grouped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(…, P) sums per parameter, followed by those per layer and the total (without buffers)."""
        moved = ~self.buffers
        member = np.zeros((len(self.layers), len(self.parameters)), bool)
        member[self.layer_of[moved], np.flatnonzero(moved)] = True
        layers = [values[..., row].sum(-1, keepdims=True) for row in member]
        return np.concatenate([values, *layers, values[..., moved].sum(-1, keepdims=True)], axis=-1)

    def flags(self) -> list[list[str]]:
        """Per parameter what is known from the reference alone: ``buffer`` and ``tied:<name>``."""
        return [
            (["buffer"] if is_buffer else []) + [f"tied:{name}" for name in names[1:]]
            for is_buffer, names in zip(self.buffers, self.aliases, strict=True)
        ]


Stored = Tensor | Weights
"""A tensor, or where it lies."""


def frame_of(state: Mapping[str, Stored]) -> Frame:
    """The frame that a reference checkpoint lays down. Integer and empty tensors have no distance.

    Without a model a file does not say which tensors are buffers: the statistics of normalisation layers are
    told by their names; any other float tensor counts as a parameter (one that never moves shows as frozen).
    """
    names: dict[tuple[object, ...], list[str]] = {}
    for name, tensor in state.items():
        if _has_distance(tensor):
            names.setdefault(_memory(tensor), []).append(name)
    aliases = tuple(tuple(found) for found in names.values())
    parameters = tuple(found[0] for found in aliases)
    buffers = np.array([looks_like_buffer(name, integer=False) for name in parameters], np.bool_)
    owners = [layer_name(name) for name in parameters]
    layers = tuple(dict.fromkeys(o for o, is_buffer in zip(owners, buffers, strict=True) if not is_buffer))
    index = {layer: k for k, layer in enumerate(layers)}
    return Frame(
        parameters=parameters,
        shapes=tuple(tuple(state[name].shape) for name in parameters),
        aliases=aliases,
        buffers=buffers,
        layers=layers,
        layer_of=np.array([index.get(owner, -1) for owner in owners], np.int64),
    )


def layer_name(parameter: str) -> str:
    """The module that a parameter belongs to; a parameter of the model itself is its own layer."""
    module = parameter.partition(".parametrizations.")[0] if ".parametrizations." in parameter else ""
    return module or parameter.rpartition(".")[0] or parameter


def names_of(frame: Frame, state: Mapping[str, Stored], checkpoint: str) -> list[str]:
    """The names of the frame's P tensors in another checkpoint: whichever of its names the file has.

    Raises:
        CheckpointError: tensors are missing or have another shape; the sentence names them.
    """
    found: list[str] = []
    wrong: list[str] = []
    for names, shape in zip(frame.aliases, frame.shapes, strict=True):
        own = next((name for name in names if name in state), None)
        if own is None:
            wrong.append(f"{names[0]} is missing")
        elif tuple(state[own].shape) != shape:
            wrong.append(f"{names[0]} is {_written(tuple(state[own].shape))}, not {_written(shape)}")
        else:
            found.append(own)
    if wrong:
        more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise CheckpointError(
            f"{checkpoint} holds another network than the first checkpoint and is left out: "
            f"{'; '.join(wrong[:_SHOWN])}{more}.",
            "\n".join(wrong),
        )
    return found


def _has_distance(tensor: Stored) -> bool:
    if isinstance(tensor, TensorRecord):
        return bool(tensor.elements) and not tensor.is_integer
    if isinstance(tensor, np.ndarray):
        return bool(tensor.size) and tensor.dtype.kind in "fc"
    return bool(tensor.numel()) and (tensor.is_floating_point() or tensor.is_complex())


def _memory(tensor: Stored) -> tuple[object, ...]:
    """What two names of one tensor have in common."""
    if isinstance(tensor, TensorRecord):
        return (tensor.storage, tensor.start, tensor.shape, tensor.stride, tensor.dtype)
    if isinstance(tensor, np.ndarray):
        return (id(tensor),)
    if tensor.layout != torch.strided:
        return (id(tensor),)
    place = (tensor.untyped_storage().data_ptr(), tensor.storage_offset())
    return (*place, tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _written(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "scalar"
