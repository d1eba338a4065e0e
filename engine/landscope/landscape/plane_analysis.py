"""Loss over a plane through a checkpoint, coarse to fine, as a stream of partial results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from landscope.contract.deltas import PlaneLevel, PlaneOpened, TrajectoryMeasured
from landscope.contract.events import Notice, Partial, Progress, Update
from landscope.contract.job import CancelToken, KnownPoints, Pace, PlaneJob
from landscope.contract.options import BatchNormPolicy
from landscope.landscape.evaluate import PointMeter, Values
from landscope.landscape.frame import Frame, random_frame, trajectory_frame
from landscope.landscape.grid import LEVELS, Node, inside_out, levels, new_nodes
from landscope.landscape.outbox import Outbox
from landscope.landscape.surplus import largest_surplus
from landscope.landscape.trajectory import StateReader, later_left_out
from landscope.weights.restore import preserved
from landscope.weights.vector import ParameterVector

if TYPE_CHECKING:
    from landscope.project.subject import Subject


def analyse_plane(subject: Subject, job: PlaneJob, token: CancelToken) -> Iterator[Update]:
    """Measure the loss over a random or a trajectory plane.

    Yields the frame, the path's coordinates, then points: the centre first, of each nested grid those beside
    the path, then outwards; after each grid its largest surplus. The path's losses follow the coarsest grid.

    Random planes move the trainable parameters (all of them where none is trainable), trajectory planes all.
    The model is restored bit for bit, however the generator ends.

    Raises:
        OptionError, CheckpointError: in one sentence, before anything is measured.
        JobCancelled: within one batch.
    """
    levels(job.options.grid)
    with preserved(subject.model):
        vector = ParameterVector(subject.model, trainable_only=job.kind == "random")
        if not vector.names:
            vector = ParameterVector(subject.model, trainable_only=False)
        reader = StateReader(subject, vector, token)
        base = reader.require(job.base) if job.base else reader.last()
        subject.load(base)
        automatic: BatchNormPolicy = "frozen" if job.kind == "random" else "recalibrated"
        meter = PointMeter(subject, job.options.split, job.options.batchnorm, automatic, token)
        if job.kind == "random":
            frame = random_frame(subject, job, base, vector)
        else:
            frame = trajectory_frame(subject, job, base, vector, reader)
        del reader  # lets go of the checkpoints it kept
        yield from _left_out(subject, frame, job)
        with vector:
            yield from _PlaneSweep(subject, job, frame, meter, vector, token).run()


def _left_out(subject: Subject, frame: Frame, job: PlaneJob) -> Iterator[Update]:
    """Say which checkpoints could not be used."""
    for sentence in frame.skipped:
        yield Notice(level="warning", sentence=f"{sentence} It is left out of the path.")
    if not job.base:
        yield from later_left_out(subject, frame.base, "The plane is drawn around")


class _PlaneSweep:
    """One plane while it is measured."""

    def __init__(
        self,
        subject: Subject,
        job: PlaneJob,
        frame: Frame,
        meter: PointMeter,
        vector: ParameterVector,
        token: CancelToken,
    ) -> None:
        self._subject, self._job, self._frame = subject, job, frame
        self._meter, self._vector, self._token = meter, vector, token
        self._points = job.options.grid
        self._loss = np.full((self._points, self._points), np.nan)
        self._measured = np.zeros(self._loss.shape, bool)
        self._take_known(job.known)
        self._own_loss = np.full(len(frame.checkpoints), np.nan)
        self._plane_loss = np.full(len(frame.checkpoints), np.nan)
        self._known = int(self._measured.sum())
        self._done = 0
        self._total = self._loss.size - self._known + self._path_work()
        self._pace = Pace(self._total, token)
        self._outbox = Outbox(job.id)

    def _take_known(self, known: KnownPoints | None) -> None:
        if known is None or "loss" not in known.values:
            return
        inside = (known.rows >= 0) & (known.rows < self._points)
        inside &= (known.columns >= 0) & (known.columns < self._points)
        rows, columns = known.rows[inside], known.columns[inside]
        self._loss[rows, columns] = known.values["loss"][inside]
        self._measured[rows, columns] = True

    def _path_work(self) -> int:
        """Evaluations that the path needs: each checkpoint's own loss and that of its projection."""
        return 2 * len(self._frame.checkpoints) if self._job.kind == "trajectory" else 0

    def run(self) -> Iterator[Update]:
        yield Partial(delta=self._opened())
        yield Partial(delta=self._trajectory())
        yield self._progress()
        for level in levels(self._points):
            yield from self._sweep(level)
            surplus = self._surplus(level)
            yield Partial(delta=PlaneLevel(id=self._job.id, points=level, surplus=surplus))
            if level == LEVELS[0]:
                yield from self._measure_path()
            if surplus < self._job.options.stop_surplus:
                yield self._stopped(level, surplus)
                break
        yield from self._holes()

    def _sweep(self, level: int) -> Iterator[Update]:
        """Measure the new nodes of one level."""
        nodes = [node for node in new_nodes(level, self._points) if not self._measured[node]]
        spacing = (self._points - 1) // (level - 1)
        for node in inside_out(nodes, self._frame.centre, self._frame.path_indices, spacing):
            yield from self._outbox.put(node, self._measure(node))
            self._done += 1
            if self._pace.due():
                yield from self._outbox.flush()
                yield self._progress()
        yield from self._outbox.flush()
        yield self._progress()

    def _measure(self, node: Node) -> Values:
        self._move(float(self._frame.alpha[node[0]]), float(self._frame.beta[node[1]]))
        values = self._meter.measure()
        if node == self._frame.centre:
            values |= self._meter.measure_stored()
        self._loss[node] = values["loss"]
        self._measured[node] = True
        return values

    def _move(self, alpha: float, beta: float) -> None:
        self._vector.set(alpha, self._frame.pair.first, beta, self._frame.pair.second)

    def _measure_path(self) -> Iterator[Update]:
        """Each checkpoint's own loss beside the loss of its projection onto the plane."""
        if self._job.kind == "random":
            self._own_loss[0] = self._plane_loss[0] = self._loss[self._frame.centre]
            if self._meter.policy == "recalibrated":
                self._own_loss[0] = self._own(self._frame.base)
        else:
            for index in reversed(range(len(self._frame.checkpoints))):
                self._move(*map(float, self._frame.coordinates[index]))
                self._plane_loss[index] = self._meter.measure()["loss"]
                self._own_loss[index] = self._own(self._frame.checkpoints[index])
                self._done += 2
                if self._pace.due():
                    yield Partial(delta=self._trajectory())
                    yield self._progress()
        yield Partial(delta=self._trajectory())

    def _own(self, checkpoint: str) -> float:
        with preserved(self._subject.model):
            return self._meter.own_loss(checkpoint)

    def _surplus(self, level: int) -> float:
        if level == LEVELS[0]:
            return float("nan")
        step = (self._points - 1) // (level - 1)
        return largest_surplus(self._loss[::step, ::step])

    def _progress(self) -> Progress:
        eta = self._pace.eta_s(self._done)
        done, total = self._done + self._known, self._total + self._known
        return Progress(done=done, total=total, eta_s=eta, what="points")

    def _opened(self) -> PlaneOpened:
        frame = self._frame
        word = "Random plane around" if self._job.kind == "random" else "Path of the run, seen from"
        settings = {**frame.recipe, **self._meter.settings(), "grid": self._points}
        settings["loss_stored"] = (
            "at the centre only" if self._meter.policy == "recalibrated" else "is the loss"
        )
        settings["true_loss"] = "each checkpoint's own weights and stored statistics"
        return PlaneOpened(
            id=self._job.id,
            run=self._job.run,
            title=f"{word} {frame.base}",
            kind=self._job.kind,
            base=frame.base,
            alpha=frame.alpha,
            beta=frame.beta,
            axis_titles=frame.axis_titles,
            settings=settings,
        )

    def _trajectory(self) -> TrajectoryMeasured:
        frame = self._frame
        return TrajectoryMeasured(
            plane=self._job.id,
            run=self._job.run,
            checkpoints=frame.checkpoints,
            coordinates=frame.coordinates,
            residuals=frame.residuals,
            true_loss=self._own_loss.copy(),
            plane_loss=self._plane_loss.copy(),
            explained=np.array(frame.pair.explained),
        )

    def _stopped(self, level: int, surplus: float) -> Notice:
        return Notice(
            level="info",
            sentence=f"The plane is finished at {level} × {level} points: the last refinement changed it by "
            f"{100 * surplus:.2g} % of its range at most.",
        )

    def _holes(self) -> Iterator[Update]:
        bad = int((self._measured & ~np.isfinite(self._loss)).sum())
        if bad:
            yield Notice(
                level="info",
                sentence=f"{bad} of {int(self._measured.sum())} points have no finite loss; they are holes.",
            )
