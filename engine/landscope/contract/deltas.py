"""Pieces of results, as an analysis finds them. Each is complete in itself and may be applied in any order.

Runs and checkpoints are named, never numbered: a new file may land between two others at any time.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from landscope.contract.options import Setting

Floats = NDArray[np.floating]
Integers = NDArray[np.integer]
CheckpointState = Literal["ready", "waiting", "skipped"]

UNKNOWN_LABEL = -(2**63)
"""The label of a sample that has none, or none that counts; any other number may be a class."""


class Delta(msgspec.Struct, frozen=True, kw_only=True, tag_field="delta", tag=True):
    """Base of everything that a session can take in."""


class CheckpointInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint file of a run.

    Attributes:
        name: path below the run's folder, unique in it; the key used everywhere.
        state: ready / waiting (still being written) / skipped.
        reason: why it is not ready, in one sentence; empty when ready.
        step, epoch: as stored in the file or read from the name; None = unknown.
        size: bytes. sha256: of the file, empty until read.
        aliases: other names with the same content or the same step (``best.pt``).
        notes: what was done to match it ("removed prefix module.").
        sets: names of all sets of weights in the file that fit, the one in use first; empty = only one.
    """

    name: str
    state: CheckpointState = "ready"
    reason: str = ""
    step: int | None = None
    epoch: int | None = None
    size: int = 0
    sha256: str = ""
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


class RunListed(Delta, frozen=True, kw_only=True):
    """A run's checkpoints in training order: replaces what was known of the run.

    ``checkpoints`` holds the ready ones in order (initialisation first); ``others`` the waiting and skipped.
    """

    run: str
    folder: str
    checkpoints: tuple[CheckpointInfo, ...]
    others: tuple[CheckpointInfo, ...] = ()


class CheckpointMeasured(Delta, frozen=True, kw_only=True):
    """Loss (nats for cross entropy) and metrics of one checkpoint on one split, stored statistics.

    ``loss_se`` is the standard error of the mean (NaN = not known); ``metrics`` such as accuracy in [0, 1].
    """

    run: str
    checkpoint: str
    split: str
    loss: float
    loss_se: float
    metrics: dict[str, float]
    samples: int


class LayerSaturation(msgspec.Struct, frozen=True, kw_only=True):
    """How full one layer is (definitions in docs/definitions.md).

    Attributes:
        layer: module name, with ``#2`` for its second call per forward.
        kind: class name of the module. dimension: features D. samples: rows n.
        idim: intrinsic dimension; lsat = idim / D. trace: total variance.
        spectrum: (min(D, n),) float64 eigenvalues of the covariance, largest first.
        nonfinite: rows left out because they held NaN or inf.
        flags: any of ``dead``, ``too_few_samples``, ``nonfinite``.
        embedding: (m, 2) float32 coordinates of some of the rows along the first two eigenvectors, about
            their mean; NaN for a row that is not finite; m = 0 where none were kept. The same rows at every
            checkpoint.
        labels: (m,) int64 the class of each row's sample, ``UNKNOWN_LABEL`` where there is none.
        items: (m,) int64 the index of each row's sample in its split, −1 where it is not known.
    """

    layer: str
    kind: str
    dimension: int
    samples: int
    idim: int
    lsat: float
    trace: float
    participation_ratio: float
    effective_rank: float
    spectrum: Floats
    nonfinite: int = 0
    flags: tuple[str, ...] = ()
    embedding: Floats = msgspec.field(default_factory=lambda: np.empty((0, 2), np.float32))
    labels: Integers = msgspec.field(default_factory=lambda: np.empty(0, np.int64))
    items: Integers = msgspec.field(default_factory=lambda: np.empty(0, np.int64))

    def value(self, statistic: str) -> float:
        """A statistic by its name; NaN where no row was finite, also for ``idim``, whose 0 means dead."""
        unknown = statistic == "idim" and math.isnan(self.lsat)
        found: float = float("nan") if unknown else getattr(self, statistic)
        return found


class NotObserved(msgspec.Struct, frozen=True, kw_only=True):
    """A layer no hook could see, with the reason."""

    layer: str
    reason: str


class SaturationMeasured(Delta, frozen=True, kw_only=True):
    """The saturation of all observed layers, in forward order, at one checkpoint."""

    run: str
    checkpoint: str
    mode: str
    threshold: float
    layers: tuple[LayerSaturation, ...]
    not_observed: tuple[NotObserved, ...] = ()
    settings: dict[str, Setting] = {}


class DistanceOpened(Delta, frozen=True, kw_only=True):
    """The frame of a distance result: what its rows are called.

    Attributes:
        reference: name of the earliest checkpoint (θ0); reference_step: its step, None = unknown.
        parameters: P names in model order, ties once; sizes: (P,) element counts.
        layers: L names; layer_of: (P,) index of each parameter's layer.
        flags: per parameter, any of "frozen" (never moves), "tied:<name>", "buffer", "nonfinite".
    """

    run: str
    reference: str
    reference_step: int | None
    parameters: tuple[str, ...]
    sizes: Integers
    layers: tuple[str, ...]
    layer_of: Integers
    flags: tuple[tuple[str, ...], ...] = ()


