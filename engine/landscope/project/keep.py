"""Keeping a person's choices in ``landscope.toml``: the rest of the file stays as somebody wrote it."""

from __future__ import annotations

import re
from pathlib import Path

from landscope.contract.errors import OptionError
from landscope.contract.options import ProjectSpec
from landscope.project.spec import FILE, as_toml, save_project

_KEPT = ("script", "arguments", "weights")


def keep_choices(spec: ProjectSpec) -> Path:
    """Write script, arguments and weights into the project's ``landscope.toml``, making it if need be.

    Raises:
        OptionError: it cannot be read or written.
    """
    target = Path(spec.root) / FILE
    if not target.exists():
        return save_project(spec)
    try:
        text = target.read_text(encoding="utf-8")
        target.write_text(_with_choices(text, spec), encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"The choice could not be kept in {target}: {error}.") from error
    return target


def _with_choices(text: str, spec: ProjectSpec) -> str:
    """The text with the choices at its top level, above the first table."""
    found = re.search(r"^[ \t]*\[", text, flags=re.M)
    head, rest = (text[: found.start()], text[found.start() :]) if found else (text, "")
    for name in _KEPT:
        head = re.sub(rf"^{name}\s*=\s*(\[[^\]]*\]|[^\n]*)\n?", "", head, flags=re.M)
    lines = [line for line in as_toml(spec).splitlines() if line.partition(" ")[0] in _KEPT]
    return "\n".join([*lines, head.strip("\n")]).strip("\n") + "\n" + (f"\n{rest}" if rest else "")
