"""How much wider is the basin with skip connections? ``python benchmarks/contrast.py``.

For each seed: a random filter-normalised plane (frozen BatchNorm, reach 1) around the last checkpoint of
the sample's ``skip`` and ``plain`` runs. Printed is the share of the plane's area with loss below
(centre + 1), on the grid upsampled bicubically, and the ratio of the medians. Goal: at least 2.
"""

from __future__ import annotations

import argparse
import os
import statistics

import numpy as np
import torch

import landscope
from landscope.session.dense import dense_surface


def basin_share(project: landscope.Project, run: str, seed: int, grid: int) -> float:
    """Share of the plane's area whose loss is below the centre's plus one."""
    plane = project.plane("random", run=run, seed=seed, grid=grid, reach=1.0).plane
    centre = plane.values["loss"][grid // 2, grid // 2]
    dense = dense_surface(plane, points=129)
    return float(np.mean(np.nan_to_num(dense.z, nan=np.inf) < centre + 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grid", type=int, default=17)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=512)
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {os.cpu_count()} cores")
    project = landscope.open_project("sample", trust=True, samples=options.samples)
    medians = {}
    for run in ("skip", "plain"):
        shares = [basin_share(project, run, seed, options.grid) for seed in range(options.seeds)]
        medians[run] = statistics.median(shares)
        print(f"{run:6} " + " ".join(f"{share:.3f}" for share in shares) + f"  median {medians[run]:.3f}")
    print(f"ratio of medians {medians['skip'] / max(medians['plain'], 1e-9):.2f} (goal ≥ 2)")


if __name__ == "__main__":
    main()
