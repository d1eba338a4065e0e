"""A subject: the model, the data and the checkpoints of one run, ready to be measured."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import torch
from torch import Tensor, nn

from landscope.checkpoints.arrange import IDENTICAL, Listing, without
from landscope.checkpoints.discover import list_files
from landscope.checkpoints.guarded.facts import Part
from landscope.checkpoints.identity import sha256_of
from landscope.checkpoints.matching.match import Matched
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.read import check_bytes, load_tensors, load_value, stream_tensors
from landscope.contract.deltas import RunListed
from landscope.contract.errors import CheckpointError
from landscope.contract.events import Level, Notice
from landscope.contract.options import ProjectSpec
from landscope.project.batching.batches import copied
from landscope.project.batching.single_rows import join_single_rows
from landscope.project.data import FrozenData
from landscope.project.measuring.objective import Batch, Objective
from landscope.project.measuring.trial import try_out
from landscope.project.prepare import Say, prepare
from landscope.project.script import ModelScript
from landscope.project.spec import run_folder

_NO_PARAMETERS = (
    "The model has no parameters that can be seen (quantised layers hide theirs): its losses are shown, "
    "but nothing can be moved."
)


class Subject:
    """A run that can be measured. The live model is never replaced, only moved and put back.

    Attributes:
        project, run, folder, device: what it is. script: the loaded script.
        model: on the device, in eval mode. data: the frozen batches. objective: loss and metrics.
        random: the same weights give different losses. notices: what a person should know.
    """

    def __init__(
        self, project: ProjectSpec, run: str, script: ModelScript, data: FrozenData, device: torch.device
    ) -> None:
        self.project, self.run, self.script, self.data, self.device = project, run, script, data, device
        self.folder = run_folder(project, run) if run else ""
        self.objective = Objective(script, data)
        self.notices: list[Notice] = []
        self.model = self._prepared(self._notice)
        if not _parameters(self.model):
            self._notice(_NO_PARAMETERS)
        self._initial = {n: b.detach().cpu().clone() for n, b in _buffers(self.model).items()}
        self._hashes: dict[str, str] = {}
        self._checked: set[str] = set()
        self._unreadable: dict[str, str] = {}
        self._listing = self._list()
        self.random = self._try_out()

    @property
    def listed(self) -> RunListed:
        """The run's checkpoints in order, fitted to the model, and those that do not fit.

        One that could not be read when it was needed is among the latter from then on.
        """
        listed = without(self._listing.listed, self._unreadable)
        infos = tuple(
            msgspec.structs.replace(info, sha256=self._hashes.get(info.name, ""))
            for info in listed.checkpoints
        )
        return msgspec.structs.replace(listed, checkpoints=infos)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the ready checkpoints, in training order."""
        return tuple(info.name for info in self._listing.listed.checkpoints)

    def refresh(self) -> RunListed:
        """Look at the folder again."""
        self._listing = self._list()
        for known in (self._hashes, self._checked, self._unreadable):
            known.clear()
        return self.listed

    def state(self, checkpoint: str) -> dict[str, Tensor]:
        """Parameters and buffers of a checkpoint on the CPU, by the model's own names and in its dtypes.

        Buffers that the file lacks are the freshly built model's. Every name of a tied parameter is there.

        Raises:
            CheckpointError: no such checkpoint, or it cannot be read.
        """
        with self._told(checkpoint) as (matched, parts):
            read = load_tensors(matched.tensors, parts)
        wanted = {**_parameters(self.model), **_buffers(self.model)}
        return {
            name: read[name].to(tensor.dtype) if name in read else self._initial[name].clone()
            for name, tensor in wanted.items()
        }

    def load(self, checkpoint: str) -> None:
        """Copy a checkpoint into the live model, in place, extra state included.

        Raises:
            CheckpointError: no such checkpoint, or it cannot be read.
            ScriptError: the model's ``set_extra_state`` raised.
        """
        self.load_into(self.model, checkpoint)

    def load_into(self, model: nn.Module, checkpoint: str) -> None:
        """As ``load``, into a replica."""
        targets = {**_parameters(model), **_buffers(model)}
        with self._told(checkpoint) as (matched, parts), torch.no_grad():
            if checkpoint not in self._checked:  # a damaged file must not leave a model half loaded
                check_bytes(matched.tensors, parts)
                self._checked.add(checkpoint)
            for name, tensor in stream_tensors(matched.tensors, parts):
                targets.pop(name).copy_(tensor)
            extras = {name: load_value(value, parts) for name, value in matched.extras.items()}
            for name, tensor in targets.items():
                tensor.copy_(self._initial[name])
        modules = dict(model.named_modules())
        for name, value in extras.items():
            with self.script.blaming(f"set_extra_state() of {name}"):
                modules[name.rpartition(".")[0]].set_extra_state(value)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Loss of a batch (a ``FrozenBatch`` or its value), scalar or (B,).

        Raises:
            ScriptError: model or loss raised; the sentence names file, line and batch.
        """
        return self.objective.loss(model, batch)

    def metrics(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Metrics of a batch, each scalar or (B,).

        Raises:
            ScriptError: model or metrics raised.
        """
        return self.objective.metrics(model, batch)

    def loss_and_metrics(self, model: nn.Module, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Both, in one forward pass unless the script has metrics of its own.

        Raises:
            ScriptError: model, loss or metrics raised.
        """
        return self.objective.loss_and_metrics(model, batch)

    def build_replica(self) -> nn.Module:
        """Another model like the live one as it was built: on the device, in eval mode; nothing is copied.

        Raises:
            ScriptError: ``build_model`` raised.
        """
        return self._prepared(lambda _sentence: None)

    def sha256(self, checkpoint: str) -> str:
        """SHA-256 of a checkpoint's file (of all its files, if it has several), hexadecimal; read once.

        Raises:
            CheckpointError: it cannot be read.
        """
        if checkpoint not in self._hashes:
            with self._told(checkpoint) as (_, parts):
                self._hashes[checkpoint] = sha256_of(parts)
        return self._hashes[checkpoint]

    def close(self) -> None:
        """Forget the script's modules."""
        self.script.close()

    def _notice(self, sentence: str, level: Level = "info") -> None:
        if all(notice.sentence != sentence for notice in self.notices):
            self.notices.append(Notice(level=level, sentence=sentence))

    def _prepared(self, say: Say) -> nn.Module:
        batches = self.data.batches(self.data.splits[0])
        # Not the one that the trial looks at: it would not see that buffers follow the data.
        shaping = next((batch for batch in reversed(batches) if batch.size > 1), batches[0])
        value = copied(shaping.value)
        with self.script.environment.entered():
            built = self.script.build_model(self.run)
            with self.script.blaming(f"moving the model to {self.device}"):
                return prepare(built, self.device, lambda model: self.objective.loss(model, value), say)

    def _list(self) -> Listing:
        if not self.run:
            return Listing(RunListed(run="", folder="", checkpoints=()), {})
        listing = list_files(
            self.folder, run=self.run, reference=Reference.of(self.model), wanted=self.project.weights
        )
        if listing.all_identical:
            self._notice(IDENTICAL.format(self.run), "warning")
        return listing

    def _try_out(self) -> bool:
        with self.script.environment.entered():
            trial = try_out(
                self.objective,
                self.model,
                self.data.batches(self.data.splits[0])[0],
                self.script.generators(self.model),
            )
            self.objective.trains = trial.trains
            self.notices.extend(trial.notices)
            self.notices.extend(join_single_rows(self.objective, self.model, self.data))
        return trial.random

    @contextlib.contextmanager
    def _told(self, checkpoint: str) -> Iterator[tuple[Matched, tuple[Part, ...]]]:
        """The weights of a checkpoint and their files; if reading fails, the list says so from then on."""
        entry = self._listing.entries.get(checkpoint)
        if entry is None:
            raise CheckpointError(f"The run {self.run} has no checkpoint {checkpoint!r}.")
        if entry.matched is None:
            raise CheckpointError(f"{checkpoint}: {entry.info.reason}")
        try:
            yield entry.matched, entry.parts
        except CheckpointError as error:
            self._unreadable[checkpoint] = error.sentence.removeprefix(f"{Path(checkpoint).name}: ")
            raise


def _parameters(model: nn.Module) -> dict[str, Tensor]:
    return dict(model.named_parameters(remove_duplicate=False))


def _buffers(model: nn.Module) -> dict[str, Tensor]:
    return dict(model.named_buffers(remove_duplicate=False))
