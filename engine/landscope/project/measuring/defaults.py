"""Loss and accuracy for scripts that define none: cross entropy, squared error, or the model's own loss."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from landscope.contract.deltas import UNKNOWN_LABEL
from landscope.project.batching.batches import LABEL_KEYS

IGNORED = -100
"""Label of positions that count neither in the loss nor in the accuracy (torch's ``ignore_index``)."""


class MisfitError(Exception):
    """The defaults do not fit the script's model and batches; the message says why and what to do."""


def outputs(model: nn.Module, value: Any) -> tuple[Any, Tensor | None]:
    """One forward pass of a batch ``(input, labels)`` or a dict of keyword arguments: output and labels.

    Raises:
        MisfitError: the batch has another form.
    """
    if isinstance(value, Mapping):
        return model(**_accepted(model, value)), labels_of(value)
    if isinstance(value, (list, tuple)) and len(value) == 2 and isinstance(value[0], Tensor):
        return (_with_loss(model(*value)) if _takes_labels(model) else model(value[0])), labels_of(value)
    raise MisfitError(
        f"The default loss takes batches (input, labels) or a dict, not {_form(value)}; {_ask(model)}"
    )


def _takes_labels(model: nn.Module) -> bool:
    """Whether ``forward`` takes the labels after the input, to compute the loss itself."""
    names = list(inspect.signature(model.forward).parameters)[1:2]
    return any(name in ("targets", "target", "labels", "label") for name in names)


def _with_loss(output: Any) -> Any:
    """``(logits, loss)`` by name, as a forward pass that was given the labels returns it."""
    parts = [part for part in output if isinstance(part, Tensor)] if isinstance(output, tuple) else []
    losses = [part for part in parts if part.ndim == 0]
    if len(losses) != 1:
        return output
    return {"loss": losses[0], "logits": next((part for part in parts if part.ndim), None)}


_ASK = "write loss(model, batch) in the script."


def _ask(model: nn.Module) -> str:
    """What to do, with the method that Lightning's modules have for it."""
    step = callable(getattr(model, "training_step", None))
    return _ASK.rstrip(".") + ("; it may return model.training_step(batch, 0)." if step else ".")


def labels_of(value: Any) -> Tensor | None:
    """The labels of a batch, None if it has none that can be told."""
    if isinstance(value, Mapping):
        found = next((value[key] for key in LABEL_KEYS if key in value), None)
    else:
        found = value[1] if isinstance(value, (list, tuple)) and len(value) == 2 else None
    return found if isinstance(found, Tensor) else None


def classes_of(value: Any, size: int) -> Tensor | None:
    """(size,) int64 one class per sample where the labels of a batch are integers, one each; else None.

    A label that counts nowhere (-100) is ``UNKNOWN_LABEL``.
    """
    labels = labels_of(value)
    if labels is None or labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool:
        return None
    if labels.shape not in ((size,), (size, 1)):
        return None
    classes = labels.reshape(size).long()
    return classes.masked_fill(classes == IGNORED, UNKNOWN_LABEL)


def _accepted(model: nn.Module, value: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that ``forward`` takes by name."""
    parameters = inspect.signature(model.forward).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(value)
    return {key: item for key, item in value.items() if key in parameters}


def default_loss(output: Any, labels: Tensor | None, *, ignoring: bool = True) -> Tensor:
    """The model's own ``loss``, else cross entropy or squared error, (B,) per sample.

    Cross entropy (nats) for logits (B, C[, …]) and integer labels (B[, …]); mean squared error for float
    targets of the output's shape. The mean over (B,) equals torch's mean over the batch, ``ignore_index``
    included: each sample's share is scaled by B over the number of counted positions.

    Args:
        output: of the model. labels: of the batch.
        ignoring: whether labels may be -100; False saves the scaling.

    Raises:
        MisfitError: neither fits.
    """
    own = own_loss(output)
    if own is not None:
        return own
    logits = logits_of(output)
    if logits is not None and labels is not None:
        if fits_classes(logits, labels):
            each = functional.cross_entropy(logits, labels.long(), reduction="none", ignore_index=IGNORED)
            return _per_sample(each, labels if ignoring else None)
        if labels.is_floating_point() and labels.shape == logits.shape:
            return (
                (logits - labels).square().flatten(1).mean(1)
                if logits.ndim > 1
                else (logits - labels).square()
            )
    raise MisfitError(
        f"The default loss does not fit: the model gave {_form(output)}, "
        f"the labels are {_form(labels)}; {_ASK}"
    )


def accuracy(output: Any, labels: Tensor | None, *, ignoring: bool = True) -> Tensor | None:
    """(B,) share of right classes per sample, scaled as in ``default_loss``; None where it means nothing."""
    logits = logits_of(output)
    if logits is None or labels is None or not fits_classes(logits, labels):
        return None
    right = (logits.argmax(1) == labels).to(torch.float32)
    return _per_sample(right, labels if ignoring else None)


def _per_sample(each: Tensor, labels: Tensor | None) -> Tensor:
    """(B,) mean per sample of (B[, …]) values; with labels, over the positions that count."""
    if labels is None:
        return each.flatten(1).mean(1) if each.ndim > 1 else each
    counted = labels != IGNORED
    scaled = each * counted * (len(each) / counted.sum().clamp(min=1))
    return scaled.flatten(1).sum(1) if each.ndim > 1 else scaled


def ignores(labels: Tensor | None) -> bool:
    """Whether some labels do not count."""
    return labels is not None and not labels.is_floating_point() and bool((labels == IGNORED).any())


def fits_classes(logits: Tensor, labels: Tensor) -> bool:
    """Whether ``logits`` (B, C[, …]) and integer ``labels`` (B[, …]) belong together."""
    integer = not labels.is_floating_point() and not labels.is_complex() and labels.dtype != torch.bool
    several = logits.ndim >= 2 and logits.shape[1] > 1  # of one class the cross entropy is always zero
    return integer and several and labels.shape == logits.shape[:1] + logits.shape[2:]


def logits_of(output: Any) -> Tensor | None:
    """The output if it is a tensor, else its ``logits``."""
    if isinstance(output, Tensor):
        return output
    found = output.get("logits") if isinstance(output, Mapping) else getattr(output, "logits", None)
    return found if isinstance(found, Tensor) else None


def own_loss(output: Any) -> Tensor | None:
    """The loss that a model computed itself, None if it did not."""
    found = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    return found if isinstance(found, Tensor) else None


def _form(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of {', '.join(type(item).__name__ for item in value[:4])}"
    return type(value).__name__ if value is not None else "missing"
