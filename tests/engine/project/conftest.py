"""Small projects written on the spot."""

import textwrap

import msgspec
import pytest
import torch

from landscope.contract.options import DataOptions, EngineOptions, ProjectSpec
from landscope.project.running.imports import drop_loaded
from landscope.project.spec import load_project

PLAIN = """
import torch
from torch import nn

def build_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))

def build_data():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(20, 3, generator=generator)
    y = (x[:, 0] > 0).long()
    return [(x[:8], y[:8]), (x[8:16], y[8:16]), (x[16:], y[16:])]
"""


@pytest.fixture(autouse=True)
def own_configuration(tmp_path, monkeypatch):
    """Trust is remembered in a folder of the test's own; modules of its scripts are dropped afterwards."""
    monkeypatch.setenv("LANDSCOPE_CONFIG_DIR", str(tmp_path / "config"))
    yield
    drop_loaded()


@pytest.fixture
def project(tmp_path):
    """Writes a script and, on request, checkpoints of its model; gives the trusted project."""

    def write(text=PLAIN, *, checkpoints=0, samples=2048, name="model.py", **data) -> ProjectSpec:
        root = tmp_path / "project"
        runs = root / "runs" / "one"
        runs.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text), encoding="utf-8")
        if checkpoints:
            scope: dict = {}
            exec(compile(textwrap.dedent(text), name, "exec"), scope)
            model = scope["build_model"]()
            for number in range(checkpoints):
                torch.save(
                    {"step": 10 * number, "model": model.state_dict()}, runs / f"step_{10 * number}.pt"
                )
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter.mul_(1.5)
        return msgspec.structs.replace(
            load_project(root / name),
            trusted=True,
            engine=EngineOptions(device="cpu"),
            data=DataOptions(samples=samples, **data),
        )

    return write
