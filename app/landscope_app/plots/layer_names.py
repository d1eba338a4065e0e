"""Names of layers where room is short: every part keeps its beginning and its number."""

from __future__ import annotations

from collections.abc import Callable

ELLIPSIS = "…"


def fitted(name: str, room: float, width_of: Callable[[str], float]) -> str:
    """``name`` if it fits, else with its longest parts shortened in turn: ``enc…layer.11.att…out…dense``.

    Layers of deep models differ by the numbers in the middle of their names, which a cut there would hide.

    Args:
        name: parts joined by dots. room: the width there is. width_of: the width of a text.
    """
    parts = [_split(part) for part in name.split(".")]
    kept = [len(letters) for letters, _ in parts]
    while width_of(_joined(parts, kept)) > room and max(kept) > 1:
        kept[max(range(len(kept)), key=lambda k: kept[k])] -= 1
    for k, (letters, _) in enumerate(parts):
        whole = [*kept[:k], len(letters), *kept[k + 1 :]]
        if width_of(_joined(parts, whole)) <= room:
            kept = whole
    return _joined(parts, kept)


class FittedNames:
    """``fitted`` for something that is painted again and again: names are kept while the room is the same."""

    def __init__(self) -> None:
        self._room, self._made = 0.0, dict[str, str]()

    def fit(self, name: str, room: float, width_of: Callable[[str], float]) -> str:
        """The name as it fits; ``forget`` when the font changes."""
        if room != self._room:
            self.forget()
            self._room = room
        if name not in self._made:
            self._made[name] = fitted(name, room, width_of)
        return self._made[name]

    def forget(self) -> None:
        """Widths are others from now on."""
        self._made = {}


def _split(part: str) -> tuple[str, str]:
    """The letters that may go and the number at the end that stays."""
    letters = part.rstrip("0123456789#")
    return letters, part[len(letters) :]


def _joined(parts: list[tuple[str, str]], kept: list[int]) -> str:
    text = ""
    for k, ((letters, number), size) in enumerate(zip(parts, kept, strict=True)):
        cut = size < len(letters)
        text += f"{letters[:size]}{ELLIPSIS if cut else ''}{number}"
        last = k == len(parts) - 1
        text += "" if last or (cut and not number) else "."
    return text
