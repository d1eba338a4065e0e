"""Finding the script and the runs of a folder that has no ``landscope.toml``; nothing is run."""

from __future__ import annotations

import ast
from pathlib import Path

from landscope.checkpoints.folder import checkpoint_files
from landscope.contract.errors import CheckpointError

_SCRIPTS = ("landscope_project.py", "project.py", "model.py")
_DEPTH = 3
_SKIPPED = ("__pycache__", "node_modules", "site-packages")


def find_runs(root: str | Path) -> tuple[str, ...]:
    """Folders, down to three levels, that hold checkpoint files; the root itself if it does."""
    found: list[str] = []
    _collect_runs(Path(root), 0, found)
    return tuple(found)


def _collect_runs(folder: Path, depth: int, found: list[str]) -> None:
    if _holds_checkpoints(folder):
        found.append(str(folder))
        return
    if depth < _DEPTH:
        for child in _subfolders(folder):
            _collect_runs(child, depth + 1, found)


def _holds_checkpoints(folder: Path) -> bool:
    try:
        return any(path.suffix or path.stat().st_size > 1024 for path in checkpoint_files(folder))
    except (CheckpointError, OSError):
        return False


def _subfolders(folder: Path) -> list[Path]:
    try:
        children = [c for c in folder.iterdir() if c.is_dir() and not c.name.startswith(".")]
    except OSError:
        return []
    return sorted(c for c in children if c.name not in _SKIPPED)


def find_script(folder: Path) -> str:
    """Path of the folder's model script, empty if there is none or more than one could be it."""
    for name in _SCRIPTS:
        if (folder / name).is_file() and (name == _SCRIPTS[0] or _defines_model(folder / name)):
            return str(folder / name)
    defining = [path for path in sorted(folder.glob("*.py")) if _defines_model(path)]
    if len(defining) == 1:
        return str(defining[0])
    return next((str(folder / name) for name in _SCRIPTS if _broken(folder / name)), "")


def _defines_model(path: Path) -> bool:
    tree = _parsed(path)
    return tree is not None and "build_model" in _top_names(tree)


def _top_names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def _parsed(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _broken(path: Path) -> bool:
    """Whether a file of a script's name is there and cannot be parsed: loading it will say why."""
    return path.is_file() and _parsed(path) is None
