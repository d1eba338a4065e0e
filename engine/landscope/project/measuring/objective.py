"""Loss and metrics of a batch, the script's own or the default ones, with the script's errors told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from landscope.contract.errors import ScriptError
from landscope.project.batching.batches import changed, copied
from landscope.project.batching.frozen import FrozenBatch
from landscope.project.data import FrozenData
from landscope.project.measuring.defaults import (
    MisfitError,
    accuracy,
    default_loss,
    ignores,
    labels_of,
    logits_of,
    outputs,
    own_loss,
)
from landscope.project.measuring.settled import kept_gradients, kept_modes, kept_parameters
from landscope.project.script import ModelScript

Batch = FrozenBatch | Any


class Objective:
    """What is measured at a point.

    Args:
        script: whose ``loss`` and ``metrics`` are used where it has them. data: knows its batches.

    Attributes:
        trains: the script's loss switches the model to train mode; what that moves is put back each time.
        moves: it changes the parameters, which are put back each time.
        gradients: the script's loss takes gradients itself.
        copies: it changes the batches that it is given, and gets copies.
        squares: the script has no loss, and the default one is the squared error.
    """

    def __init__(self, script: ModelScript, data: FrozenData) -> None:
        self._script, self._data = script, data
        self.trains = self.moves = self.gradients = self.copies = self.squares = False
        if isinstance(script.loss, nn.Module):
            script.loss.to(data.device)
        self._ignoring: dict[int, bool] = {}

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Loss of a batch, scalar or (B,) per sample.

        Raises:
            ScriptError: model or loss raised, or the loss is no such tensor.
        """
        return self._run(model, batch, with_metrics=False)[0]

    def loss_to_differentiate(self, model: nn.Module, batch: Batch) -> Tensor | None:
        """As ``loss``, with its history, to be called where gradients are on; None if it has none.

        Raises:
            ScriptError: as ``loss``.
        """
        found = self._run(model, batch, with_metrics=False, history=True)[0]
        return found if found.requires_grad else None

    def metrics(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Metrics of a batch, each scalar or (B,).

        Raises:
            ScriptError: model or metrics raised.
        """
        return self._run(model, batch, with_metrics=True)[1]

    def loss_and_metrics(self, model: nn.Module, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Both, in one forward pass unless the script has metrics of its own.

        Raises:
            ScriptError: model, loss or metrics raised.
        """
        return self._run(model, batch, with_metrics=True)

    def _run(
        self, model: nn.Module, batch: Batch, *, with_metrics: bool, history: bool = False
    ) -> tuple[Tensor, dict[str, Tensor]]:
        known = batch if isinstance(batch, FrozenBatch) else self._data.locate(batch)
        value = batch.value if isinstance(batch, FrozenBatch) else batch
        where = known.title if known else "a batch"
        with self._script.environment.felt(), self._settled(model):
            loss, output = self._loss(model, value, where)
            metrics = self._metrics(model, value, output, where) if with_metrics else {}
            return self._checked(loss, known, where, history=history), metrics

    def _loss(self, model: nn.Module, value: Any, where: str) -> tuple[Any, Any]:
        """The loss, and the model's output if it is known."""
        own = self._script.loss
        if own is None or self._script.takes_outputs:
            return self._default(model, value, where)
        if self._script.metrics is not None:
            with self._script.blaming(f"loss() on {where}", own, model):
                return own(model, self._given(value)), None
        with self._script.blaming(f"loss() on {where}", own, model), _listening(model) as heard:
            return own(model, self._given(value)), heard[0] if len(heard) == 1 else None

    def _default(self, model: nn.Module, value: Any, where: str) -> tuple[Any, Any]:
        """The default loss, or the script's own of outputs and labels."""
        own = self._script.loss
        with self._script.blaming(f"the forward pass on {where}", model=model):
            try:
                output, labels = outputs(model, self._given(value))
                if own is None:
                    self.squares = (
                        own_loss(output) is None and labels is not None and labels.is_floating_point()
                    )
                    return default_loss(output, labels, ignoring=self._ignores(value)), output
            except MisfitError as error:
                raise ScriptError(f"{self._script.where('build_data')}: {error}") from error
        logits = logits_of(output)
        with self._script.blaming(f"loss() on {where}", own):
            return own(output if logits is None else logits, labels), output

    def _given(self, value: Any) -> Any:
        """The batch as the script gets it."""
        if self.copies:
            return copied(value)
        return changed(value, _usable) if self.gradients else value

    def _ignores(self, value: Any) -> bool:
        """Whether labels of a batch may not count; looked at once per frozen batch (it costs a read-back)."""
        if self._data.locate(value) is None:
            return True
        if id(value) not in self._ignoring:
            self._ignoring[id(value)] = ignores(labels_of(value))
        return self._ignoring[id(value)]

    def _metrics(self, model: nn.Module, value: Any, output: Any, where: str) -> dict[str, Tensor]:
        own = self._script.metrics
        if own is None:
            found = accuracy(output, labels_of(value), ignoring=self._ignores(value))
            return {} if found is None else {"accuracy": found}
        with self._script.blaming(f"metrics() on {where}", own, model):
            given = own(model, self._given(value))
            if isinstance(given, Mapping):
                return {str(name): _number(metric) for name, metric in given.items()}
        where = self._script.where("metrics")
        raise ScriptError(f"{where}: metrics() gave {type(given).__name__}, not a dict of numbers.")

    def _checked(self, loss: Any, known: FrozenBatch | None, where: str, *, history: bool) -> Tensor:
        if isinstance(loss, (int, float, np.number)):
            loss = torch.tensor(float(loss))
        if not isinstance(loss, Tensor) or loss.is_complex():
            kind = "complex numbers" if isinstance(loss, Tensor) else type(loss).__name__
            raise ScriptError(
                f"{self._script.where('loss')}: loss() gave {kind} on {where}; "
                f"it must give a tensor, scalar or one value per sample."
            )
        self.gradients = self.gradients or (loss.requires_grad and not history)
        found = loss if history and loss.requires_grad else _number(loss)
        if found.numel() == 1:
            return found.reshape(())
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.ndim == 1 and (known is None or found.shape[0] == known.size):
            return found
        wanted = f"({known.size},)" if known else "(B,)"
        raise ScriptError(
            f"{self._script.where('loss')}: loss() gave shape {tuple(loss.shape)} on {where}; "
            f"it must be a scalar or {wanted}, one value per sample."
        )

    @contextmanager
    def _settled(self, model: nn.Module) -> Iterator[None]:
        """What the loss is known to move comes back; gradients are on for one that takes them itself."""
        with ExitStack() as stack:
            if self.trains:
                stack.enter_context(kept_modes(model))
            if self.moves:
                stack.enter_context(kept_parameters(model))
            if self.gradients:
                stack.enter_context(torch.inference_mode(False))
                stack.enter_context(torch.enable_grad())
                stack.enter_context(kept_gradients(model))
            yield


def _number(value: Any) -> Tensor:
    """A loss or metric as real numbers without a history."""
    tensor = torch.as_tensor(value).detach()
    return tensor if tensor.is_floating_point() else tensor.to(torch.float32)


def _usable(tensor: Tensor) -> Tensor:
    """A tensor that gradients may flow through."""
    return tensor.clone() if tensor.is_inference() else tensor


@contextmanager
def _listening(model: nn.Module) -> Iterator[list[Any]]:
    """Outputs of the model's forward passes inside, so that accuracy costs no pass of its own."""
    heard: list[Any] = []
    keep: Callable[..., None] = lambda _module, _inputs, output: heard.append(output)  # noqa: E731
    handle = model.register_forward_hook(keep)
    try:
        yield heard
    finally:
        handle.remove()
