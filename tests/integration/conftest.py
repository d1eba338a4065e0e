"""A small real project, for tests that run everything from the script to the picture."""

import sys
import textwrap
from pathlib import Path

import pytest
import torch

from landscope.contract.options import DataOptions, LandscapeOptions, ProjectSpec
from landscope.project.trust import trust

sys.path.insert(0, str(Path(__file__).parents[1] / "app"))  # waiting for the window: window_fakes.py
sys.path.insert(0, str(Path(__file__).parent))  # playing jobs: played.py

SCRIPT = """
    import torch
    from torch import nn

    def build_model():
        return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))

    def build_data():
        torch.manual_seed(1)
        x = torch.randn(64, 6)
        return [(x[i:i + 16], (x[i:i + 16, 0] > 0).long()) for i in range(0, 64, 16)]
"""


@pytest.fixture
def real_project(tmp_path):
    """A script and a trained run of five checkpoints; returns its description, trusted."""
    root = tmp_path / "project"
    (root / "run").mkdir(parents=True)
    (root / "model.py").write_text(textwrap.dedent(SCRIPT))
    train(root / "run")
    trust(root)
    return ProjectSpec(
        root=str(root),
        script=str(root / "model.py"),
        runs=(str(root / "run"),),
        trusted=True,
        data=DataOptions(samples=64),
        landscape=LandscapeOptions(grid=9, points=9),
    )


def train(folder):
    scope = {}
    exec(textwrap.dedent(SCRIPT), scope)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model, data = scope["build_model"](), scope["build_data"]()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for step in range(0, 50, 10):
            torch.save({"model": model.state_dict(), "step": step}, folder / f"step_{step}.pt")
            for _ in range(10):
                for x, y in data:
                    optimizer.zero_grad()
                    torch.nn.functional.cross_entropy(model(x), y).backward()
                    optimizer.step()
