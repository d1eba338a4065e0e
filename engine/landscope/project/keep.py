"""Keeping a person's choices in ``landscope.toml``: the rest of the file stays as somebody wrote it."""

from __future__ import annotations

import re
from pathlib import Path

from landscope.contract.errors import OptionError
from landscope.contract.options import ProjectSpec
from landscope.project.adapting.adapter import FILE as ADAPTER
from landscope.project.spec import FILE, as_toml

_KEPT = ("script", "arguments", "weights")


def keep_choices(spec: ProjectSpec) -> Path:
    """Write script, arguments and weights into the project's ``landscope.toml``, making it if need be.

    Raises:
        OptionError: it cannot be read or written.
    """
    target = Path(spec.root) / FILE
    try:
        text = target.read_text(encoding="utf-8") if target.exists() else ""
        if not text and _goes_without_saying(spec):
            return target
        fresh = target.with_name(f".{FILE}.tmp")
        fresh.write_text(_with_choices(text, spec), encoding="utf-8")
        fresh.replace(target)
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"The choice could not be kept in {target}: {error}.") from error
    return target


def _goes_without_saying(spec: ProjectSpec) -> bool:
    return Path(spec.script).name == ADAPTER and not spec.arguments and not spec.weights


def _with_choices(text: str, spec: ProjectSpec) -> str:
    """The text with the choices at its top level, above the first table."""
    found = re.search(r"^[ \t]*\[", text, flags=re.M)
    head, rest = (text[: found.start()], text[found.start() :]) if found else (text, "")
    for name in _KEPT:
        head = re.sub(rf"^{name}\s*=\s*(\[[^\]]*\]|[^\n]*)\n?", "", head, flags=re.M)
    lines = [line for line in as_toml(spec).splitlines() if line.partition(" ")[0] in _KEPT]
    return "\n".join([*lines, head.strip("\n")]).strip("\n") + "\n" + (f"\n{rest}" if rest else "")
