"""``landscope info`` and ``landscope export``: what a session or a checkpoint holds; data as files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from landscope.cli.output import may_be_session
from landscope.contract.errors import CheckpointError, OptionError
from landscope.export.data import export_csv, export_npz
from landscope.export.summary import summary
from landscope.session.read import read

_ENDINGS = (".h5", ".hdf5")
_WRITERS = {"csv": export_csv, "npz": export_npz}


def info(options: argparse.Namespace) -> int:
    """Print what a session, a checkpoint or a folder of checkpoints holds; returns the exit code."""
    if not _is_session(options.path):
        return _info_of_checkpoints(options.path, options.json)
    found = summary(read(options.path))
    print(json.dumps(found, indent=2, allow_nan=False) if options.json else as_text(found))
    return 0


def _is_session(path: Path) -> bool:
    return path.suffix.lower() in _ENDINGS or not path.exists() or may_be_session(path)


def _info_of_checkpoints(path: Path, as_json: bool) -> int:
    from landscope.cli.checkpoints import as_facts, as_lines, listed

    runs = listed(path)
    print(json.dumps(as_facts(runs), indent=2) if as_json else "\n".join(as_lines(runs)))
    if not any(run.checkpoints for run in runs):
        raise CheckpointError(f"Nothing at {path} can be used as a checkpoint.")
    return 0


def export(options: argparse.Namespace) -> int:
    """Write CSV and NPZ files, print their names; returns the exit code."""
    formats = [word.strip() for word in options.format.split(",")]
    for word in formats:
        if word not in _WRITERS:
            raise OptionError(f"--format does not know “{word}”; it takes csv, npz or csv,npz.")
    session = read(options.path)
    _make_folder(options.output)
    for word in formats:
        for path in _WRITERS[word](session, options.output):
            print(path)
    return 0


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"The folder {folder} cannot be made: {error.strerror}.") from error


def as_text(value: Any, indent: int = 0) -> str:
    """Nested facts as indented lines."""
    pad = "  " * indent
    if isinstance(value, dict):
        return "\n".join(_entry(pad, key, item, indent) for key, item in value.items())
    if isinstance(value, list):
        return "\n".join(f"{pad}- {as_text(item, indent + 1).lstrip()}" for item in value)
    return f"{pad}{value}"


def _entry(pad: str, key: str, item: Any, indent: int) -> str:
    if isinstance(item, dict | list) and item:
        return f"{pad}{key}:\n{as_text(item, indent + 1)}"
    text = str(item)
    return f"{pad}{key}: {text if chr(10) not in text else f'({len(text.splitlines())} lines)'}"
