"""Folders whose scripts may run, as the person said, remembered in their configuration folder."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from pathlib import Path

import platformdirs

from landscope.contract.errors import TrustError
from landscope.contract.options import ProjectSpec


def config_folder() -> Path:
    """Where Landscope remembers things for this person; ``LANDSCOPE_CONFIG_DIR`` overrides it."""
    chosen = os.environ.get("LANDSCOPE_CONFIG_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_config_dir("landscope", appauthor=False))


def home_folder() -> Path:
    """The person's home folder; one that does not exist for a user without any."""
    return Path(os.path.expanduser("~")).resolve()  # noqa: PTH111  Path.home() raises


def trusted_roots() -> tuple[str, ...]:
    """Absolute paths of the trusted folders, sorted. An unreadable list is empty: trust is never guessed."""
    try:
        stored = json.loads(_file().read_text(encoding="utf-8"))
        return tuple(sorted(root for root in stored["trusted"] if isinstance(root, str)))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def is_trusted(root: str | Path) -> bool:
    """Whether scripts in this folder may run: the folder itself or one above it was trusted.

    A folder where everything is put, such as the home folder, is trusted for what lies directly in it.
    """
    path = Path(root).resolve()
    return _is_sample(path) or any(_reaches(Path(one), path) for one in trusted_roots())


def code_folders(project: ProjectSpec) -> tuple[str, ...]:
    """Folders whose code a project runs: its own, and that of its script where that lies elsewhere."""
    root = Path(project.root).resolve()
    folder = Path(project.script).resolve().parent if project.script else root
    return (str(root),) if _reaches(root, folder) else (str(root), str(folder))


def may_run(project: ProjectSpec) -> bool:
    """Whether every folder whose code the project runs is trusted."""
    return all(map(is_trusted, code_folders(project)))


def trust(*roots: str | Path) -> None:
    """Remember that scripts in these folders may run.

    Raises:
        TrustError: it cannot be remembered.
    """
    _write({*trusted_roots(), *(str(Path(root).resolve()) for root in roots)})


def revoke(*roots: str | Path) -> tuple[str, ...]:
    """Forget the trust in these folders, with that in folders above and below them; what was forgotten.

    Raises:
        TrustError: it cannot be written, or the folder is part of Landscope.
    """
    paths = [Path(root).resolve() for root in roots]
    if any(map(_is_sample, paths)):
        raise TrustError("The sample is a part of Landscope: the trust in it cannot be taken back.")
    known = trusted_roots()
    lost = tuple(one for one in known if any(_related(Path(one), path) for path in paths))
    _write(set(known) - set(lost))
    return lost


def _reaches(trusted: Path, folder: Path) -> bool:
    return trusted == folder or (trusted in folder.parents and trusted not in _common())


def _related(one: Path, other: Path) -> bool:
    return one == other or one in other.parents or other in one.parents


def _common() -> set[Path]:
    """Folders that hold things of many authors: trust in one of them says nothing about folders in it."""
    home = home_folder()
    inside = (home / name for name in ("Downloads", "Desktop", "Documents"))
    return {Path(home.anchor), home, home.parent, *inside, Path(tempfile.gettempdir()).resolve()}


def _file() -> Path:
    return config_folder() / "trust.json"


def _write(roots: set[str]) -> None:
    target = _file()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_suffix(".tmp")
        fresh.write_text(
            json.dumps({"trusted": sorted(roots)}, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        fresh.replace(target)
    except OSError as error:
        raise TrustError(f"The trust in a folder cannot be stored in {target}: {error.strerror}.") from error


def _is_sample(path: Path) -> bool:
    """Whether the folder is the sample project, which is part of Landscope itself."""
    found = importlib.util.find_spec("landscope_resources")
    if found is None or not found.origin:
        return False
    sample = Path(found.origin).resolve().parent / "sample"
    return path == sample or sample in path.parents
