"""Data loaders made for worker processes, read in this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.utils.data import DataLoader
from torch.utils.data import _utils as machinery


def without_workers(loader: DataLoader[Any]) -> bool:
    """Let a loader work in this process; whether it had worker processes.

    Samplers that want to be told the epoch are told the first.
    """
    had = bool(loader.num_workers)
    if had:
        loader.num_workers, loader.prefetch_factor, loader.timeout = 0, None, 0
    loader.pin_memory = False
    for sampler in (loader.sampler, loader.batch_sampler):
        tell = getattr(sampler, "set_epoch", None)
        if callable(tell):
            tell(0)
    return had


@contextmanager
def as_only_worker(loaders: list[DataLoader[Any]]) -> Iterator[None]:
    """Inside, ``get_worker_info()`` tells data sets that they are read by worker 0 of 1, as these expect."""
    worker = machinery.worker
    if not loaders:
        yield
        return
    before = worker._worker_info
    info = worker.WorkerInfo(id=0, num_workers=1, seed=0, dataset=loaders[0].dataset)
    worker._worker_info = info
    try:
        yield
    finally:
        worker._worker_info = before
