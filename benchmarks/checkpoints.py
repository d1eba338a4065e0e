"""How fast is a folder listed, and what does reading cost? ``python benchmarks/checkpoints.py``.

Time: a folder of 5,000 small files, listed in a process of its own (the start of the reading processes
included), against ``torch.load(weights_only=True, mmap=True)`` of each file in this one. Goal: under 2 s, the
first part of the list within 0.5 s.
Memory: growth of the resident memory of a process, at its peak, while it lists two checkpoints of 1 GB, loads
one into a model of that size, and measures the distances between both, as safetensors and as torch zip files.
Goal: nearly none but the model; never more than one more copy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

LISTING = """
import sys, time
from landscope.checkpoints.discover import list_growing
began = time.perf_counter()
told = [(time.perf_counter() - began, len(part.checkpoints)) for part in list_growing(sys.argv[1])]
print(*told[0], *told[-1])
"""

MEMORY = """
import sys, threading, time
from pathlib import Path

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

class Peak:
    def __enter__(self):
        self.before = self.most = resident()
        self.over = threading.Event()
        self.watch = threading.Thread(target=self.look)
        self.watch.start()
        return self
    def look(self):
        while not self.over.wait(0.002):
            self.most = max(self.most, resident())
    def __exit__(self, *_):
        self.over.set()
        self.watch.join()
        print(f"{self.growth >> 20}", end=" ")
    @property
    def growth(self):
        return max(self.most, resident()) - self.before

import torch
from landscope.checkpoints.discover import list_files, list_run
from landscope.checkpoints.read import check_bytes, stream_tensors
from landscope.contract.job import CancelToken, DistanceJob
from landscope.contract.options import DistanceOptions, ProjectSpec
from landscope.distance.analysis import analyse_files

folder = sys.argv[1]
torch.set_num_threads(1)
with Peak():
    listing = list_files(folder)
entry = next(iter(listing.entries.values()))
model = {name: torch.ones(t.shape) for name, t in entry.matched.tensors.items()}
with Peak():
    check_bytes(entry.matched.tensors, entry.parts)
    for name, tensor in stream_tensors(entry.matched.tensors, entry.parts):
        model[name].copy_(tensor)
del model
job = DistanceJob(project=ProjectSpec(root=folder, runs=(folder,)), run="run", options=DistanceOptions())
with Peak():
    began = time.perf_counter()
    for _ in analyse_files(folder, "run", job, CancelToken()):
        pass
    seconds = time.perf_counter() - began
print(f"{seconds:.1f}")
"""


def small_files(folder: Path, count: int) -> None:
    """Files of 11 tensors, 13 kB each."""
    layers = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(64, 32), nn.Linear(32, 10)]
    state = nn.Sequential(*layers).state_dict()
    for step in range(count):
        for tensor in state.values():
            tensor.add_(1)
        torch.save({"model": state, "step": step}, folder / f"step_{step:06d}.pt")


def large_files(folder: Path, kind: str, megabytes: int) -> None:
    """Two checkpoints of tensors of 16 MB."""
    for step in range(2):
        torch.manual_seed(step)
        state = {f"layer{k}.weight": torch.randn(2048, 2048) for k in range(megabytes // 16)}
        if kind == "safetensors":
            save_file(state, folder / f"step_{step}.safetensors")
        else:
            torch.save(state, folder / f"step_{step}.pt")


def in_a_process(code: str, folder: Path) -> list[float]:
    found = subprocess.run(
        [sys.executable, "-P", "-c", code, str(folder)], check=True, capture_output=True, text=True
    )
    return [float(word) for word in found.stdout.split()]


def torch_loads_all(folder: Path) -> float:
    began = time.perf_counter()
    for path in sorted(folder.iterdir()):
        torch.load(path, weights_only=True, mmap=True)
    return time.perf_counter() - began


def measure_time(count: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        small_files(Path(folder), count)
        for _ in range(rounds):
            first, known, whole, listed = in_a_process(LISTING, Path(folder))
            peer = torch_loads_all(Path(folder))
            print(
                f"{int(listed)} files: first {int(known)} after {first:.2f} s, all after {whole:.2f} s; "
                f"torch.load {peer:.2f} s"
            )


def measure_memory(megabytes: int) -> None:
    for kind in ("safetensors", "zip"):
        with tempfile.TemporaryDirectory() as folder:
            large_files(Path(folder), kind, megabytes)
            listed, loaded, compared, seconds = in_a_process(MEMORY, Path(folder))
        print(
            f"{kind} of {megabytes} MB: memory grows by {listed:.0f} MB while listing, {loaded:.0f} MB while "
            f"loading into a model, {compared:.0f} MB while measuring distances ({seconds:.1f} s)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=1024)
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {os.cpu_count()} cores")
    measure_time(options.files, options.rounds)
    measure_memory(options.megabytes)


if __name__ == "__main__":
    main()
