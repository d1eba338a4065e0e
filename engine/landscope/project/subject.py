"""A subject: the model, the data and the checkpoints of one run, ready to be measured."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from landscope.checkpoints.discover import Listing, list_files
from landscope.checkpoints.match import Matched, Reference
from landscope.checkpoints.read import load_tensors
from landscope.contract.deltas import RunListed
from landscope.contract.errors import CheckpointError, OptionError, ScriptError, TrustError
from landscope.contract.events import Notice
from landscope.contract.options import ProjectSpec
from landscope.project.batches import HALF
from landscope.project.data import FrozenData, freeze
from landscope.project.device import choose_device
from landscope.project.objective import Batch, Objective
from landscope.project.script import ModelScript, load_script
from landscope.project.spec import run_folder
from landscope.project.trust import is_trusted


class Subject:
    """A run that can be measured. The live model is never replaced, only moved and put back.

    Attributes:
        project, run, folder, device: what it is. script: the loaded script.
        model: on the device, in eval mode. data: the frozen batches. objective: loss and metrics.
        notices: what a person should know. listed: the run's checkpoints, fitted to the model.
    """

    def __init__(
        self, project: ProjectSpec, run: str, script: ModelScript, data: FrozenData, device: torch.device
    ) -> None:
        self.project, self.run, self.script, self.data, self.device = project, run, script, data, device
        self.folder = run_folder(project, run) if run else ""
        self.objective = Objective(script, data)
        self.notices: list[Notice] = []
        self.model = self._prepared(self._notice)
        self._initial = {
            n: b.detach().cpu().clone() for n, b in self.model.named_buffers(remove_duplicate=False)
        }
        self._listing = self._list()

    @property
    def listed(self) -> RunListed:
        """The run's checkpoints in order, and those that do not fit."""
        return self._listing.listed

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the ready checkpoints, in training order."""
        return tuple(info.name for info in self.listed.checkpoints)

    def refresh(self) -> RunListed:
        """Look at the folder again."""
        self._listing = self._list()
        return self.listed

    def state(self, checkpoint: str) -> dict[str, Tensor]:
        """Parameters and buffers of a checkpoint on the CPU, by the model's own names and in its dtypes.

        Buffers that the file lacks come from the freshly built model. Tied names share one tensor.

        Raises:
            CheckpointError: no such checkpoint, or it cannot be read.
        """
        read = load_tensors(self._matched(checkpoint).tensors)
        wanted = self._wanted()
        state = {name: read[name].to(tensor.dtype) for name, tensor in wanted.items() if name in read}
        for name in wanted:
            if name not in state:
                state[name] = self._initial[name].clone()
        return {name: state[name] for name in wanted}

    def load(self, checkpoint: str) -> None:
        """Copy a checkpoint into the live model, in place.

        Raises:
            CheckpointError: no such checkpoint, or it cannot be read.
        """
        self.load_into(self.model, checkpoint)

    def load_into(self, model: nn.Module, checkpoint: str) -> None:
        """Copy a checkpoint into a model of this subject (a replica), in place, extra state included."""
        state = self.state(checkpoint)
        named = {**dict(model.named_buffers(remove_duplicate=False)), **dict(model.named_parameters())}
        with torch.no_grad():
            for name, tensor in named.items():
                tensor.copy_(state[name])
        modules = dict(model.named_modules())
        for name, value in self._matched(checkpoint).extras.items():
            with self.script.blaming(f"set_extra_state() of {name}"):
                modules[name.rpartition(".")[0]].set_extra_state(value)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Loss of a batch (a ``FrozenBatch`` or its value), scalar or (B,).

        Raises:
            ScriptError: model or loss raised; the sentence names file, line and batch.
        """
        return self.objective.loss(model, batch)

    def metrics(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Metrics of a batch, each scalar or (B,)."""
        return self.objective.metrics(model, batch)

    def loss_and_metrics(self, model: nn.Module, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Both, in one forward pass unless the script has metrics of its own."""
        return self.objective.loss_and_metrics(model, batch)

    def build_replica(self) -> nn.Module:
        """Another model like the live one as it was built: on the device, in eval mode; nothing is copied.

        Raises:
            ScriptError: ``build_model`` raised.
        """
        return self._prepared(lambda _sentence: None)

    def sha256(self, checkpoint: str) -> str:
        """SHA-256 of a checkpoint's file (of the index, if it is sharded), hexadecimal."""
        with (Path(self.folder) / checkpoint).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def close(self) -> None:
        """Forget the script's modules."""
        self.script.close()

    def _notice(self, sentence: str) -> None:
        self.notices.append(Notice(level="info", sentence=sentence))

    def _prepared(self, say: Any) -> nn.Module:
        model = _unwrapped(self.script.build_model(self.run), say)
        _initialise_lazy(self, model)
        if any(tensor.dtype in HALF for tensor in model.parameters()):
            say("The model is in half precision; it is measured in float32.")
            model._apply(lambda t: t.float() if t.dtype in HALF else t)
        model.to(self.device)
        return model.eval()

    def _list(self) -> Listing:
        if not self.run:
            return Listing(RunListed(run="", folder="", checkpoints=()), {})
        return list_files(self.folder, run=self.run, reference=Reference.of(self.model))

    def _matched(self, checkpoint: str) -> Matched:
        entry = self._listing.entries.get(checkpoint)
        if entry is None:
            raise CheckpointError(f"The run {self.run} has no checkpoint {checkpoint!r}.")
        if entry.matched is None:
            raise CheckpointError(f"{checkpoint}: {entry.info.reason}")
        return entry.matched

    def _wanted(self) -> dict[str, Tensor]:
        parameters = dict(self.model.named_parameters(remove_duplicate=False))
        return {**parameters, **dict(self.model.named_buffers(remove_duplicate=False))}


def open_subject(project: ProjectSpec, run: str = "", *, like: Subject | None = None) -> Subject:
    """Build the model, freeze the data and fit the checkpoints of a run.

    Args:
        project: with a script, trusted. run: its name; empty = the model alone, without checkpoints.
        like: a subject of the same project, whose script and data are used again.

    Raises:
        OptionError: no such device or run. TrustError: the script may not run.
        ScriptError, DataError: it cannot be used. CheckpointError: the folder cannot be read.
    """
    if not project.script:
        raise OptionError("The project has no model script: only distances can be measured.")
    if not (project.trusted or is_trusted(project.root)):
        raise TrustError(f"The script in {project.root} has not been trusted yet: running it runs its code.")
    device = choose_device(project.engine.device)
    if run:
        run_folder(project, run)  # a wrong name is told before the script runs
    script = like.script if like else load_script(project.script, seed=project.data.seed)
    data = like.data if like else _frozen_data(project, script, run, device)
    subject = Subject(project, run, script, data, device)
    subject.notices = [*script.notices, *data.notices, *subject.notices]
    _probe(subject)
    return subject


def _frozen_data(project: ProjectSpec, script: ModelScript, run: str, device: torch.device) -> FrozenData:
    half = any(parameter.dtype in HALF for parameter in script.build_model(run).parameters())
    return freeze(script, project.data, device, as_float32=half)


def _unwrapped(model: nn.Module, say: Any) -> nn.Module:
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


def _initialise_lazy(subject: Subject, model: nn.Module) -> None:
    """Give lazy parameters their shapes by one forward pass."""
    lazy = (UninitializedParameter, UninitializedBuffer)
    if not any(isinstance(t, lazy) for t in (*model.parameters(), *model.buffers())):
        return
    model.to(subject.device)
    with torch.no_grad(), subject.script.environment.entered():
        subject.objective.loss(model.eval(), subject.data.batches(subject.data.splits[0])[0])


def _probe(subject: Subject) -> None:
    """Measure one batch twice: errors come now, and losses that train or draw random numbers are noticed."""
    batch = subject.data.batches(subject.data.splits[0])[0]
    before = {name: buffer.clone() for name, buffer in subject.model.named_buffers()}
    with torch.inference_mode():
        first = (
            subject.loss(subject.model, batch).double().mean()
            if subject.device.type != "mps"
            else subject.loss(subject.model, batch).mean()
        )
    moved = any(not torch.equal(b, before[n]) for n, b in subject.model.named_buffers())
    if any(module.training for module in subject.model.modules()) or moved:
        subject.objective.trains = True
        subject._notice(
            "The script's loss puts the model into train mode; what that moves is put back each time."
        )
        subject.model.eval()
        with torch.no_grad():
            for name, buffer in subject.model.named_buffers():
                buffer.copy_(before[name])
    _notice_randomness(subject, batch, float(first))


def _notice_randomness(subject: Subject, batch: Batch, first: float) -> None:
    with torch.inference_mode():
        again = float(subject.loss(subject.model, batch).mean())
    spread = abs(again - first)
    if spread > 1e-5 * max(abs(first), 1e-12):
        subject.notices.append(
            Notice(
                level="warning",
                sentence=f"The model is random in eval mode: the same weights gave {first:.6g} and {again:.6g}.",
            )
        )


__all__ = ["ScriptError", "Subject", "open_subject"]
