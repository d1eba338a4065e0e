"""How alike the predictions of checkpoints are: disagreement, KL and Jensen–Shannon divergence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from landscope.project.measuring.defaults import IGNORED, labels_of, logits_of

Matrix = NDArray[np.float64]
CELLS = 1 << 21
"""Most numbers that are kept of one checkpoint's predictions: rows × classes."""
_AT_ONCE = 1 << 24
"""Numbers that may be there in float64, twice; of more, logarithms are taken again for every pair."""
_NEVER = -1e300
"""The log of a probability that is zero: times zero it stays zero."""


def class_scores(output: Any, value: Any) -> Tensor | None:
    """(n, C) scores of every position that has a label, from a model's output for a batch.

    Scores are (B, C[, …]) or (B, …, C) beside integer labels (B[, …]); positions labelled -100 are left out.
    None where output and labels are no such pair.
    """
    logits, labels = logits_of(output), labels_of(value)
    if logits is None or labels is None or logits.ndim < 2 or not logits.is_floating_point():
        return None
    if labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool:
        return None
    if labels.shape == logits.shape[:1] + logits.shape[2:] and logits.shape[1] > 1:
        scores = logits.movedim(1, -1)
    elif labels.shape == logits.shape[:-1] and logits.shape[-1] > 1:
        scores = logits
    else:
        return None
    return scores.reshape(-1, scores.shape[-1])[labels.reshape(-1) != IGNORED]


class Scores:
    """Collects a checkpoint's scores batch by batch, evenly spaced positions of each if there are many."""

    def __init__(self, batches: int) -> None:
        self._batches = batches
        self._taken: list[Tensor] = []
        self._complete = True

    @contextmanager
    def listening(self, model: nn.Module, value: Any) -> Iterator[None]:
        """Take the scores of the one forward pass inside; a batch without exactly one has none."""
        found: list[Tensor | None] = []
        handle = model.register_forward_hook(lambda _m, _i, output: found.append(class_scores(output, value)))
        try:
            yield
        finally:
            handle.remove()
        scores = found[0] if len(found) == 1 else None
        if scores is None:
            self._complete = False
        else:
            self._take(scores)

    def taken(self) -> Tensor | None:
        """(n, C) the scores on the CPU; None if some batch had none."""
        classes = {scores.shape[1] for scores in self._taken}
        return torch.cat(self._taken) if self._complete and len(classes) == 1 else None

    def _take(self, scores: Tensor) -> None:
        most = max(1, CELLS // (scores.shape[1] * self._batches))
        if len(scores) > most:
            scores = scores[torch.linspace(0, len(scores) - 1, most, device=scores.device).round().long()]
        self._taken.append(scores.detach().to("cpu", torch.float32, copy=True))


def prediction_matrices(
    rows: list[Tensor], columns: list[Tensor] | None = None, *, check: Callable[[], None] = lambda: None
) -> dict[str, Matrix]:
    """All (M, K) matrices between M and K checkpoints from their scores, (n, C) each at the same positions.

    * ``disagreement``: share of positions with another most likely class
    * ``kl``: mean over positions of KL(pᵢ ‖ pⱼ) = Σ pᵢ (ln pᵢ − ln pⱼ), in nats
    * ``js``: mean of the Jensen–Shannon divergence ½ KL(pᵢ ‖ m) + ½ KL(pⱼ ‖ m), m = ½ (pᵢ + pⱼ) (Lin 1991)

    NaN for checkpoints whose scores are not numbers. ``columns`` None: the rows among themselves. ``check``
    is called at every pair; it may raise.
    """
    others = rows if columns is None else columns
    disagreement, kl, js = (np.full((len(rows), len(others)), np.nan) for _ in range(3))
    few = sum(scores.numel() for scores in others) <= _AT_ONCE
    kept = [_Predicted(scores) for scores in others] if few else None
    for i, scores in enumerate(rows):
        one = kept[i] if kept and columns is None else _Predicted(scores)
        for j, column in enumerate(others):
            check()
            other = kept[j] if kept else _Predicted(column)
            if not (one.defined and other.defined):
                continue
            kl[i, j] = _mean(one.probability * (one.log - other.log))
            if columns is None and j < i:  # both are symmetric
                disagreement[i, j], js[i, j] = disagreement[j, i], js[j, i]
                continue
            disagreement[i, j] = float((one.classes != other.classes).double().mean())
            js[i, j] = _jensen_shannon(one, other)
    return {"disagreement": disagreement, "kl": kl, "js": js}


class _Predicted:
    """A checkpoint's probabilities, their logarithms and most likely classes."""

    def __init__(self, scores: Tensor) -> None:
        self.defined = not bool(scores.isnan().any()) and len(scores) > 0
        log = torch.log_softmax(scores.to(torch.float64), 1)
        self.defined = self.defined and not bool(log.isnan().any())
        self.classes = scores.argmax(1)
        self.probability = log.exp()
        self.log = log.clamp_min(_NEVER)


def _jensen_shannon(one: _Predicted, other: _Predicted) -> float:
    middle = ((one.probability + other.probability) / 2).clamp_min(1e-300).log()
    return (_mean(one.probability * (one.log - middle)) + _mean(other.probability * (other.log - middle))) / 2


def _mean(terms: Tensor) -> float:
    """The mean over positions of a sum over classes: a divergence, so not below 0 but for rounding."""
    found = max(0.0, float(terms.sum(1).mean()))
    return found if found < -_NEVER * 1e-20 else float("inf")
