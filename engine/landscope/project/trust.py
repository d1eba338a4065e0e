"""Folders whose scripts may run, as the person said, remembered in their configuration folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

import platformdirs

from landscope.contract.errors import TrustError


def config_folder() -> Path:
    """Where Landscope remembers things for this person; ``LANDSCOPE_CONFIG_DIR`` overrides it."""
    chosen = os.environ.get("LANDSCOPE_CONFIG_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_config_dir("landscope", appauthor=False))


def trusted_roots() -> tuple[str, ...]:
    """Absolute paths of the trusted folders, sorted. An unreadable list is empty: trust is never guessed."""
    try:
        stored = json.loads(_file().read_text(encoding="utf-8"))
        return tuple(sorted(root for root in stored["trusted"] if isinstance(root, str)))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def is_trusted(root: str | Path) -> bool:
    """Whether scripts in this folder may run: the folder itself or one above it was trusted."""
    path = Path(root).resolve()
    known = {Path(one) for one in trusted_roots()}
    return _is_sample(path) or any(folder in known for folder in (path, *path.parents))


def trust(root: str | Path) -> None:
    """Remember that scripts in this folder may run.

    Raises:
        TrustError: it cannot be remembered.
    """
    _write({*trusted_roots(), str(Path(root).resolve())})


def revoke(root: str | Path) -> None:
    """Forget the trust in this folder.

    Raises:
        TrustError: it cannot be written.
    """
    _write(set(trusted_roots()) - {str(Path(root).resolve())})


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
    try:
        import landscope_resources
    except ImportError:
        return False
    sample = (
        (Path(landscope_resources.__file__).resolve().parent / "sample")
        if landscope_resources.__file__
        else None
    )
    return sample is not None and (path == sample or sample in path.parents)
