"""Names of tensors: prefixes that wrappers add, parametrisations, and which are buffers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from landscope.checkpoints.records import TensorRecord

_WRAPPERS = re.compile(r"(?:_orig_mod|_forward_module|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
_PARAMETRISATIONS = (
    (re.compile(r"parametrizations\.(\w+)\.original0$"), r"\1_g"),
    (re.compile(r"parametrizations\.(\w+)\.original1$"), r"\1_v"),
    (re.compile(r"parametrizations\.(\w+)\.original$"), r"\1_orig"),
    (re.compile(r"parametrizations\.(\w+)\.0\._([uv])$"), r"\1_\2"),
)
_USUAL = ("module.", "model.", "net.", "network.", "backbone.")
_MODULE_PART = re.compile(r"(?:(?<=\.)|^)module\.")
_BUFFER_NAMES = ("running_mean", "running_var", "num_batches_tracked", "position_ids")


@dataclass(frozen=True)
class Spelling:
    """Names of tensors brought into one spelling.

    Attributes:
        names: original to bare name. removed: the wrappers' prefixes that were removed.
        translated: original names in which a parametrisation was renamed.
    """

    names: Mapping[str, str]
    removed: tuple[str, ...]
    translated: frozenset[str]


def plain_names(names: Iterable[str]) -> Spelling:
    """Names without wrappers, parametrisations in their old spelling; as they are if two would become one."""
    bare, removed = without_wrappers(names)
    return _spelled(bare, removed)


def unwrapped_names(names: Iterable[str]) -> Spelling:
    """As ``plain_names``, and ``module.`` is removed wherever it stands; as they are if two would be one."""
    bare, removed = without_wrappers(names)
    shorter = {key: without_module(name) for key, name in bare.items()}
    return _spelled(shorter, removed if shorter == bare else tuple(dict.fromkeys((*removed, "module."))))


def without_module(name: str) -> str:
    """The name without ``module.``, wherever it stands."""
    return _MODULE_PART.sub("", name)


def _spelled(bare: Mapping[str, str], removed: tuple[str, ...]) -> Spelling:
    plain = {key: plain_parametrisation(name) for key, name in bare.items()}
    if len(set(plain.values())) < len(plain):
        return Spelling({key: key for key in bare}, (), frozenset())
    return Spelling(plain, removed, frozenset(key for key, name in plain.items() if name != bare[key]))


def without_wrappers(names: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Names as the bare model has them: wrappers of compile, FSDP and Fabric, and DDP's ``module.``, removed.

    Returns:
        original to bare name, and the prefixes that were removed.
    """
    bare = {name: _WRAPPERS.sub("", name) if "_" in name else name for name in names}
    removed = sorted({match for key, name in bare.items() if key != name for match in _WRAPPERS.findall(key)})
    while bare and all(name.startswith("module.") for name in bare.values()):
        bare = {key: name.removeprefix("module.") for key, name in bare.items()}
        removed.append("module.")
    return bare, tuple(dict.fromkeys(removed))


def bare_names(names: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """As ``without_wrappers``, without the usual names of a network in a trainer's class, too (``model.``).

    For files of which no model is known: those of one run may have such a prefix or not.

    Returns:
        original to bare name, and the prefixes that were removed.
    """
    bare, removed = without_wrappers(names)
    while shared := _shared_prefix(bare.values()):
        bare = {key: name.removeprefix(shared) for key, name in bare.items()}
        removed = (*removed, shared)
    return bare, tuple(dict.fromkeys(removed))


def _shared_prefix(names: Collection[str]) -> str:
    return next((p for p in _USUAL if names and all(name.startswith(p) for name in names)), "")


def plain_parametrisation(name: str) -> str:
    """One spelling for weight and spectral norm: ``parametrizations.weight.original0`` is ``weight_g``."""
    if "parametrizations." not in name:
        return name
    for pattern, old in _PARAMETRISATIONS:
        name = pattern.sub(old, name)
    return name


def looks_like_buffer(name: str, integer: bool) -> bool:
    """Whether an entry is a buffer, told without a model: BatchNorm statistics and all integers."""
    return integer or name.rsplit(".", 1)[-1] in _BUFFER_NAMES


def parameters_of(tensors: Mapping[str, TensorRecord]) -> tuple[str, ...]:
    """Names of the entries that look like parameters, in file order."""
    return tuple(name for name, record in tensors.items() if not looks_like_buffer(name, record.is_integer))
