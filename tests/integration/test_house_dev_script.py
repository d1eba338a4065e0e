"""dev.py: what it finds missing, which torch it takes, and what its exit code says. Nothing is installed."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def dev(monkeypatch, tmp_path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev_script", ROOT / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "STAMP", tmp_path / "stamp")
    return module


class Calls:
    """Stands for ``dev.call``: notes the commands, answers with exit codes by word."""

    def __init__(self, **codes: int) -> None:
        self.codes = codes
        self.commands: list[str] = []

    def __call__(self, *command: object, **_environment: str) -> int:
        self.commands.append(" ".join(Path(str(word)).name for word in command))
        return next((code for word, code in self.codes.items() if word in self.commands[-1]), 0)


def answers(dev: ModuleType, monkeypatch, **texts: str) -> None:
    def answer(*command: object) -> str:
        line = " ".join(str(word) for word in command)
        return next((text for word, text in texts.items() if word.replace("_", "-") in line), "")

    monkeypatch.setattr(dev, "answer", answer)


def test_that_only_missing_packages_are_named(dev, monkeypatch):
    there = [f"ii {name}" for name in dev.DEBIAN_PACKAGES if name not in ("xvfb", "libgl1")]
    answers(dev, monkeypatch, dpkg_query="\n".join([*there, "rc xvfb"]), ensurepip="there")
    assert dev.missing_debian_packages() == ["libgl1", "xvfb"]


def test_that_renamed_libraries_count_as_there(dev, monkeypatch):
    there = [f"ii {name}".replace("libglib2.0-0", "libglib2.0-0t64") for name in dev.DEBIAN_PACKAGES]
    answers(dev, monkeypatch, dpkg_query="\n".join(there), ensurepip="there")
    assert dev.missing_debian_packages() == []


def test_that_half_a_venv_module_is_a_missing_package(dev, monkeypatch, tmp_path):
    monkeypatch.setattr(dev, "PYTHON", tmp_path / "python")
    answers(dev, monkeypatch, dpkg_query="\n".join(f"ii {name}" for name in dev.DEBIAN_PACKAGES))
    assert dev.missing_debian_packages() == ["python3-venv"]


@pytest.mark.skipif(os.name == "nt", reason="asks for the user id of Unix")
def test_that_without_root_or_sudo_the_packages_are_named(dev, monkeypatch, capsys):
    monkeypatch.setattr(dev, "LINUX", True)
    monkeypatch.setattr(dev.shutil, "which", lambda name: name)
    monkeypatch.setattr(dev, "missing_debian_packages", lambda: ["xvfb", "xauth"])
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(dev, "call_quietly", lambda *_: True)
    monkeypatch.setattr(dev, "call", calls := Calls())
    dev.install_debian_packages()
    assert "apt-get install xvfb xauth" in capsys.readouterr().out
    assert calls.commands == []


def test_that_gigabytes_of_cuda_are_refused_where_no_gpu_is(dev, monkeypatch):
    plan = {"install": [{"metadata": {"name": "torch"}}, {"metadata": {"name": "nvidia-cudnn-cu12"}}]}
    answers(dev, monkeypatch, dry_run=json.dumps(plan))
    monkeypatch.setattr(dev, "reachable", lambda _: False)
    monkeypatch.setattr(dev, "call", calls := Calls())
    with pytest.raises(dev.SetupError, match="only the CUDA build"):
        dev.install_torch_for_cpu()
    assert calls.commands == []


@pytest.mark.parametrize("reachable", [True, False])
def test_that_the_pinned_torch_comes_from_where_its_cpu_build_is(dev, monkeypatch, reachable):
    answers(dev, monkeypatch, dry_run=json.dumps({"install": [{"metadata": {"name": "torch"}}]}))
    monkeypatch.setattr(dev, "LINUX", True)
    monkeypatch.setattr(dev, "reachable", lambda _: reachable)
    monkeypatch.setattr(dev, "call", calls := Calls())
    dev.install_torch_for_cpu()
    assert len(calls.commands) == 1 and "torch==2.13.0" in calls.commands[0]
    assert ("--index-url" in calls.commands[0]) is reachable


def test_that_a_torch_that_is_there_stays(dev, monkeypatch):
    answers(dev, monkeypatch, import_torch="2.9.1", **{"import torch": "2.9.1"})
    monkeypatch.setattr(dev, "call", calls := Calls())
    dev.install_torch_for_cpu()
    assert calls.commands == []


def test_that_a_second_set_up_installs_nothing_until_something_changes(dev, monkeypatch):
    monkeypatch.setattr(dev, "install_debian_packages", lambda: None)
    monkeypatch.setattr(dev, "has_nvidia", lambda: False)
    installed: list[str] = []
    monkeypatch.setattr(dev, "make_environment", lambda: installed.append("environment"))
    monkeypatch.setattr(dev, "install_python_packages", lambda: installed.append("packages"))
    dev.set_up()
    dev.set_up()
    assert installed == ["environment", "packages"]
    monkeypatch.setattr(dev, "has_nvidia", lambda: True)
    dev.set_up()
    assert installed == ["environment", "packages"] * 2


def test_that_one_failing_check_fails_all_and_the_rest_still_run(dev, monkeypatch, capsys):
    monkeypatch.setattr(dev, "call", calls := Calls(mypy=1))
    assert dev.test(long=False) == 1
    assert "failed: mypy." in capsys.readouterr().out
    names = ("ruff check", "ruff format", "mypy", "lint-imports", "pytest")
    assert [any(name in command for command in calls.commands) for name in names] == [True] * 5
    assert "not long" in calls.commands[-1]


def test_that_long_tests_run_when_asked_for(dev, monkeypatch):
    monkeypatch.setattr(dev, "call", calls := Calls())
    assert dev.test(long=True) == 0
    assert "not long" not in calls.commands[-1]


def test_that_without_a_display_the_sample_becomes_files(dev, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "LINUX", True)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    (tmp_path / "out").mkdir()
    for name in ("sample.h5", "surface.png"):
        (tmp_path / "out" / name).touch()
    monkeypatch.setattr(dev, "call", calls := Calls())
    assert dev.run() == 0
    assert calls.commands == ["landscope run sample -o sample.h5", "landscope render sample.h5 -o out"]
    said = capsys.readouterr().out
    assert str(tmp_path / "out" / "sample.h5") in said and "surface.png" in said


def test_that_with_a_display_the_window_opens(dev, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(dev, "call", calls := Calls())
    assert dev.run() == 0
    assert calls.commands == ["landscope sample"]
