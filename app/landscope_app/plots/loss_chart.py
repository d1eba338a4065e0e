"""Loss and accuracy of each checkpoint, as curves over the steps of a run."""

from __future__ import annotations

import numpy as np

from landscope.session.model import Run, Session
from landscope_app.plots.charts import CurveChart, Floats, Series

EMPTY = "Loss and accuracy of each checkpoint appear here as they are measured."
_ORDER = ("train", "test", "validation", "val")


def step_title(run: Run) -> str:
    """What the x axis counts: steps, epochs or checkpoints, as ``Run.steps`` does."""
    for field, title in (("step", "step"), ("epoch", "epoch")):
        known = [getattr(c, field) for c in run.checkpoints]
        if known and all(k is not None for k in known):
            return title
    return "checkpoint"


def splits_of(run: Run) -> tuple[str, ...]:
    """The splits measured for a run, train first."""
    return tuple(sorted(run.measured, key=lambda s: (_ORDER.index(s) if s in _ORDER else len(_ORDER), s)))


def loss_chart(
    session: Session, run: str, checkpoint: str = "", metric: str = "accuracy", log_y: bool = False
) -> CurveChart:
    """Loss on the left axis (solid) and ``metric`` on the right (dashed), one colour per split."""
    known = session.runs.get(run)
    if known is None or not any(known.measured.values()):
        return CurveChart("Loss per checkpoint", "step", "loss", (), empty=EMPTY)
    losses = [_series(known, split, "loss", k) for k, split in enumerate(splits_of(known))]
    others = [_series(known, split, metric, k) for k, split in enumerate(splits_of(known))]
    others = [s for s in others if np.isfinite(s.y).any()]
    return CurveChart(
        title=f"{run} · loss per checkpoint",
        x_title=step_title(known),
        y_title="loss",
        right_title=metric if others else "",
        series=(*losses, *others),
        note=_note(known),
        cursor=float(known.steps[known.names.index(checkpoint)]) if checkpoint in known.names else None,
        stops=known.steps,
        names=known.names,
        log_y=log_y,
    )


def metrics_of(session: Session, run: str) -> tuple[str, ...]:
    """Names of the metrics other than the loss that were measured for a run."""
    known = session.runs.get(run)
    found: dict[str, None] = {}
    for measured in known.measured.values() if known is not None else ():
        for one in measured.values():
            found.update(dict.fromkeys(one.metrics))
    return tuple(found)


def _series(run: Run, split: str, metric: str, colour: int) -> Series:
    error: Floats | None = run.curve("loss_se", split) if metric == "loss" else None
    if error is not None and not np.isfinite(error).any():
        error = None
    is_loss = metric == "loss"
    return Series(
        f"{split} {metric}",
        run.steps,
        run.curve(metric, split),
        error,
        colour,
        dashed=not is_loss,
        right=not is_loss,
        group=split,
    )


def _note(run: Run) -> str:
    parts = []
    for split in splits_of(run):
        samples = {one.samples for one in run.measured[split].values()}
        if samples:
            parts.append(f"{split}: {max(samples):,} samples")
    return ", ".join([*parts, "stored statistics"])
