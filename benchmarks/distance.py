"""What do distances cost? ``python benchmarks/distance.py``.

* loop: the time for the distances of all parameters of a CIFAR ResNet-18 (11.2 million numbers), divided by
  that of the usual loop, ``(p - p0).norm().item()``, in turns. Goal 0.8; reading both once, which nothing can
  avoid, is printed as the limit. Beside it the largest relative error of each, against float64.
* step: training steps with ``Distance``, ``UpdateSize`` and ``GradNorm`` at every step, and with the usual
  loops, divided by untracked ones, in turns. Goals 1.15 (MLP) and 1.03 (ResNet-18).
* files: the whole table of distances of 50 checkpoints of that network, against loading every one with
  ``torch.load`` and the usual loop; and its peak of memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parent))
from saturation import mlp, resnet18

from landscope import Distance, GradNorm, UpdateSize, schedules
from landscope.contract.deltas import DistancesMeasured
from landscope.contract.events import Partial
from landscope.contract.job import CancelToken, DistanceJob
from landscope.contract.options import DistanceOptions, ProjectSpec
from landscope.distance.analysis import analyse_files
from landscope.distance.training.norms import difference_norms


def usual(now: list[Tensor], then: list[Tensor]) -> list[float]:
    """The loop that everybody writes."""
    return [(p.detach() - q).norm().item() for p, q in zip(now, then, strict=True)]


def exact(now: list[Tensor], then: list[Tensor]) -> list[float]:
    """In float64."""
    return [(p.detach().double() - q.double()).norm().item() for p, q in zip(now, then, strict=True)]


def limit(now: list[Tensor], then: list[Tensor]) -> None:
    """Read everything once and sum something up."""
    for p, q in zip(now, then, strict=True):
        torch.dot(p.detach().view(-1), q.view(-1))


def seconds(act: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def loop(rounds: int) -> None:
    """Distances of one state."""
    torch.manual_seed(0)
    now = list(resnet18()[0].parameters())
    then = [p.detach() + 1e-3 * torch.randn_like(p) for p in now]
    ways = {"usual loop": usual, "ours": difference_norms, "reading both": limit}
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            took[name].append(seconds(partial(way, now, then)))
    truth = exact(now, then)
    for name, way in ways.items():
        ratio = statistics.median(t / u for t, u in zip(took[name], took["usual loop"], strict=True))
        found = way(now, then)
        error = max(abs(a - b) / b for a, b in zip(found, truth, strict=True)) if found else float("nan")
        middle = 1e3 * statistics.median(took[name])
        print(f"loop   {name:14} {middle:7.2f} ms  ratio {ratio:.2f}  error {error:.0e}")
    big = torch.randn(20_000_000)
    moved = big + 1e-3 * torch.randn(20_000_000)
    truth = exact([big], [moved])
    for name, way in (("usual loop", usual), ("ours", difference_norms)):
        error = abs(way([big], [moved])[0] / truth[0] - 1)
        print(f"loop   {name:14} one tensor of 20 million: error {error:.0e}")


class Loop:
    """One copy of a model that trains, with what is measured at every step."""

    def __init__(self, make: Callable[[], tuple[nn.Module, Tensor]], kind: str) -> None:
        torch.manual_seed(0)
        self.model, self.batch = make()
        self.labels = torch.randint(0, 10, (len(self.batch),))
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01, momentum=0.9)
        always = schedules.linear(1)
        self.ours = [Distance(always), UpdateSize(always), GradNorm(always)] if kind == "ours" else []
        self.kept = [p.detach().clone() for p in self.model.parameters()] if kind == "usual" else []
        self.last = list(self.kept)
        self.number = 0

    def steps(self, count: int) -> None:
        """Train for some steps."""
        for _ in range(count):
            self.step()

    def step(self) -> None:
        """Train on one batch and measure."""
        self.optimizer.zero_grad()
        functional.cross_entropy(self.model(self.batch), self.labels).backward()
        for quantity in self.ours:
            quantity.track(self.number, self.model.named_parameters())
        if self.kept:
            now = list(self.model.parameters())
            usual(now, self.kept)
            usual(now, self.last)
            self.last = [p.detach().clone() for p in now]
            [p.grad.norm().item() for p in now if p.grad is not None]
        self.optimizer.step()
        self.number += 1


def step(rounds: int) -> None:
    """Training steps with and without."""
    for name, make, steps, goal in (("mlp", mlp, 50, 1.15), ("resnet18", resnet18, 2, 1.03)):
        loops = {kind: Loop(make, kind) for kind in ("untracked", "usual", "ours")}
        took: dict[str, list[float]] = {kind: [] for kind in loops}
        for _ in range(rounds + 1):
            for kind, one in loops.items():
                took[kind].append(seconds(partial(one.steps, steps)))
        base = took["untracked"][1:]
        for kind in ("usual", "ours"):
            ratio = statistics.median(t / b for t, b in zip(took[kind][1:], base, strict=True))
            print(
                f"step   {name:9} {kind:6} ratio {ratio:.3f}" + (f" (goal {goal})" if kind == "ours" else "")
            )


def files(count: int) -> None:
    """A whole run on disk."""
    torch.manual_seed(0)
    state = resnet18()[0].state_dict()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"step_{k:03}.pt" for k in range(count)]
        for path in paths:
            moved = {
                n: t + 1e-3 * torch.randn_like(t) if t.is_floating_point() else t for n, t in state.items()
            }
            torch.save(moved, path)
        job = DistanceJob(
            project=ProjectSpec(root=folder, runs=(folder,)),
            run="run",
            options=DistanceOptions(matrices=False),
        )

        def ours() -> int:
            updates = analyse_files(folder, "run", job, CancelToken())
            return sum(isinstance(u, Partial) and isinstance(u.delta, DistancesMeasured) for u in updates)

        def loaded() -> None:
            first = list(torch.load(paths[0], weights_only=True).values())
            for path in paths:
                now = list(torch.load(path, weights_only=True).values())
                usual([t.float() for t in now], [t.float() for t in first])

        mine, theirs = seconds(ours), seconds(loaded)
    print(f"files  {count} × 11.2 M: ten quantities {mine:.1f} s; torch.load and one distance {theirs:.1f} s")


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help="torch's own threads")
    parser.add_argument("--files", type=int, default=50)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} torch threads, {os.cpu_count()} cores")
    loop(options.rounds)
    step(options.rounds)
    if options.files:
        files(options.files)


if __name__ == "__main__":
    main()
