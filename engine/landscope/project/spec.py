"""A project's description: its script, runs and options, found in a folder or in ``landscope.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from landscope.contract import limits, options
from landscope.contract.errors import OptionError
from landscope.contract.frames import escaped
from landscope.contract.options import ProjectSpec
from landscope.project.find import find_runs, find_scripts, project_folder
from landscope.project.trust import may_run

FILE = "landscope.toml"
_TABLES: dict[str, type[msgspec.Struct]] = {
    "engine": options.EngineOptions,
    "data": options.DataOptions,
    "saturation": options.SaturationOptions,
    "distance": options.DistanceOptions,
    "landscape": options.LandscapeOptions,
}
_OWN = ("arguments", "weights")


def load_project(path: str | Path) -> ProjectSpec:
    """The project at a folder, a script, a ``landscope.toml``, or the word ``sample``.

    In a folder without ``landscope.toml`` the script is ``landscope_project.py``, ``project.py``,
    ``model.py`` or the only file that defines ``build_model`` (nothing is run to find out), else the only one
    of the nearest level of sub-folders; the runs are the sub-folders, down to five levels, that hold
    checkpoint files. A script's runs may also lie elsewhere in its package or repository.
    Without a script there are only distances.

    Raises:
        OptionError: nothing is there, or the file cannot be understood.
    """
    spec = _sample() if str(path) == "sample" else _described(path)
    return msgspec.structs.replace(spec, trusted=may_run(spec))


def _described(path: str | Path) -> ProjectSpec:
    place = Path(path).expanduser().resolve()
    if escaped(str(place)) != str(place):
        raise OptionError(f"{escaped(str(place))}: the name of this place is not UTF-8; rename it.")
    if place.is_dir():
        listed = place / FILE
        return _from_file(listed) if listed.is_file() else _from_folder(place)
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
        fresh.write_text(as_toml(spec), encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror}.") from error
    return target


def run_name(folder: str | Path) -> str:
    """Name of a run: that of its folder."""
    return Path(folder).name or "run"


def run_names(spec: ProjectSpec) -> dict[str, str]:
    """Name to folder of every run, in order; folders of the same name are told apart by those above them."""
    named: dict[str, str] = {}
    for folder in spec.runs:
        rivals = [other for other in spec.runs if other != folder]
        length = 1
        while length < len(Path(folder).parts) and _tail(folder, length) in {
            _tail(r, length) for r in rivals
        }:
            length += 1
        named[_tail(folder, length)] = folder
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


def _tail(folder: str, length: int) -> str:
    """The last parts of a path, as a name without slashes."""
    return "-".join(Path(folder).parts[-length:]) if length > 1 else run_name(folder)


def _from_folder(root: Path, script: str = "") -> ProjectSpec:
    runs = find_runs(root)
    scripts = (script,) if script else find_scripts(root)
    if not scripts and not runs:
        raise OptionError(f"{root} holds neither checkpoints nor a model script.")
    if len(scripts) > 1 and not runs:
        some = ", ".join(str(Path(path).relative_to(root)) for path in scripts[:3])
        raise OptionError(f"{root} holds {len(scripts)} scripts that define build_model; open one: {some}.")
    only = scripts[0] if len(scripts) == 1 else ""
    return ProjectSpec(root=str(root), script=only, runs=runs)


def _from_script(script: Path) -> ProjectSpec:
    """The project that the script belongs to, with this script whatever its ``landscope.toml`` says."""
    root = project_folder(script)
    if (root / FILE).is_file():
        return msgspec.structs.replace(_from_file(root / FILE), script=str(script))
    return _from_folder(root, str(script))


def _from_file(file: Path) -> ProjectSpec:
    root = file.parent
    try:
        table: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        _check_names(file, table)
        project = msgspec.convert(_content(root, table), ProjectSpec)
        limits.check(project)
        return project
    except OptionError as error:
        raise OptionError(f"{file.name}: {error.sentence}") from error
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError, TypeError) as error:
        raise OptionError(f"{file.name}: {error}.") from error
    except OSError as error:
        raise OptionError(f"{file} cannot be read: {error.strerror}.") from error


def _content(root: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Fields of the project, with absolute paths. Trust is never taken from the file itself."""
    runs = table.get("runs")
    return {
        **{name: table[name] for name in _TABLES if name in table},
        "root": str(root),
        "script": str((root / table["script"]).resolve()) if table.get("script") else "",
        "runs": find_runs(root) if runs is None else [str((root / run).resolve()) for run in runs],
        **{name: table[name] for name in _OWN if name in table},
    }


def _check_names(file: Path, table: dict[str, Any]) -> None:
    """Misspelt options are told, never ignored."""
    known = {name: set(kind.__struct_fields__) for name, kind in _TABLES.items()}
    unknown = [name for name in table if name not in ("script", "runs", *_OWN, *known)]
    for name in set(table) & set(known):
        if isinstance(table[name], dict):
            unknown += [f"{name}.{key}" for key in table[name] if key not in known[name]]
    if unknown:
        raise OptionError(f"{file.name}: {unknown[0]!r} is not an option of a project.")


def _sample() -> ProjectSpec:
    try:
        import landscope_resources

        find: Callable[[], str | Path | ProjectSpec] = landscope_resources.sample_project  # type: ignore[attr-defined,unused-ignore]
    except (ImportError, AttributeError) as error:
        raise OptionError("The sample project is not installed; install landscope again.") from error
    found = find()
    return found if isinstance(found, ProjectSpec) else load_project(found)


def as_toml(spec: ProjectSpec) -> str:
    """The text of a ``landscope.toml`` that says what differs from the defaults."""
    root = Path(spec.root)
    lines = [f"script = {_toml(_relative(spec.script, root))}"] if spec.script else []
    lines.append(f"runs = [{', '.join(_toml(_relative(run, root)) for run in spec.runs)}]")
    if spec.arguments:
        lines.append(f"arguments = [{', '.join(map(_toml, spec.arguments))}]")
    if spec.weights:
        lines.append(f"weights = {_toml(spec.weights)}")
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
