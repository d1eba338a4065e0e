"""From what ``build_model`` gives to the net that is measured: unwrapped, shaped, float32, in eval mode."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from landscope.project.batching.batches import HALF

Say = Callable[[str], object]


def unwrapped(model: nn.Module, say: Say) -> nn.Module:
    """The net inside DataParallel, DistributedDataParallel or torch.compile."""
    while True:
        inner = getattr(model, "_orig_mod", None)
        if isinstance(inner, nn.Module):
            say("The compiled model is measured without compilation.")
            model = inner
        elif isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
            say(f"The model inside {type(model).__name__} is measured.")
            model = model.module
        else:
            return model


def is_lazy(model: nn.Module) -> bool:
    """Whether some parameters or buffers have no shape, or buffers no element, before the first forward pass.

    Observers of quantisation are empty and take their sizes from the first batch.
    """
    lazy = (UninitializedParameter, UninitializedBuffer)
    return any(isinstance(tensor, lazy) for tensor in (*model.parameters(), *model.buffers())) or any(
        not buffer.numel() for buffer in model.buffers()
    )


def is_half(model: nn.Module) -> bool:
    """Whether some parameters are float16 or bfloat16: too coarse for the small steps of a landscape."""
    return any(parameter.dtype in HALF for parameter in model.parameters())


@torch.no_grad()
def widen(model: nn.Module) -> None:
    """Parameters and buffers of half precision become float32, in place; ties stay ties."""
    known: dict[int, torch.Tensor] = {}
    for module in model.modules():
        for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
            if tensor.dtype in HALF and id(tensor) not in known:
                known[id(tensor)] = tensor
                tensor.data = tensor.data.float()


@torch.no_grad()
def unfold(model: nn.Module) -> None:
    """Give tensors that repeat one element in memory (``expand``) memory of their own, to be written to."""
    for tensor in (*model.parameters(), *model.buffers()):
        strides = tensor.stride() if tensor.layout == torch.strided else ()
        if any(step == 0 and size > 1 for step, size in zip(strides, tensor.shape, strict=False)):
            tensor.data = tensor.data.contiguous()


def prepare(
    model: nn.Module, device: torch.device, first_pass: Callable[[nn.Module], object], say: Say
) -> nn.Module:
    """The net, on the device and in eval mode.

    Args:
        model: as built. device: where it is measured.
        first_pass: runs one batch through a model, to give lazy parameters their shapes.
        say: takes sentences for the person.
    """
    net = unwrapped(model, say)
    if is_half(net):
        say("The model is in half precision; it is measured in float32.")
        widen(net)
    net.to(device)  # what an overridden method returns is nobody's business
    net.eval()
    if is_lazy(net):
        with torch.no_grad():
            first_pass(net)
    unfold(net)
    return net
