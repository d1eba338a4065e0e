"""A project's description: which script, which runs, which options; found in a folder or in ``landscope.toml``."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from landscope.checkpoints.discover import checkpoint_files
from landscope.contract.errors import CheckpointError, LandscopeError, OptionError
from landscope.contract.options import ProjectSpec
from landscope.project.trust import is_trusted

FILE = "landscope.toml"
_SCRIPTS = ("landscope_project.py", "project.py", "model.py")
_DEPTH = 3
_TABLES = ("engine", "data", "saturation", "distance", "landscape")
_SKIPPED = ("__pycache__", "node_modules", "site-packages")


def load_project(path: str | Path) -> ProjectSpec:
    """The project at a folder, a script, a ``landscope.toml``, or the word ``sample``.

    In a folder without ``landscope.toml`` the script is ``landscope_project.py``, ``project.py``, ``model.py``
    or the only file that defines ``build_model`` (nothing is run to find out); the runs are the sub-folders, down
    to three levels, that hold checkpoint files. A folder that only has checkpoints has no script.

    Raises:
        OptionError: nothing is there, or the file cannot be understood.
    """
    if str(path) == "sample":
        return _sample()
    place = Path(path).expanduser().resolve()
    if place.is_dir():
        listed = place / FILE
        return _from_file(listed) if listed.is_file() else _from_folder(place, _find_script(place))
    if not place.exists():
        raise OptionError(
            f"There is nothing at {place}; give a folder, a script, a {FILE}, or the word sample."
        )
    if place.suffix == ".toml":
        return _from_file(place)
    if place.suffix == ".py":
        return _from_script(place)
    raise OptionError(f"{place.name} is no project: give a folder, a Python script or a {FILE}.")


def save_project(spec: ProjectSpec) -> Path:
    """Write ``landscope.toml`` into the project's folder, replacing it at once; paths inside it are relative.

    Raises:
        OptionError: it cannot be written.
    """
    target = Path(spec.root) / FILE
    try:
        fresh = target.with_name(f".{FILE}.tmp")
        fresh.write_text(_as_toml(spec), encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror}.") from error
    return target


def run_name(folder: str | Path) -> str:
    """Name of a run: that of its folder."""
    return Path(folder).resolve().name


def run_names(spec: ProjectSpec) -> dict[str, str]:
    """Name to folder of every run, in order; folders of the same name are told apart by those above them."""
    named: dict[str, str] = {}
    for folder in spec.runs:
        parts = Path(folder).parts
        length = 1
        while _tail(parts, length) in {_tail(Path(o).parts, length) for o in spec.runs if o != folder}:
            length += 1
            if length > len(parts):
                break
        named[_tail(parts, length)] = folder
    return named


def run_folder(spec: ProjectSpec, run: str) -> str:
    """Folder of the run of that name.

    Raises:
        OptionError: there is none.
    """
    named = run_names(spec)
    if run not in named:
        known = ", ".join(named) or "none"
        raise OptionError(f"The project has no run {run!r}; its runs: {known}.")
    return named[run]


def _tail(parts: tuple[str, ...], length: int) -> str:
    return "/".join(parts[-length:])


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


def _find_script(folder: Path) -> str:
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


def _from_folder(root: Path, script: str) -> ProjectSpec:
    runs = find_runs(root)
    if not script and not runs:
        raise OptionError(f"{root} holds neither checkpoints nor a model script.")
    return ProjectSpec(root=str(root), script=script, runs=runs, trusted=is_trusted(root))


def _from_script(script: Path) -> ProjectSpec:
    spec = _from_folder(script.parent, str(script))
    return spec


def _from_file(file: Path) -> ProjectSpec:
    root = file.parent
    try:
        table: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        unknown = set(table) - {"script", "runs", *_TABLES}
        if unknown:
            raise OptionError(f"{file.name}: {sorted(unknown)[0]!r} is not an option of a project.")
        options = {name: table[name] for name in _TABLES if name in table}
        runs = table.get("runs")
        found = [str((root / run).resolve()) for run in runs] if runs is not None else list(find_runs(root))
        script = str((root / table["script"]).resolve()) if table.get("script") else ""
        content = {"root": str(root), "script": script, "runs": found, "trusted": is_trusted(root), **options}
        return msgspec.convert(content, ProjectSpec)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError, TypeError) as error:
        raise OptionError(f"{file.name}: {error}.") from error
    except OSError as error:
        raise OptionError(f"{file} cannot be read: {error.strerror}.") from error


def _sample() -> ProjectSpec:
    try:
        from landscope_resources import sample_project
    except ImportError as error:
        raise OptionError("The sample project is not installed; install landscope again.") from error
    found = sample_project()
    return found if isinstance(found, ProjectSpec) else load_project(found)


def _as_toml(spec: ProjectSpec) -> str:
    root = Path(spec.root)
    lines = [f"script = {_toml(_relative(spec.script, root))}"] if spec.script else []
    lines.append(f"runs = [{', '.join(_toml(_relative(run, root)) for run in spec.runs)}]")
    for name in _TABLES:
        chosen = getattr(spec, name)
        if chosen is None:
            continue
        default = type(chosen)()
        changed = {k: v for k, v in msgspec.structs.asdict(chosen).items() if v != getattr(default, k)}
        if changed:
            lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in changed.items())]
    return "\n".join(lines) + "\n"


def _relative(path: str, root: Path) -> str:
    try:
        return Path(path).relative_to(root).as_posix() or "."
    except ValueError:
        return path


def _toml(value: str | bool | int | float) -> str:
    """A value as TOML writes it; strings in quotes with the escapes that JSON and TOML share."""
    if isinstance(value, str):
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


__all__ = [
    "FILE",
    "LandscopeError",
    "find_runs",
    "load_project",
    "run_folder",
    "run_name",
    "run_names",
    "save_project",
]
