"""Finding a bundled file: what is missing costs a look, never the window."""

from __future__ import annotations

from pathlib import Path

import landscope_resources


def find(name: str) -> Path | None:
    """The file or folder ``name`` of the resources, None where it is missing."""
    try:
        return landscope_resources.path(name)
    except FileNotFoundError:
        return None
