"""Finding an action by a few letters, without Qt."""

from __future__ import annotations


def score(query: str, text: str) -> int:
    """How well the letters of ``query`` occur in order in ``text``: 0 = they do not, more is better.

    Letters that follow each other and letters that begin a word count more.
    """
    wanted = [c for c in query.casefold() if not c.isspace()]
    found, at, last = 0, 0, -2
    low = text.casefold()
    for letter in wanted:
        at = low.find(letter, at)
        if at < 0:
            return 0
        begins = at == 0 or not low[at - 1].isalnum()
        found += 1 + (3 if at == last + 1 else 0) + (2 if begins else 0)
        last, at = at, at + 1
    return found if wanted else 1
