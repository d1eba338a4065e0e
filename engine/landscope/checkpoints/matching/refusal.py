"""Why no mapping of a file fits a model, in one sentence that names what is missing or both shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from landscope.checkpoints.matching.fit import Fit
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.records import TensorRecord, unreadable
from landscope.checkpoints.wording import shown, some

_PARAMETRISED = re.compile(r"(?:^|\.)(parametrizations\.\w+\.original\d?|\w+_orig|weight_g)$")
_ADAPTER = re.compile(r"\.lora_|\.hada_|\.ia3_|\.adapter_|^lora_")


def refusal(file: str, best: Fit | None, reference: Reference) -> str:
    """The sentence for a file whose closest mapping is ``best`` (None = it has none)."""
    if best is None:
        return f"{file}: no weights found"
    if best.unreadable:
        name, problem = best.unreadable[0]
        return f"{file}: {shown(name)} {problem}"
    why = why_no_model(best.candidate.tensors) or ("" if best.tensors else _first_problem(best))
    if why:
        return f"{file}: {why}"
    if best.wrong:
        return f"{file}: {_other_shapes(best)}"
    return f"{file}: {_missing(best, reference)}"


def _other_shapes(best: Fit, most: int = 3) -> str:
    clauses = [f"{n} has shape {actual}, the model wants {wanted}" for n, actual, wanted in best.wrong[:most]]
    more = f"; and {len(best.wrong) - most} more" if len(best.wrong) > most else ""
    return "; ".join(clauses) + more


def why_no_model(names: Iterable[str]) -> str:
    """Why tensors of these names are not the weights of a whole model, empty if they may be."""
    adapters = flat = others = 0
    for name in names:
        adapters += bool(_ADAPTER.search(name))
        flat += "_flat_param" in name
        others += 1
    if adapters and 2 * adapters >= others:
        return "adapter (LoRA) weights only: merge them into the model and save its state_dict()"
    if flat:
        return "flat parameters of FSDP: save the state dict with StateDictType.FULL_STATE_DICT"
    return ""


def _first_problem(best: Fit) -> str:
    """Why a tensor cannot be read in a file that knows no name of the model."""
    records = ((name, t) for name, t in best.candidate.tensors.items() if isinstance(t, TensorRecord))
    return next((f"{shown(name)} {why}" for name, t in records if (why := unreadable(t))), "")


def _missing(best: Fit, reference: Reference) -> str:
    if not best.tensors:
        return (
            f"no tensor has a name that the model knows; the file has {some(tuple(best.candidate.tensors))}"
        )
    total = len(reference.parameters)
    missing = f"{len(best.missing)} of {total} parameters of the model are missing: {some(best.missing)}"
    return missing + _explanation(best)


def _explanation(best: Fit) -> str:
    """What the file has in place of what is missing."""
    norm = [name for name in best.unused if _PARAMETRISED.search(name)]
    if norm:
        return f"; the file has {some(norm)}: parametrise the model likewise (weight or spectral norm)"
    if any(_PARAMETRISED.search(name) for name in best.missing):
        return "; the model is parametrised (weight or spectral norm), the file is not"
    return f"; the file has {some(best.unused)} instead" if best.unused else ""
