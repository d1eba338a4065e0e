"""The gradient of the loss at every checkpoint: its norm per parameter, per layer and in total."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from landscope.contract.deltas import GradientOpened, GradientsMeasured
from landscope.contract.errors import CheckpointError, ScriptError
from landscope.contract.events import Partial, Progress, Update, told
from landscope.contract.job import CancelToken, GradientJob, Pace
from landscope.distance.frame import frame_of
from landscope.project.measuring.measure import as_at_first
from landscope.project.subject import Subject
from landscope.weights.restore import preserved

_NO_HISTORY = "The loss of {script} cannot be differentiated: it gives numbers without a history."


def analyse(subject: Subject, job: GradientJob, token: CancelToken) -> Iterator[Update]:
    """‖∂L/∂θ‖ at the last checkpoint, then at the others, L the mean loss over the split's samples.

    The model is in eval mode, as for the loss itself. Parameters that do not require a gradient, or that the
    loss does not use, have 0. The model is put back at the end, also on error and cancel. A checkpoint that
    cannot be read is a notice, the others go on.

    Raises:
        DataError: there is no such split.
        ScriptError: the script fails on a batch, or its loss has no gradient.
        JobCancelled: somebody cancelled.
    """
    names = subject.names
    work = _Work(subject, job, token, len(names))
    yield Partial(delta=work.opened())
    with preserved(subject.model):
        for name in (*names[-1:], *names[:-1]):
            yield from work.checkpoint(name)


class _Work:
    """The state of one job: whose gradients, how far it is."""

    def __init__(self, subject: Subject, job: GradientJob, token: CancelToken, checkpoints: int) -> None:
        self._subject, self._job, self._token = subject, job, token
        self._batches = subject.data.batches(job.options.split)
        self._samples = sum(batch.size for batch in self._batches)
        parameters = dict(subject.model.named_parameters())
        self._frame = frame_of({name: one.detach() for name, one in parameters.items()})
        self._rows = [parameters[name] for name in self._frame.parameters]
        self._done, self._total = 0, checkpoints * len(self._batches)
        self._pace = Pace(self._total, token)

    def opened(self) -> GradientOpened:
        """What the rows are called."""
        frame = self._frame
        return GradientOpened(
            run=self._job.run,
            reference="",
            reference_step=None,
            parameters=frame.parameters,
            sizes=frame.sizes,
            layers=frame.layers,
            layer_of=frame.layer_of,
            flags=tuple(() if one.requires_grad else ("frozen",) for one in self._rows),
            split=self._job.options.split,
            samples=self._samples,
        )

    def checkpoint(self, name: str) -> Iterator[Update]:
        """The gradient at one checkpoint."""
        self._token.check()
        try:
            self._subject.load(name)
        except CheckpointError as error:
            self._done += len(self._batches)
            yield told(error)
            return
        moving = [one for one in self._rows if one.requires_grad]
        sums = [torch.zeros_like(one, dtype=_wide(one)) for one in moving]
        with as_at_first(self._subject, self._subject.model, 0):
            for index in range(len(self._batches) if moving else 0):
                self._add(index, moving, sums)
                self._done += 1
                if self._pace.due():
                    yield self._progress(name)
        squared = np.zeros(len(self._rows))
        squared[[one.requires_grad for one in self._rows]] = [float(s.abs().square().sum()) for s in sums]
        yield Partial(delta=self._measured(name, squared))
        yield self._progress(name)

    def _add(self, index: int, moving: list[nn.Parameter], sums: list[Tensor]) -> None:
        """Add a batch's share of the gradient of the mean loss."""
        self._token.check()
        batch = self._batches[index]
        with (
            torch.enable_grad(),
            torch.backends.cudnn.flags(enabled=False),
        ):  # cuDNN's RNNs refuse in eval mode
            loss = self._subject.objective.loss_to_differentiate(self._subject.model, batch)
            if loss is None:
                raise ScriptError(_NO_HISTORY.format(script=self._subject.script.path))
            share = loss.mean() * (batch.size / self._samples)
            gradients = torch.autograd.grad(share, moving, allow_unused=True)
        for total, gradient in zip(sums, gradients, strict=True):
            if gradient is not None:
                total += gradient

    def _measured(self, name: str, squared: NDArray[np.float64]) -> GradientsMeasured:
        rows = np.sqrt(self._frame.grouped(np.where(np.isfinite(squared), squared, np.nan)))
        parameters = len(self._frame.parameters)
        return GradientsMeasured(
            run=self._job.run,
            checkpoint=name,
            parameters={"gradient_norm": rows[:parameters]},
            layers={"gradient_norm": rows[parameters:-1]},
            total={"gradient_norm": float(rows[-1])},
        )

    def _progress(self, name: str) -> Progress:
        return Progress(done=self._done, total=self._total, eta_s=self._pace.eta_s(self._done), what=name)


def _wide(parameter: Tensor) -> torch.dtype:
    """Batches are summed in double precision; MPS has none."""
    if parameter.device.type == "mps":
        return torch.float32
    return torch.complex128 if parameter.is_complex() else torch.float64
