"""What does watching saturation cost a training loop? ``python benchmarks/saturation.py``.

For each model, copies of it train side by side on the same batches: untracked, with delve (where it is
installed: ``pip install delve``), with our tracker, with its worker thread, and with a quarter of the rows.
They take turns within every round, in changing order, so that whatever else the machine does meets all alike;
ratios to the untracked one are taken within a round, and their median is printed. Every batch is counted.

* wall: time of a step on the training thread, and its quartiles. Goals for the worker: 1.10, 1.05, 1.03.
* thread: CPU time of the training thread. other: CPU time of all other threads. total: both, with the work
  that is left at the end of a round. Goal: at most delve's.
* report: time of one ``add_saturations``, without saving.
* lsat off: the largest difference, over the layers, of lsat from ours with all rows.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import random
import statistics
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from tempfile import gettempdir
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from landscope import AbstractWriter, SaturationTracker


class Block(nn.Module):
    """Basic block of a CIFAR ResNet-18."""

    def __init__(self, features: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(features, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        same = stride == 1 and features == out
        self.shortcut = (
            nn.Identity()
            if same
            else nn.Sequential(nn.Conv2d(features, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Two convolutions beside the shortcut."""
        inner = functional.relu(self.bn1(self.conv1(x)), inplace=True)
        return functional.relu(self.bn2(self.conv2(inner)) + self.shortcut(x), inplace=True)


def mlp() -> tuple[nn.Module, torch.Tensor]:
    layers = [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    return nn.Sequential(*layers), torch.randn(128, 784)


def cnn() -> tuple[nn.Module, torch.Tensor]:
    sizes = [3, 64, 128, 256]
    blocks = [
        part
        for features, out in pairwise(sizes)
        for part in (nn.Conv2d(features, out, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
    ]
    return nn.Sequential(*blocks, nn.Flatten(), nn.Linear(4096, 10)), torch.randn(64, 3, 32, 32)


def resnet18() -> tuple[nn.Module, torch.Tensor]:
    stem = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    sizes = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    sizes += [(128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]
    return nn.Sequential(*stem, *(Block(*size) for size in sizes), *head), torch.randn(32, 3, 32, 32)


MODELS = {"mlp": (mlp, 100, 1.10), "cnn": (cnn, 6, 1.05), "resnet18": (resnet18, 2, 1.03)}
"""How it is made with an example batch, steps in a round, goal for the wall ratio of the worker."""

BATCHES = 4
"""Different batches that are cycled through."""

Track = Callable[[nn.Module, AbstractWriter], Any]


class Lsat(AbstractWriter):
    """Keeps the latest value of every series."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def resume_from_saved_state(self, initial_epoch: int) -> None:
        """Nothing is saved."""

    def add_scalar(self, name: str, value: Any, **_: Any) -> None:
        """Keep it."""
        self.values[name] = value

    def add_scalars(self, prefix: str, value_dict: Any, **_: Any) -> None:
        """Keep them."""
        self.values.update({prefix + name: value for name, value in value_dict.items()})

    def save(self) -> None:
        """Nothing is saved."""

    def close(self) -> None:
        """Nothing is open."""


class Contender:
    """One copy of the model with its tracker, and what its rounds took."""

    def __init__(self, make: Callable[[], tuple[nn.Module, torch.Tensor]], track: Track | None) -> None:
        torch.manual_seed(0)
        self.model, example = make()
        self.batches = [
            (torch.randn_like(example), torch.randint(0, 10, (len(example),))) for _ in range(BATCHES)
        ]
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01, momentum=0.9)
        self.found = Lsat()
        self.tracker = track(self.model, self.found) if track else None
        self.rounds: list[dict[str, float]] = []

    def step(self, number: int) -> None:
        """Train on one batch."""
        batch, labels = self.batches[number % BATCHES]
        self.optimizer.zero_grad()
        functional.cross_entropy(self.model(batch), labels).backward()
        self.optimizer.step()

    def round(self, steps: int) -> None:
        """Train for some steps and note the seconds."""
        wall, own, whole = time.perf_counter(), time.thread_time(), time.process_time()
        for number in range(steps):
            self.step(number)
        took = {"wall": time.perf_counter() - wall, "thread": time.thread_time() - own}
        getattr(self.tracker, "drain", lambda: None)()
        took["total"] = time.process_time() - whole
        took["other"] = took["total"] - took["thread"]
        self.rounds.append(took)

    def report(self) -> str:
        """The time of a report."""
        if self.tracker is None:
            return ""
        began = time.perf_counter()
        self.tracker.add_saturations(save=False)
        return f"{1e3 * (time.perf_counter() - began):.0f} ms"


def trackers() -> dict[str, Track | None]:
    """How each contender is tracked."""
    told: dict[str, Track | None] = {"untracked": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from delve import SaturationTracker as Delve
        except ImportError:
            print("delve is not installed: no comparison with it")
        else:
            told["delve"] = lambda model, _: Delve(gettempdir(), "npy", model, device="cpu")
    told["ours"] = lambda model, writer: SaturationTracker("", writer, model)
    told["worker"] = lambda model, writer: SaturationTracker("", writer, model, worker=True)
    told["quarter"] = lambda model, writer: SaturationTracker("", writer, model, row_share=0.25)
    return told


def compare(name: str, rounds: int) -> None:
    """Train all contenders of one model and print their ratios."""
    make, steps, goal = MODELS[name]
    contenders = {kind: Contender(make, track) for kind, track in trackers().items()}
    for one in contenders.values():
        one.round(2)
        one.rounds.clear()
    for _ in range(rounds):
        for one in random.sample(list(contenders.values()), len(contenders)):
            gc.collect()
            one.round(steps)
    base = contenders["untracked"].rounds
    step = statistics.median(r["wall"] for r in base) / steps
    print(f"\n{name}: untracked step {1e3 * step:.2f} ms, {rounds} rounds of {steps} steps, goal {goal:.2f}")
    print(
        f"  {'':10}{'wall':>7}{'quartiles':>14}{'thread':>8}{'other':>7}{'total':>7}"
        f"{'report':>9}{'lsat off':>10}"
    )
    for kind, one in contenders.items():
        ratios = {
            part: sorted(
                r[part] / b["total" if part == "other" else part]
                for r, b in zip(one.rounds, base, strict=True)
            )
            for part in ("wall", "thread", "other", "total")
        }
        middle = {part: statistics.median(values) for part, values in ratios.items()}
        low, _, high = statistics.quantiles(ratios["wall"], n=4)
        print(
            f"  {kind:10}{middle['wall']:7.3f}{low:8.3f}-{high:.3f}{middle['thread']:8.3f}"
            f"{middle['other']:7.3f}{middle['total']:7.3f}{one.report():>9}"
            f"{_off(one.found, contenders['ours'].found):>10}"
        )
    for one in contenders.values():
        if one.tracker is not None:
            one.tracker.close()


def _off(found: Lsat, ours: Lsat) -> str:
    """The largest difference of lsat."""
    if not found.values:
        return ""
    return f"{max(abs(value - ours.values[name]) for name, value in found.values.items()):.4f}"


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("models", nargs="*", default=list(MODELS), help="mlp, cnn, resnet18 (default: all)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help="torch's own threads")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.disable(logging.WARNING)
    random.seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} torch threads, {os.cpu_count()} cores")
    for name in options.models:
        compare(name, options.rounds)


if __name__ == "__main__":
    main()
