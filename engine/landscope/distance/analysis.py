"""The distances of one run, read from its checkpoint files alone: no script, no model, no data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from landscope.checkpoints.arrange import IDENTICAL
from landscope.checkpoints.discover import list_files
from landscope.contract.deltas import (
    CheckpointInfo,
    DistanceMatrices,
    DistanceOpened,
    DistancesMeasured,
)
from landscope.contract.errors import CheckpointError
from landscope.contract.events import Notice, Partial, Progress, Update, told
from landscope.contract.job import CancelToken, DistanceJob, Pace
from landscope.distance.frame import Frame
from landscope.distance.matrices import PairwiseProducts
from landscope.distance.norms import Sums, parameter_sums
from landscope.distance.optimizer_state import KEY, LastUpdates
from landscope.distance.quantities import PathQuantities
from landscope.distance.states import Chosen, RunStates

MATRIX = 512
"""The most checkpoints in a matrix: both matrices together then take 4 MiB, whatever the run has."""


def analyse_files(folder: str | Path, run: str, job: DistanceJob, token: CancelToken) -> Iterator[Update]:
    """Measure all quantities checkpoint by checkpoint, in training order, then the two matrices.

    The frame is sent first; if it turns out that parameters never move or are not finite, it is sent once
    more with those flags at the end, followed by everything measured, so that it can replace the first. A
    file that cannot be read or that holds another network is a notice and is left out.

    Raises:
        CheckpointError: the folder holds no checkpoint that can be read.
        JobCancelled: somebody cancelled.
    """
    folder = Path(folder)
    listing = list_files(folder, run=run, wanted=job.project.weights, token=token)
    checkpoints = listing.listed.checkpoints
    total = len(checkpoints) * (2 if job.options.matrices else 1)
    walk = _Walk(run, RunStates(listing.entries), token, checkpoints, total)
    yield from walk.along()
    if not walk.measured:
        others = listing.listed.others
        why = next((f" ({info.name}: {info.reason})" for info in others if info.reason), "")
        raise CheckpointError(f"No checkpoint of {folder} can be read{why}, so there are no distances.")
    yield from walk.closing()
    if job.options.matrices:
        yield from walk.matrices()


class _Walk:
    """One pass over a run: what was measured, and what it says about the parameters."""

    def __init__(
        self,
        run: str,
        states: RunStates,
        token: CancelToken,
        checkpoints: tuple[CheckpointInfo, ...],
        total: float,
    ) -> None:
        self.measured: list[DistancesMeasured] = []
        self._run, self._states, self._token, self._checkpoints = run, states, token, checkpoints
        self._total, self._pace = total, Pace(total, token)
        self._quantities, self._last_updates = PathQuantities(), LastUpdates(run, token)
        self._recent: list[Sequence[Tensor]] = []
        self._reference: Sequence[Tensor] = ()
        self._reference_step: int | None = None
        self._broken = False
        self._moved: NDArray[np.bool_] = np.zeros(0, bool)
        self._nonfinite: NDArray[np.bool_] = np.zeros(0, bool)

    def along(self) -> Iterator[Update]:
        """Every checkpoint in order."""
        for done, checkpoint in enumerate(self._checkpoints, 1):
            self._token.check()
            try:
                tensors = self._states.load(checkpoint.name)
            except CheckpointError as error:
                yield told(error)
                continue
            if not self.measured:
                yield self._open(checkpoint, tensors)
            yield from self._measure(checkpoint.name, tensors)
            yield self._progress(done, checkpoint.name)

    def closing(self) -> Iterator[Update]:
        """The frame again if more is known about its parameters now, with everything measured; notices."""
        frame = self._frame()
        flags = frame.flags()
        if len(self.measured) > 1:
            for k in np.flatnonzero(~self._moved):
                flags[k].append("frozen")
            if not self._moved.any():
                yield Notice(level="warning", sentence=IDENTICAL.format(self._run))
        for k in np.flatnonzero(self._nonfinite):
            flags[k].append("nonfinite")
        if flags != frame.flags():
            yield Partial(delta=self._opened(flags))
            for delta in self.measured:
                yield Partial(delta=delta)

    def matrices(self) -> Iterator[Update]:
        """Distance and cosine between every two measured checkpoints, over all parameters but buffers.

        Of more than ``MATRIX`` as many are taken, evenly spaced.
        """
        measured = tuple(one.checkpoint for one in self.measured)
        names = spread(measured, MATRIX)
        if len(names) < len(measured):
            yield Notice(
                level="info",
                sentence=f"The distance matrix of {self._run} has {len(names)} of the {len(measured)} "
                "checkpoints, evenly spaced.",
            )
        kept = np.flatnonzero(~self._frame().buffers)
        states = self._states

        def load(index: int) -> Sequence[Tensor]:
            return Chosen(states.load(names[index]), kept.tolist())

        pairs = PairwiseProducts(
            load,
            len(names),
            len(names) if len(names) * states.bytes_each <= states.budget else states.group,
        )
        try:
            for share in pairs.run():
                self._token.check()
                if share == 1.0 or self._pace.due():
                    yield self._progress(len(self._checkpoints) * (1 + share), "")
            distance, cosine = pairs.distance(), pairs.cosine()
        except CheckpointError as error:  # a file went away since it was measured
            sentence = f"There is no distance matrix of {self._run}: {error.sentence}"
            yield Notice(level="warning", sentence=sentence, detail=error.detail)
            return
        yield Partial(
            delta=DistanceMatrices(run=self._run, checkpoints=names, distance=distance, cosine=cosine)
        )

    def _frame(self) -> Frame:
        assert self._states.frame is not None
        return self._states.frame

    def _open(self, checkpoint: CheckpointInfo, tensors: Sequence[Tensor]) -> Update:
        self._reference = tensors
        self._reference_name, self._reference_step = checkpoint.name, checkpoint.step
        self._moved = np.zeros(len(tensors), bool)
        self._nonfinite = np.zeros(len(tensors), bool)
        return Partial(delta=self._opened(self._frame().flags()))

    def _opened(self, flags: list[list[str]]) -> DistanceOpened:
        frame = self._frame()
        return DistanceOpened(
            run=self._run,
            reference=self._reference_name,
            reference_step=self._reference_step,
            parameters=frame.parameters,
            sizes=frame.sizes,
            layers=frame.layers,
            layer_of=frame.layer_of,
            flags=tuple(tuple(found) for found in flags),
        )

    def _measure(self, name: str, tensors: Sequence[Tensor]) -> Iterator[Update]:
        sums = self._sums(tensors)
        broken = np.isnan(sums[Sums._fields.index("norm")])
        self._nonfinite |= broken
        self._moved |= sums[Sums._fields.index("distance")] != 0.0  # NaN has moved, too
        if broken.any() and not self._broken:  # once per divergence, not once per checkpoint after it
            found = self._frame().parameters[int(np.flatnonzero(broken)[0])]
            more = f" and {broken.sum() - 1} more" if broken.sum() > 1 else ""
            yield Notice(level="warning", sentence=f"{name} holds NaN or inf in {found}{more}.")
        self._broken = bool(broken.any())
        rows = self._quantities.follow(self._frame().grouped(sums))
        last = self._last_update(name, tensors, sums)
        yield from self._last_updates.taken()
        delta = self._delta(name, rows if last is None else {**rows, KEY: last})
        self.measured.append(delta)
        self._recent = [tensors, *self._recent[:1]]
        yield Partial(delta=delta)

    def _sums(self, tensors: Sequence[Tensor]) -> NDArray[np.float64]:
        """(7, P) the sums of every parameter."""
        columns = []
        for k, now in enumerate(tensors):
            earlier = (one[k] for one in self._recent)
            columns.append(parameter_sums(now, self._reference[k], *earlier, check=self._token.check))
        return np.array(columns, np.float64).reshape(-1, len(Sums._fields)).T

    def _last_update(
        self, name: str, tensors: Sequence[Tensor], sums: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """The last step of the optimizer whose state the file holds, None where none can be told."""
        moved = sums[Sums._fields.index("distance")] != 0.0 if self.measured else None
        found = self._last_updates.of(self._states.entry(name), self._frame(), tensors, moved)
        return None if found is None else np.sqrt(self._frame().grouped(found))

    def _delta(self, name: str, rows: dict[str, NDArray[np.float64]]) -> DistancesMeasured:
        parameters = len(self._frame().parameters)
        return DistancesMeasured(
            run=self._run,
            checkpoint=name,
            parameters={quantity: values[:parameters] for quantity, values in rows.items()},
            layers={quantity: values[parameters:-1] for quantity, values in rows.items()},
            total={quantity: float(values[-1]) for quantity, values in rows.items()},
        )

    def _progress(self, done: float, checkpoint: str) -> Progress:
        return Progress(done=done, total=self._total, eta_s=self._pace.eta_s(done), what=checkpoint)


def spread(names: tuple[str, ...], most: int) -> tuple[str, ...]:
    """At most ``most`` of the names, evenly spaced, with the first and the last."""
    if len(names) <= most:
        return names
    return tuple(names[k] for k in np.linspace(0, len(names) - 1, most).round().astype(int))
