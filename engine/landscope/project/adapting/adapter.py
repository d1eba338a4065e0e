"""Writing ``landscope_project.py``: the file that says what to build from somebody's script."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from landscope.contract.errors import OptionError
from landscope.project.adapting.calls import Choice
from landscope.project.adapting.definitions import follow, visible
from landscope.project.adapting.text import adapter_text

FILE = "landscope_project.py"
_SEAL = "# As written by Landscope: "


def write_adapter(
    root: str | Path,
    script: str | Path,
    model: str,
    data: str = "",
    loss: str | None = None,
    *,
    force: bool = False,
    remarks: Sequence[str] = (),
) -> Path:
    """Write ``landscope_project.py`` into ``root``; nothing is run.

    Options that the chosen callables need are taken from the script's own parser or configuration where its
    text shows one; what remains unknown is written as ``None`` with a comment. A model that comes in a tuple
    with a criterion is unpacked, and the criterion is the loss.

    Args:
        root: folder of the project. script: the script that the names come from.
        model, data, loss: names at its top level (``find_candidates``), or ``other.py:name`` for a name of
            another file, by its path below ``root``. Empty ``data``: written as a function to be filled in.
        force: replace a file that somebody wrote or edited. remarks: comments for whoever reads it.

    Returns:
        the file.

    Raises:
        OptionError: a name is not there, or somebody's ``landscope_project.py`` is.
        ScriptError: a script cannot be parsed.
    """
    folder, path = Path(root).resolve(), Path(script).resolve()
    found = chosen(folder, path, model)
    source = chosen(folder, path, data) if data else None
    criterion = chosen(folder, path, loss) if loss else None
    return write_text(folder, adapter_text(folder, path, found, source, criterion, remarks), force=force)


def chosen(root: Path, script: Path, text: str) -> Choice:
    """What ``name`` or ``file.py:name`` means.

    Raises:
        OptionError: there is no such file or name. ScriptError: the file cannot be parsed.
    """
    file, colon, name = text.rpartition(":")
    path = (root / file).resolve() if colon else script
    if not path.is_file():
        raise OptionError(f"There is no file {path}.")
    if name not in visible(path, root):
        raise OptionError(f"{path.name} has no {name!r} at its top level.")
    return Choice(path, name, follow(path, name, root))


def write_text(root: Path, text: str, *, force: bool = False) -> Path:
    """Write the file, unless somebody wrote or edited the one that is there.

    Raises:
        OptionError: somebody did, or it cannot be written.
    """
    target = root / FILE
    if not force and target.exists() and not _is_untouched(target):
        raise OptionError(
            f"{target} is there already and was written or edited by somebody; "
            f"edit it, move it away, or replace it with landscope new-script --force."
        )
    try:
        target.write_text(f"{text}\n\n{_SEAL}{_digest(text)}\n", encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror}.") from error
    return target


def _is_untouched(target: Path) -> bool:
    text, _, seal = target.read_text(encoding="utf-8", errors="replace").rpartition(_SEAL)
    return seal.strip() == _digest(text.removesuffix("\n\n"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
