"""What a person chooses: project, device, data and the options of every analysis.

These structs are the fields of ``landscope.toml``, of the dialogs and of the command-line flags.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Setting = str | int | float | bool | None
BatchNormPolicy = Literal["auto", "frozen", "recalibrated"]
Normalization = Literal["filter", "module", "tensor", "model", "none"]
PlaneKind = Literal["random", "trajectory"]


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how the engine computes.

    Attributes:
        python: interpreter that runs the script; empty = the one that runs Landscope.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        threads: intra-op threads of torch on the CPU; 0 = 1 (see ``runner.bench.DEFAULT_THREADS``).
    """

    python: str = ""
    device: str = "auto"
    threads: int = 0


class DataOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the script's data is drawn, once, and kept.

    Attributes:
        samples: number of samples (leading dimension) per split; 0 = all (refused for endless data).
        batch_size: samples per forward when batches can be re-cut; 0 = as the loader gives them.
        seed: seed set before ``build_data`` is called and iterated.
    """

    samples: int = 2048
    batch_size: int = 0
    seed: int = 0


class ProjectSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A project: a folder, perhaps a model script, and folders of checkpoints (runs).

    Attributes:
        root: absolute path of the project's folder.
        script: absolute path of the model script; empty = none (distances only).
        runs: absolute paths of checkpoint folders, in the order shown.
        trusted: the person said that code and pickles of this folder may run.
        arguments: what the script finds in ``sys.argv`` after its own name.
        weights: which set of weights of each file is measured, by its name in the file (``model_ema``) or the
            word ``averaged`` for any moving average; empty = the plain ones.
    """

    root: str
    script: str = ""
    runs: tuple[str, ...] = ()
    trusted: bool = False
    arguments: tuple[str, ...] = ()
    weights: str = ""
    engine: EngineOptions = EngineOptions()
    data: DataOptions = DataOptions()
    saturation: SaturationOptions | None = None
    distance: DistanceOptions | None = None
    landscape: LandscapeOptions | None = None


class SaturationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the saturation analysis (names as in the ``SaturationTracker`` of section 7).

    Attributes:
        embedding: whether some samples of each layer are kept in its first two directions.
        layers: further layers, by name as in ``model.named_modules()`` or by class ("Embedding").
        row_share: below 1, about so many of a layer's rows are taken, never fewer than 8 per feature.
    """

    sat_threshold: float = 0.99
    conv_method: Literal["channelwise", "mean", "max", "median", "flatten"] = "channelwise"
    timeseries_method: Literal["last_timestep", "timestepwise"] = "last_timestep"
    idim_rule: Literal["smallest_k", "delve"] = "smallest_k"
    split: str = "train"
    embedding: bool = True
    layers: tuple[str, ...] = ()
    row_share: float = 1.0


class DistanceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the distance analysis."""

    matrices: bool = True


class FunctionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of what is measured on samples beside loss and saturation: gradients and similarity.

    Attributes:
        split: the part of the data. estimator: of the HSIC in CKA.
    """

    split: str = "train"
    estimator: Literal["unbiased", "biased"] = "unbiased"


class LandscapeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of lines and planes.

    Attributes:
        grid: points per axis of the finest plane (nested grids end here), 5, 9, 17, 33, 65 or 129.
        points: points of a line.
        reach: half extent of a random plane, in units of the normalisation (filter = 1).
        seed: seed of the random directions.
        normalization: unit of random directions (Li et al. 2018: filter).
        batchnorm: policy; ``auto`` = frozen for random planes, recalibrated between checkpoints.
        split: the split whose loss is drawn.
        extend: how far a line goes beyond both ends, as a share of its length.
        stop_surplus: the plane stops refining when the newest level's largest surplus is below this
            share of the range; 0 = always the full grid.
    """

    grid: int = 33
    points: int = 33
    reach: float = 1.0
    seed: int = 0
    normalization: Normalization = "filter"
    batchnorm: BatchNormPolicy = "auto"
    split: str = "train"
    extend: float = 0.0
    stop_surplus: float = 0.0
