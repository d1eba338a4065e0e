"""Finding the script and the runs of a folder that has no ``landscope.toml``; nothing is run."""

from __future__ import annotations

import ast
import itertools
import os
from pathlib import Path

from landscope.checkpoints.file_names import natural_key
from landscope.checkpoints.files.sniff import is_likely
from landscope.checkpoints.folder import certainly, checkpoint_files
from landscope.contract.errors import CheckpointError
from landscope.project.trust import home_folder

_SCRIPTS = ("landscope_project.py", "project.py", "model.py")
_DEPTH = 3
_DEEPEST_RUN = 5
"""Trainers make ``runs/detect/train/weights`` and ``outputs/2024-05-01/12-30-00/checkpoints``."""
_SKIPPED = ("__pycache__", "node_modules", "site-packages")
_ROOTS = (".git", "pyproject.toml", "setup.py")
"""What lies in the outermost folder of a repository."""
_MOST_FOLDERS = 1000
_LARGEST = 2_000_000


def find_runs(root: str | Path) -> tuple[str, ...]:
    """Folders, down to five levels, that hold checkpoint files; the root itself if it does.

    Below a folder that holds several nothing is looked for; a single file, such as a pretrained model, hides
    no runs. Of a large tree only three levels are looked at. A link to a folder inside the root is passed
    over, since that is found itself.
    """
    level, found, looked = [Path(root)], list[Path](), 0
    for depth in range(_DEEPEST_RUN + 1):
        held = {folder: _two_checkpoints(folder) for folder in level}
        found += [folder for folder in level if held[folder]]
        taken = {
            above for paths in held.values() for path in paths for above in path.parents
        }  # ``checkpoint-10/`` is no run
        level = [
            child
            for folder in level
            if len(held[folder]) < 2
            for child in _subfolders(folder)
            if child not in taken
        ]
        level = [child for child in level if not _leads_back(child, Path(root))]
        looked += len(level)
        if depth >= _DEPTH and looked > _MOST_FOLDERS:
            break
    return tuple(map(str, sorted(found, key=lambda folder: [natural_key(part) for part in folder.parts])))


def _leads_back(folder: Path, root: Path) -> bool:
    """Whether it is a link to a folder inside the root, or to one that the root is in."""
    if not folder.is_symlink():
        return False
    target, root = folder.resolve(), root.resolve()
    return target.is_relative_to(root) or root.is_relative_to(target)


def _two_checkpoints(folder: Path) -> list[Path]:
    """The first files of a folder that are likely to be checkpoints, two at most."""
    try:
        return list(itertools.islice(filter(is_likely, checkpoint_files(folder)), 2))
    except (CheckpointError, OSError):
        return []


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            names = [c.name for c in found if not c.name.startswith(".") and certainly(c.is_dir)]
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name not in _SKIPPED]


def find_scripts(root: str | Path) -> tuple[str, ...]:
    """What could be the model script: the folder's own, else those of the nearest level below that has some.

    In each folder a script with one of the usual names wins; else all that define ``build_model`` are given.
    """
    level = [Path(root)]
    found = _scripts_in(level[0]) or _broken_in(level[0])
    looked = 0
    for _ in range(_DEPTH):
        if found or looked > _MOST_FOLDERS:
            break
        level = [child for folder in level for child in _subfolders(folder)]
        looked += len(level)
        found = [script for folder in level[:_MOST_FOLDERS] for script in _scripts_in(folder)]
    return tuple(map(str, found))


def project_folder(script: Path) -> Path:
    """Folder of the project that a script belongs to.

    The nearest one above it, up to the root of its repository or package, that has a ``landscope.toml``; else
    its own folder if runs are there; else that root if runs are there.
    """
    folders = [script.parent, *_above(script.parent)]
    described = next((folder for folder in folders if (folder / "landscope.toml").is_file()), None)
    if described or find_runs(script.parent):
        return described or script.parent
    return next((folder for folder in folders if find_runs(folder)), script.parent)


def _above(folder: Path) -> list[Path]:
    """Folders above, up to the root of the repository or of the outermost package; none if in neither."""
    above: list[Path] = []
    last = 0
    home = home_folder()
    while folder != folder.parent and folder != home and not _is_repository(folder):
        in_package = (folder / "__init__.py").is_file()
        folder = folder.parent
        above.append(folder)
        if in_package or (_is_repository(folder) and folder != home):
            last = len(above)
    return above[:last]


def _is_repository(folder: Path) -> bool:
    return any((folder / name).exists() for name in _ROOTS)


def _scripts_in(folder: Path) -> list[Path]:
    """The folder's script by its usual name, else all files that define ``build_model``."""
    for name in _SCRIPTS:
        if (folder / name).is_file() and (name == _SCRIPTS[0] or _defines_model(folder / name)):
            return [folder / name]
    try:
        return [path for path in sorted(folder.glob("*.py")) if _defines_model(path)]
    except OSError:
        return []


def _broken_in(folder: Path) -> list[Path]:
    """A file of a script's name that cannot be parsed: loading it will say why."""
    named = (folder / name for name in _SCRIPTS)
    return [path for path in named if path.is_file() and _parsed(path) is None][:1]


def _defines_model(path: Path) -> bool:
    tree = _parsed(path) if _mentions_model(path) else None
    return tree is not None and "build_model" in _top_names(tree)


def _mentions_model(path: Path) -> bool:
    """Whether the word is there at all: parsing every file of a large tree would take long."""
    try:
        return path.stat().st_size <= _LARGEST and b"build_model" in path.read_bytes()
    except OSError:
        return False


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