class DistancesMeasured(Delta, frozen=True, kw_only=True):
    """All quantities of one checkpoint: per parameter (P,), per layer (L,) and in total, float64.

    Keys: ``distance, relative, update, path_length, straightness, cosine, angle, update_ratio, norm,
    filter_relative``, and ``last_update`` where the file holds the state of an optimizer that tells it.
    NaN = undefined or non-finite weights.
    """

    run: str
    checkpoint: str
    parameters: dict[str, Floats]
    layers: dict[str, Floats]
    total: dict[str, float]


class DistanceMatrices(Delta, frozen=True, kw_only=True):
    """Distance and cosine between every two checkpoints, (M, M) float64 each."""

    run: str
    checkpoints: tuple[str, ...]
    distance: Floats
    cosine: Floats


class GradientOpened(DistanceOpened, frozen=True, kw_only=True):
    """The frame of a run's gradient norms: its rows are the model's own parameters.

    Attributes:
        split: part of the data; samples: how many of its samples the loss is the mean of.
    """

    split: str
    samples: int


class GradientsMeasured(DistancesMeasured, frozen=True, kw_only=True):
    """‖∂L/∂θ‖ at one checkpoint, L the mean loss over the frame's samples, under ``gradient_norm``.

    0 = frozen or unused by the loss; NaN = not finite.
    """


class SimilarityMeasured(Delta, frozen=True, kw_only=True):
    """How alike the functions of checkpoints are, on the same samples.

    Attributes:
        run, checkpoints: (M,) the rows. other, others: (K,) the columns; within a run the same.
        split, samples: what they were compared on.
        predictions: (M, K) float64 each: ``disagreement`` (share of samples with another predicted class),
            ``kl`` (mean KL(row ‖ column) in nats), ``js`` (mean Jensen–Shannon divergence in nats); empty if
            the model's outputs are no class scores.
        layers: L names in forward order; cka: (L, M, K) linear CKA of each layer with itself, NaN where
            undefined.
    """

    run: str
    other: str
    checkpoints: tuple[str, ...]
    others: tuple[str, ...]
    split: str
    samples: int
    predictions: dict[str, Floats]
    layers: tuple[str, ...]
    cka: Floats
    not_observed: tuple[NotObserved, ...] = ()
    settings: dict[str, Setting] = {}


class LineOpened(Delta, frozen=True, kw_only=True):
    """A line from ``start`` (0) to ``end`` (1): coordinates (N,) float64, nothing measured yet."""

    id: str
    run: str
    title: str
    start: str
    end: str
    coordinates: Floats
    settings: dict[str, Setting]


class LinePoints(Delta, frozen=True, kw_only=True):
    """Values at points of a line: indices (K,), each metric (K,) float64.

    Metrics: ``loss`` (under the line's BatchNorm policy), ``loss_stored`` (stored statistics), ``accuracy``…
    """

    id: str
    indices: Integers
    values: dict[str, Floats]


class PlaneOpened(Delta, frozen=True, kw_only=True):
    """A plane's finest grid: alpha (A,) and beta (B,) float64; values[i, j] belong to alpha[i], beta[j].

    Attributes:
        kind: ``random`` or ``trajectory``.
        base: name of the checkpoint at (0, 0).
        axis_titles: such as "α · 78.4 %".
        settings: recipe of the directions, seed, cosine left between them, BatchNorm policy, samples…
    """

    id: str
    run: str
    title: str
    kind: str
    base: str
    alpha: Floats
    beta: Floats
    axis_titles: tuple[str, str]
    settings: dict[str, Setting]


class PlanePoints(Delta, frozen=True, kw_only=True):
    """Values at points of a plane: rows, columns (K,) indices into alpha and beta; each metric (K,)."""

    id: str
    rows: Integers
    columns: Integers
    values: dict[str, Floats]


class PlaneLevel(Delta, frozen=True, kw_only=True):
    """A nested grid is complete: ``points`` per axis, its largest surplus as a share of the range."""

    id: str
    points: int
    surplus: float


class TrajectoryMeasured(Delta, frozen=True, kw_only=True):
    """A run's path over a plane.

    Attributes:
        checkpoints: M names; coordinates: (M, 2) in units of alpha and beta.
        residuals: (M,) distance from the plane in weight space.
        true_loss: (M,) each checkpoint's own loss.
        plane_loss: (M,) the loss at its projection, NaN = unknown.
        explained: (2,) shares of the variance along the two directions, NaN where it means nothing.
    """

    plane: str
    run: str
    checkpoints: tuple[str, ...]
    coordinates: Floats
    residuals: Floats
    true_loss: Floats
    plane_loss: Floats
    explained: Floats


class Provenance(Delta, frozen=True, kw_only=True):
    """Facts about how results came to be (versions, device, script hash), merged by key."""

    facts: dict[str, str]


AnyDelta = (
    RunListed
    | CheckpointMeasured
    | SaturationMeasured
    | DistanceOpened
    | DistancesMeasured
    | DistanceMatrices
    | GradientOpened
    | GradientsMeasured
    | SimilarityMeasured
    | LineOpened
    | LinePoints
    | PlaneOpened
    | PlanePoints
    | PlaneLevel
    | TrajectoryMeasured
    | Provenance
)
