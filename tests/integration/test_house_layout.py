"""The house is as docs/architecture.md says: floors, folders, links."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINE, APP = ROOT / "engine" / "landscope", ROOT / "app" / "landscope_app"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rows(heading: str) -> list[list[str]]:
    """The first column of the table below a heading, each cell as its names in backticks."""
    text = (ROOT / "docs" / "architecture.md").read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")][2:]
    return [re.findall(r"`([\w.]+)`", cell) for cell in cells]


def floors() -> dict[str, int]:
    return {
        name.removesuffix(".py"): number
        for number, names in enumerate(rows("The floors of the engine"))
        for name in names
    }


def imported(file: Path) -> set[str]:
    """Packages of the engine that a file imports at any place."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("landscope.")}


def packages(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("*/__init__.py")}


def test_that_every_floor_is_a_package_and_every_package_a_floor():
    assert set(floors()) == packages(ENGINE) | {"api", "schedules"}


def test_that_no_arrow_runs_upward():
    floor = floors()
    upward = []
    for file in ENGINE.glob("*/**/*.py"):
        own = file.relative_to(ENGINE).parts[0]
        upward += [
            f"{file.relative_to(ROOT)} → {other}" for other in imported(file) if floor[other] > floor[own]
        ]
    assert upward == []


def test_that_every_folder_of_the_window_is_described():
    assert {name for names in rows("The window") for name in names} == packages(APP)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_that_links_of_the_documentation_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text())
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_that_files_named_by_the_architecture_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text)
    assert len(named) > 15
    assert [n for n in named if not ((ENGINE / n).exists() or (APP / n).exists())] == []


def test_that_folders_of_people_stay_free_for_their_names():
    """``import engine`` and ``import app`` are a script's own siblings, never ours."""
    folders = ["app", "engine", "resources", "packaging", "tests"]
    assert [f for f in folders if (ROOT / f / "__init__.py").exists()] == []


def test_that_every_module_says_what_it_is_for():
    files = [*ENGINE.rglob("*.py"), *APP.rglob("*.py"), *(ROOT / "resources").rglob("*.py")]
    assert [str(f.relative_to(ROOT)) for f in files if not ast.get_docstring(ast.parse(f.read_text()))] == []
