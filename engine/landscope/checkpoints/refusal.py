"""Why no mapping of a file fits a model, in one sentence that names what is missing or both shapes."""

from __future__ import annotations

import re

from landscope.checkpoints.fit import Fit
from landscope.checkpoints.reference import Reference

_PARAMETRISED = re.compile(r"(\.parametrizations\.\w+\.original\d?|_orig|_g)$")


def refusal(file: str, best: Fit | None, reference: Reference) -> str:
    """The sentence for a file whose closest mapping is ``best`` (None = it has none)."""
    if best is None:
        return f"{file}: no weights found"
    if best.wrong:
        name, actual, wanted = best.wrong[0]
        more = f" (and {len(best.wrong) - 1} more)" if len(best.wrong) > 1 else ""
        return f"{file}: {name} has shape {actual}, the model wants {wanted}{more}"
    if not best.tensors:
        return f"{file}: none of its {len(best.candidate.tensors)} tensors has a name that the model knows"
    total = len(reference.parameters)
    missing = f"{len(best.missing)} of {total} parameters of the model are missing: {some(best.missing)}"
    return f"{file}: {missing}{_explanation(best)}"


def _explanation(best: Fit) -> str:
    """What the file has in place of what is missing."""
    norm = [name for name in best.unused if _PARAMETRISED.search(name)]
    if norm:
        return f"; the file has {some(tuple(norm))}: parametrise the model likewise (weight or spectral norm)"
    if any(_PARAMETRISED.search(name) for name in best.missing):
        return "; the model is parametrised (weight or spectral norm), the file is not"
    return f"; the file has {some(best.unused)} in place" if best.unused else ""


def counted(number: int, noun: str) -> str:
    """``1 entry``, ``2 entries``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else plural}"


def some(names: tuple[str, ...], most: int = 3) -> str:
    """The first names, and how many more."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
