"""Tables for spreadsheets: tab-separated lines with a head."""

from __future__ import annotations

import math
from collections.abc import Iterable


def number(value: float) -> str:
    """As many digits as it takes to read the same number; empty where there is none."""
    return repr(value) if math.isfinite(value) else ""


def lines(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """The head, then the rows."""
    return "\n".join("\t".join(map(_plain, row)) for row in (head, *rows)) + "\n"


def _plain(cell: str) -> str:
    """Without what would begin another cell or line."""
    return " ".join(cell.split()) if set("\t\r\n") & set(cell) else cell
