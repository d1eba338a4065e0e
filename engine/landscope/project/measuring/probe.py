"""One batch through a freshly built model: what the three-step panel's "Test" shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from landscope.project.subject import Subject


def probe(subject: Subject) -> dict[str, Any]:
    """Loss, metrics, shapes and counts of the first batch of every split, as plain data.

    Raises:
        ScriptError: the script fails on that batch; the sentence names file and line.
    """
    parameters = sum(p.numel() for p in subject.model.parameters())
    splits = {split: _first_batch(subject, split) for split in subject.data.splits}
    return {"parameters": parameters, "device": str(subject.device), "splits": splits}


def _first_batch(subject: Subject, split: str) -> dict[str, Any]:
    batch = subject.data.batches(split)[0]
    with torch.inference_mode():
        loss, metrics = subject.loss_and_metrics(subject.model, batch)
    return {
        "samples": subject.data.samples(split),
        "batch": batch.size,
        "shapes": describe(batch.value),
        "loss": float(loss.double().mean()),
        "metrics": {name: float(value.double().mean()) for name, value in metrics.items()},
    }


def describe(value: Any) -> str:
    """Shapes of a batch as a person writes them: ``(float32 64×1×8×8, int64 64)``."""
    if isinstance(value, torch.Tensor):
        if value.is_nested:
            return f"{value.size(0)} × nested {str(value.dtype).removeprefix('torch.')}"
        shape = "×".join(str(n) for n in value.shape) or "scalar"
        return f"{str(value.dtype).removeprefix('torch.')} {shape}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {describe(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(describe(item) for item in value) + ")"
    return type(value).__name__
