"""Names of parameters and of files: prefixes that wrappers add, buffers, numbers and natural order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from landscope.checkpoints.records import TensorRecord

_WRAPPERS = re.compile(r"(?:_orig_mod|_forward_module|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
_PARAMETRISATIONS = (
    (re.compile(r"parametrizations\.(\w+)\.original0$"), r"\1_g"),
    (re.compile(r"parametrizations\.(\w+)\.original1$"), r"\1_v"),
    (re.compile(r"parametrizations\.(\w+)\.original$"), r"\1_orig"),
    (re.compile(r"parametrizations\.(\w+)\.0\._([uv])$"), r"\1_\2"),
)
_MODULE_PART = re.compile(r"(?:(?<=\.)|^)module\.")
_BUFFER_NAMES = ("running_mean", "running_var", "num_batches_tracked", "position_ids")
_SUFFIX = re.compile(r"(\.(pt|pth|ckpt|bin|safetensors|tar|pkl|pickle|th|gz|index|json))+$", re.IGNORECASE)
_STEP = re.compile(
    r"(?:^|[^a-z])(?:global[-_]?step|steps?|iterations?|iters?|it|checkpoint)[-_=]?(\d+)", re.IGNORECASE
)
_EPOCH = re.compile(r"(?:^|[^a-z])(?:epochs?|ep|e)[-_=]?(\d+)", re.IGNORECASE)
_SHORT_STEP = re.compile(r"(?:^|[-_])s(\d+)", re.IGNORECASE)
_SPECIAL = re.compile(r"(?:^|[^a-z])(best|last|final|latest|newest|current)(?:[^a-z]|$)", re.IGNORECASE)
_INIT = re.compile(
    r"(?:^|[^a-z])(init|initial|initialisation|initialization|start|untrained)(?:[^a-z]|$)", re.IGNORECASE
)


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


def plain_names(names: Iterable[str]) -> Spelling | None:
    """Names without wrappers, parametrisations in their old spelling; None if two would become one."""
    bare, removed = without_wrappers(names)
    return _spelled(bare, removed)


def unwrapped_names(names: Iterable[str]) -> Spelling | None:
    """As ``plain_names``, and ``module.`` is removed wherever it stands; None if two would become one."""
    bare, removed = without_wrappers(names)
    shorter = {key: _MODULE_PART.sub("", name) for key, name in bare.items()}
    return _spelled(shorter, removed if shorter == bare else tuple(dict.fromkeys((*removed, "module."))))


def _spelled(bare: Mapping[str, str], removed: tuple[str, ...]) -> Spelling | None:
    plain = {key: plain_parametrisation(name) for key, name in bare.items()}
    if len(set(plain.values())) < len(plain):
        return None
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


def stem_of(name: str) -> str:
    """A checkpoint's name without its suffixes; the folder's name for ``checkpoint-10/model.safetensors``."""
    path = PurePosixPath(name)
    return _SUFFIX.sub("", path.parts[0] if len(path.parts) > 1 else path.name)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which ``epoch_2`` comes before ``epoch_10``."""
    parts = re.split(r"(\d+)", name.lower())
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part)


def step_in(name: str) -> int | None:
    """The step that a name states (``step_100``, ``checkpoint-9``, ``ckpt_e1_s50``)."""
    return (
        _number(_STEP, stem_of(name)) if _STEP.search(stem_of(name)) else _number(_SHORT_STEP, stem_of(name))
    )


def epoch_in(name: str) -> int | None:
    """The epoch that a name states (``epoch=3``, ``ep12``)."""
    return _number(_EPOCH, stem_of(name))


def only_number_in(name: str) -> int | None:
    """The number of a name that has exactly one (``model_20``)."""
    numbers = re.findall(r"\d+", stem_of(name))
    return int(numbers[0]) if len(numbers) == 1 else None


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.findall(text)
    return int(found[-1]) if found else None


def is_special(name: str) -> bool:
    """Whether the name is one of ``best``, ``last``, ``final``: a copy of some other checkpoint."""
    return bool(_SPECIAL.search(stem_of(name)))


def is_initial(name: str) -> bool:
    """Whether the name says that the file holds the initialisation."""
    return bool(_INIT.search(stem_of(name)))
