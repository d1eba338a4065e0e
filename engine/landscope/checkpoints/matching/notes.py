"""What was done to a file's weights so that they fit the model, a clause each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from landscope.checkpoints.files.mappings import dtype_of
from landscope.checkpoints.matching.fit import Fit
from landscope.checkpoints.matching.reference import Reference
from landscope.checkpoints.wording import counted, shown, some


def notes_on(sets: Sequence[Fit], names: Sequence[str], reference: Reference) -> Iterator[str]:
    """The clauses on the set that is used, which is the first, and on the others that fit.

    Args:
        sets: the sets of weights that fit. names: theirs, in the same order. reference: the model's.
    """
    yield from _on_names(sets[0])
    yield from _on_tensors(sets[0], reference)
    if sets[0].is_average:
        yield "these are averaged weights"
    averaged = [name for other, name in zip(sets[1:], names[1:], strict=True) if other.is_average]
    plain = [name for name in names[1:] if name not in averaged]
    if averaged:
        yield f"averaged weights are there too, under '{some(averaged)}'"
    if plain:
        yield f"other weights that fit are there too, under '{some(plain)}': choose the set of weights"


def _on_names(fit: Fit) -> Iterator[str]:
    if fit.candidate.path:
        yield f"weights taken from '{shown(fit.candidate.path)}'"
    lacking = fit.prefix.startswith("-")
    for prefix in (*fit.removed, *([fit.prefix] if fit.prefix and not lacking else [])):
        yield f"removed prefix {shown(prefix)}"
    if lacking:
        yield f"added prefix {fit.prefix[1:]}"
    if fit.renamed:
        yield "weight_norm names translated"


def _on_tensors(fit: Fit, reference: Reference) -> Iterator[str]:
    types = {name: dtype_of(tensor) for name, tensor in fit.tensors.items()}
    other = [f"{name} ({kind})" for name, kind in types.items() if kind != reference.dtypes.get(name, kind)]
    if other:
        yield f"{counted(len(other), 'tensor')} converted to the model's type: {some(other)}"
    if fit.missing_buffers:
        buffers = counted(len(fit.missing_buffers), "buffer")
        yield f"{buffers} missing, kept from the model: {some(fit.missing_buffers)}"
    if fit.unused and reference.parameters:  # a model without any ignores everything, and says so
        unused = counted(len(fit.unused), "entry")
        yield f"{unused} that the model does not have ignored: {some(fit.unused)}"
