"""Names from files in sentences: few, short, and without characters that a terminal would obey."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST = 120
_LONGEST_CLAUSE = 1000


def shown(text: str, longest: int = _LONGEST) -> str:
    """The text as it may be shown: control characters escaped, the middle of a long one left out."""
    return _shortened(printable(_shortened(text, longest)), longest)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest // 2]}…{text[-(longest // 2) :]}"


def clause(text: str) -> str:
    """A clause about a file as it may be shown."""
    return shown(text, _LONGEST_CLAUSE)


def printable(text: str) -> str:
    """The text with control characters escaped."""
    return text if text.isprintable() else "".join(_printable(c) for c in text)


def _printable(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def some(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown(name) for name in names[:most]) + more


def counted(number: int, noun: str) -> str:
    """``1 entry``, ``2 entries``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else plural}"
