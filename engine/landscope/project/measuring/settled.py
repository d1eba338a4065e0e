"""What a call of the loss moves in the model is put back after it: no call depends on those before."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

_Place = tuple[nn.Module, str]


@contextmanager
def kept_modes(model: nn.Module) -> Iterator[None]:
    """Put back every module's mode, and buffers of modules in eval mode (a recalibration keeps its own).

    Values come back, and where the module put another tensor in a buffer's place, the buffer does.
    """
    modes = {module: module.training for module in model.modules()}
    still = [module for module, on in modes.items() if not on]
    buffers = [((m, name), b, b.clone()) for m in still for name, b in m.named_buffers(recurse=False)]
    try:
        yield
    finally:
        for module, on in modes.items():
            module.training = on
        with torch.no_grad():
            for place, buffer, before in buffers:
                _return(place, buffer)
                if buffer.shape == before.shape:
                    buffer.copy_(before)
                else:
                    buffer.data = before


@contextmanager
def kept_parameters(model: nn.Module) -> Iterator[None]:
    """Put back the parameters: which they are, where in memory they lie (they may be moved there), values."""
    places = [((m, name), p) for m in model.modules() for name, p in m.named_parameters(recurse=False)]
    memory = {id(p): (p, p.data, p.detach().clone()) for _, p in places}
    try:
        yield
    finally:
        for place, parameter in places:
            _return(place, parameter)
        with torch.no_grad():
            for parameter, data, before in memory.values():
                if parameter.data_ptr() != data.data_ptr() or parameter.shape != data.shape:
                    parameter.data = data
                data.copy_(before)


@contextmanager
def kept_gradients(model: nn.Module) -> Iterator[None]:
    """Put back the gradients, so that those of one call do not add to those of the next."""
    before = [(parameter, parameter.grad) for parameter in model.parameters()]
    for parameter, _ in before:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in before:
            parameter.grad = gradient


def traces(model: nn.Module) -> dict[str, tuple[int, int]]:
    """By name, a short value that changes with a parameter: where it lies and a checksum of its bytes."""
    return {name: _trace(parameter) for name, parameter in model.named_parameters()}


def _trace(tensor: Tensor) -> tuple[int, int]:
    if tensor.layout != torch.strided or tensor.is_meta:
        return id(tensor), 0
    octets = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return tensor.data_ptr(), zlib.crc32(octets.numpy().data)


def _return(place: _Place, tensor: Tensor) -> None:
    """Put a tensor back where the module has another one."""
    module, name = place
    if not isinstance(module, torch.jit.ScriptModule) and getattr(module, name, None) is not tensor:
        setattr(module, name, tensor)
