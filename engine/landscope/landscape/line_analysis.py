"""Loss along the line between two checkpoints, ends first, as a stream of partial results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.modules.batchnorm import _BatchNorm

from landscope.contract.deltas import Floats, LineOpened, LinePoints
from landscope.contract.errors import OptionError
from landscope.contract.events import Notice, Partial, Progress, Update
from landscope.contract.job import CancelToken, LineJob, Pace
from landscope.landscape.barrier import barrier
from landscope.landscape.evaluate import PointMeter, Values
from landscope.landscape.grid import bisection_order, line_coordinates
from landscope.landscape.trajectory import StateReader, later_left_out
from landscope.weights.flat import Flat
from landscope.weights.restore import preserved
from landscope.weights.vector import ParameterVector

if TYPE_CHECKING:
    from landscope.project.subject import Subject


def analyse_line(subject: Subject, job: LineJob, token: CancelToken) -> Iterator[Update]:
    """Measure the loss on the line θ(t) = θ_start + t (θ_end − θ_start), all parameters moved.

    Yields the frame, then points: both ends, the middle, then halves of the widest gaps; at the end both
    barriers in a sentence. Where BatchNorm statistics are recalibrated, ``loss_stored`` is the loss under
    those stored with the start. The model is restored bit for bit, however the generator ends.

    Raises:
        OptionError, CheckpointError: in one sentence, before anything is measured.
        JobCancelled: within one batch.
    """
    coordinates = line_coordinates(job.options.points, job.options.extend)
    with preserved(subject.model):
        vector = ParameterVector(subject.model, trainable_only=False)
        reader = StateReader(subject, vector, token)
        end_name = reader.require(job.end) if job.end else reader.last()
        start_name = reader.require(job.start) if job.start else reader.first()
        if start_name == end_name:
            raise OptionError(f"A line needs two checkpoints; both ends are “{start_name}”.")
        end = vector.to_device(reader.flat(end_name))
        del reader  # lets go of the checkpoints it kept
        subject.load(start_name)
        meter = PointMeter(subject, job.options.split, job.options.batchnorm, "recalibrated", token)
        if not job.end:
            yield from later_left_out(subject, end_name, "The line ends at")
        yield from _held_buffers(subject, start_name, end_name)
        with vector:
            sweep = _LineSweep(job, start_name, end_name, coordinates, meter, vector, end, token)
            yield from sweep.run()


def _held_buffers(subject: Subject, start: str, end: str) -> Iterator[Update]:
    """Say so where the ends differ in buffers that a line does not move (BatchNorm has its policy)."""
    policed = {name for name, module in subject.model.named_modules() if isinstance(module, _BatchNorm)}
    parameters = {name for name, _ in subject.model.named_parameters(remove_duplicate=False)}
    first, last = subject.state(start), subject.state(end)
    held = (name for name in first if name not in parameters and name.rpartition(".")[0] not in policed)
    differing = [name for name in held if not torch.equal(first[name], last[name])]
    if differing:
        some = ", ".join(differing[:3]) + ("…" if len(differing) > 3 else "")
        yield Notice(
            level="warning",
            sentence=f"The line keeps the buffers of {start} ({some}), which differ in {end}: its far end is "
            "not quite that checkpoint.",
            detail="\n".join(differing),
        )


class _LineSweep:
    """One line while it is measured."""

    def __init__(
        self,
        job: LineJob,
        start: str,
        end: str,
        coordinates: np.typing.NDArray[np.float64],
        meter: PointMeter,
        vector: ParameterVector,
        target: Flat,
        token: CancelToken,
    ) -> None:
        self._job, self._start, self._end = job, start, end
        self._coordinates, self._meter, self._vector, self._target = coordinates, meter, vector, target
        self._loss = np.full(len(coordinates), np.nan)
        self._pace = Pace(len(coordinates), token)
        self._waiting: dict[int, Values] = {}

    def run(self) -> Iterator[Update]:
        yield Partial(delta=self._opened())
        for done, index in enumerate(bisection_order(self._coordinates), start=1):
            self._waiting[index] = self._measure(index)
            if self._pace.due() or done == len(self._coordinates):
                yield Partial(delta=self._points())
                yield self._progress(done)
        yield self._barriers()

    def _measure(self, index: int) -> Values:
        self._vector.interpolate(self._target, float(self._coordinates[index]))
        values = self._meter.measure()
        values |= self._meter.measure_stored()
        self._loss[index] = values["loss"]
        return values

    def _points(self) -> LinePoints:
        indices, found = list(self._waiting), list(self._waiting.values())
        self._waiting = {}
        values: dict[str, Floats] = {key: np.array([v[key] for v in found], np.float64) for key in found[0]}
        return LinePoints(id=self._job.id, indices=np.array(indices, np.int64), values=values)

    def _progress(self, done: int) -> Progress:
        return Progress(
            done=done, total=len(self._coordinates), eta_s=self._pace.eta_s(done), what="points of the line"
        )

    def _opened(self) -> LineOpened:
        settings = {**self._meter.settings(), "extend": self._job.options.extend}
        settings["parameters"] = self._vector.size
        if self._meter.policy == "recalibrated":
            settings["loss_stored"] = f"with the BatchNorm statistics stored in {self._start}"
        return LineOpened(
            id=self._job.id,
            run=self._job.run,
            title=f"{self._start} → {self._end}",
            start=self._start,
            end=self._end,
            coordinates=self._coordinates,
            settings=settings,
        )

    def _barriers(self) -> Notice:
        found = barrier(self._coordinates, self._loss)
        return Notice(
            level="info",
            sentence=f"Barrier between {self._start} and {self._end}: {found.frankle:.4g} above the mean of "
            f"the ends (Frankle 2020), {found.entezari:.4g} above the chord (Entezari 2022).",
        )
