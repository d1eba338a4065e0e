"""A session with made-up but plausible results, built from deltas as an engine would send them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from landscope.contract import deltas as d
from landscope.session.model import Session

RUNS = ("with-skips", "without-skips")
STEPS = (0, 20, 50, 100, 200, 400, 800, 1200)
LAYERS = ("stem", *(f"blocks.{k}.conv{j}" for k in range(8) for j in (1, 2)), "head")
GRID = 17


def fake_session(runs: tuple[str, ...] = RUNS, grid: int = GRID) -> Session:
    """Runs with losses, saturation, distances, a line, and a trajectory and a random plane each."""
    session = Session(title="fake")
    for delta in all_deltas(runs, grid):
        session.apply(delta)
    return session


def all_deltas(runs: tuple[str, ...] = RUNS, grid: int = GRID) -> Iterator[d.AnyDelta]:
    """Everything a complete analysis would send, in order."""
    for k, run in enumerate(runs):
        yield listed(run)
        yield from measured(run, k)
        yield from (saturation(run, name, s) for s, name in enumerate(names()))
        yield from distances(run)
        yield from line(run)
        yield from plane(run, "trajectory", grid, k)
        yield from plane(run, "random", grid, k)


def names() -> tuple[str, ...]:
    return tuple(f"step_{s:05d}.pt" for s in STEPS)


def listed(run: str) -> d.RunListed:
    ready = tuple(d.CheckpointInfo(name=n, step=s, size=170_000) for n, s in zip(names(), STEPS, strict=True))
    others = (
        d.CheckpointInfo(
            name="broken.pt", state="skipped", reason="broken.pt ends in the middle of a tensor."
        ),
        d.CheckpointInfo(
            name="step_01600.pt", state="waiting", reason="step_01600.pt is still being written."
        ),
    )
    return d.RunListed(run=run, folder=f"/project/runs/{run}", checkpoints=ready, others=others)


def measured(run: str, worse: int) -> Iterator[d.CheckpointMeasured]:
    for split, gap in (("train", 0.0), ("test", 0.04)):
        for name, s in zip(names(), STEPS, strict=True):
            loss = 2.3 * np.exp(-s / (150 + 250 * worse)) + 0.05 + gap + 0.1 * worse
            yield d.CheckpointMeasured(
                run=run,
                checkpoint=name,
                split=split,
                loss=float(loss),
                loss_se=0.02,
                metrics={"accuracy": float(1 - 0.9 * np.exp(-s / 180) - gap / 2)},
                samples=1437 if split == "train" else 360,
            )


def saturation(run: str, checkpoint: str, stage: int) -> d.SaturationMeasured:
    layers = tuple(_layer(name, k, stage) for k, name in enumerate(LAYERS))
    return d.SaturationMeasured(
        run=run,
        checkpoint=checkpoint,
        mode="train",
        threshold=0.99,
        layers=layers,
        not_observed=(d.NotObserved(layer="attention", reason="a function, not a module, computes it"),),
        settings={"samples": 1437, "partial": False},
    )


def _layer(name: str, k: int, stage: int) -> d.LayerSaturation:
    width = 8 + 4 * (k // 6)
    share = 0.85 - 0.035 * k + 0.25 * np.sin(k) ** 2 - 0.04 * stage
    idim = int(np.clip(round(share * width), 1, width))
    flags = {3: ("dead",), 5: ("too_few_samples",), 7: ("nonfinite",)}.get(k, ())
    idim = 0 if k == 3 else idim
    return d.LayerSaturation(
        layer=name,
        kind="Linear" if name == "head" else "Conv2d",
        dimension=width,
        samples=1437 if name == "head" else 91_968,
        idim=idim,
        lsat=idim / width,
        trace=0.0 if k == 3 else 1.7 / (k + 1),
        participation_ratio=max(0.0, idim * 0.6),
        effective_rank=max(0.0, idim * 0.8),
        spectrum=np.geomspace(1, 1e-3, width),
        nonfinite=12 if k == 7 else 0,
        flags=flags,
        **_embedded(k, stage, 200 if name == "head" else 512),
    )


def _embedded(k: int, stage: int, count: int) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    """Ten classes that move apart in training; eigenvectors point the other way at every second stage."""
    random = np.random.default_rng(k)
    labels = random.integers(0, 10, count)
    angle = 2 * np.pi * labels / 10
    centres = (0.2 + 0.3 * stage) * np.column_stack([2 * np.cos(angle), np.sin(angle)])
    points = (centres + random.normal(0, 0.25, (count, 2))) * (-1.0 if stage % 2 else 1.0)
    if k == 7:
        points[3] = np.nan
    items = np.sort(random.integers(0, 1437, count))
    return {"embedding": points.astype(np.float32), "labels": labels, "items": items}


def distances(run: str) -> Iterator[d.AnyDelta]:
    count = len(LAYERS)
    yield d.DistanceOpened(
        run=run,
        reference=names()[0],
        reference_step=0,
        parameters=tuple(f"{n}.weight" for n in LAYERS),
        sizes=np.full(count, 2000),
        layers=LAYERS,
        layer_of=np.arange(count),
        flags=tuple(("frozen",) if k == 2 else () for k in range(count)),
    )
    for s, name in zip(STEPS, names(), strict=True):
        per = np.sqrt(s) * (0.1 + 0.01 * np.arange(count))
        per[2] = 0.0
        keys = ("distance", "relative", "update", "path_length", "norm")
        total = {key: float(np.linalg.norm(per)) for key in keys} | {"angle": float("nan"), "cosine": 0.9}
        rows = {key: per.copy() for key in keys}
        yield d.DistancesMeasured(run=run, checkpoint=name, parameters=rows, layers=rows, total=total)


def line(run: str) -> Iterator[d.AnyDelta]:
    t = np.linspace(0, 1, 33)
    name = f"{run}-line"
    yield d.LineOpened(
        id=name,
        run=run,
        title=f"{names()[0]} → {names()[-1]}",
        start=names()[0],
        end=names()[-1],
        coordinates=t,
        settings={"batchnorm": "recalibrated", "samples": 1437, "split": "train"},
    )
    loss = 2.3 * (1 - t) ** 2 + 0.05 + 0.6 * np.exp(-(((t - 0.55) / 0.12) ** 2))
    values = {
        "loss": loss,
        "loss_se": np.full(33, 0.03),
        "loss_stored": loss + 3 * t**2,
        "accuracy": 1 - 0.9 * (1 - t) ** 2,
    }
    yield d.LinePoints(id=name, indices=np.arange(33), values=values)


def plane_loss(alpha: np.ndarray, beta: np.ndarray, worse: int) -> np.ndarray:  # type: ignore[type-arg]
    """A bowl with ripples, rising without end; narrower when ``worse``."""
    a, b = np.meshgrid(alpha, beta, indexing="ij")
    away = (a**2 + 0.7 * b**2) * (1 + 3 * worse)
    return 0.05 + 3.2 * away / (1 + 0.4 * away) + 0.12 * np.sin(5 * a) * np.cos(4 * b) * away


def plane(run: str, kind: str, grid: int = GRID, worse: int = 0) -> Iterator[d.AnyDelta]:
    name = f"{run}-{kind}"
    axis = np.linspace(-1, 1, grid)
    titles = ("α · 78.4 %", "β · 11.9 %") if kind == "trajectory" else ("direction α", "direction β")
    yield d.PlaneOpened(
        id=name,
        run=run,
        title=("Path of the run, seen from " if kind == "trajectory" else "Random plane around ")
        + names()[-1],
        kind=kind,
        base=names()[-1],
        alpha=axis,
        beta=axis,
        axis_titles=titles,
        settings={"batchnorm": "frozen", "samples": 1437, "split": "train", "seed": 0},
    )
    rows, columns = (i.ravel() for i in np.indices((grid, grid)))
    loss = plane_loss(axis, axis, worse)
    if kind == "random":
        loss[: grid // 6, : grid // 6] = np.nan
    values = {"loss": loss.ravel(), "loss_se": np.full(grid * grid, 0.02), "accuracy": np.exp(-loss).ravel()}
    yield d.PlanePoints(id=name, rows=rows, columns=columns, values=values)
    yield d.PlaneLevel(id=name, points=grid, surplus=0.01)
    if kind == "trajectory":
        yield trajectory(run, name)


def trajectory(run: str, plane_id: str) -> d.TrajectoryMeasured:
    u = np.linspace(1, 0, len(STEPS))
    path = np.column_stack([-0.85 * u, 0.75 * u**2 * np.cos(1.5 * u)])
    return d.TrajectoryMeasured(
        plane=plane_id,
        run=run,
        checkpoints=names(),
        coordinates=path,
        residuals=0.1 * u,
        true_loss=2.3 * u,
        plane_loss=2.3 * u,
        explained=np.array([0.784, 0.119]),
    )
