"""Where in a file the weights may be: mappings of names to tensors at any depth."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from landscope.checkpoints.files.header import Header
from landscope.checkpoints.files.progress import find_progress as find_progress
from landscope.checkpoints.files.stored_tensors import LONGEST_NAME, as_tensor, module_tensors
from landscope.checkpoints.files.stored_tensors import Weights as Weights
from landscope.checkpoints.pickles.foreign import Foreign, entries
from landscope.checkpoints.pickles.rebuilt import without_data
from landscope.checkpoints.records import TensorRecord
from landscope.checkpoints.wording import shown, some

_MAX_DEPTH = 8
_MAX_VISITS = 200_000
_MAX_ENTRIES = 200_000
_LONGEST_KEY = 100
_LARGEST_KEY = 1 << 63
_MOST_IN_A_LIST = 1000
_NOT_MODELS = re.compile(
    r"(^|_)(optim\w*|opts?|sched\w*|lr_\w*sched\w*|\w*scaler|scaler_\w+|rng\w*|\w*rng_states?\w*|criterion"
    r"|loss_fn|callbacks?_states?|exp_avg\w*|momentum_buffer|param_groups|args|hyper_parameters)$",
    re.IGNORECASE,
)
_OPTIMISER_NAMES = {
    *("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "exp_inf", "momentum_buffer", "square_avg", "grad_avg"),
    *("acc_delta", "sum", "step", "prev", "step_size", "acc", "eta", "mu", "ax"),
}
_AVERAGED = re.compile(
    r"(?<![A-Za-z])([Ee]ma|[Ss]wa|[Pp]olyak|[Aa]vg_?([Mm]odel|[Nn]et|[Ww]eight|[Pp]aram|[Ss]tate))(?![a-z])"
    r"|(?<![A-Z])(EMA|SWA)(?![A-Z]{2})|(?<=[a-z])(Ema|Swa)(?![a-z])|[Aa]verag|[Ss]hadow"
)
_PREFERRED = ("state_dict", "model_state_dict", "model_state", "model", "module", "net", "network", "weights")
_LAYERS = re.compile(r"(^|\.)(weight|bias)")
_JOINT = " + "
AVERAGES = "n_averaged"
"""Where torch's averages of models count what went into them."""
_DEEPSPEED = frozenset(("ds_version", "ds_config", "param_shapes", "dp_world_size", "mp_world_size"))


@dataclass(frozen=True)
class Candidate:
    """One mapping of a file that may be the model's weights.

    Attributes:
        path: keys that lead to it, joined by dots; empty = the file itself.
        tensors: name to record (or NumPy array, which tensors of some devices are stored as).
        extras: entries that are no tensors, such as ``_extra_state``.
    """

    path: str
    tensors: Mapping[str, Weights]
    extras: Mapping[str, Any]

    @property
    def is_average(self) -> bool:
        """Whether it is a moving average of the weights: its name or torch's count of averages says so."""
        return is_average(self.path) or AVERAGES in self.tensors

    @property
    def is_joint(self) -> bool:
        """Whether it puts together mappings that the file keeps apart (encoder and decoder, say)."""
        return _JOINT in self.path

    @property
    def is_loose(self) -> bool:
        """Whether no name is that of a layer's tensor: perhaps data, such as a buffer of samples."""
        return not any(_LAYERS.search(name) for name in self.tensors)

    @property
    def is_stray(self) -> bool:
        """Whether most of its entries are no tensors: a table of settings that holds a tensor or two."""
        return len(self.tensors) < len(self.extras)


def is_integer(tensor: Weights) -> bool:
    """Whether the values are integers or booleans."""
    return tensor.is_integer if isinstance(tensor, TensorRecord) else tensor.dtype.kind in "biu"


def dtype_of(tensor: Weights) -> str:
    """Name of the dtype of the values: float32 for quantised ones."""
    if not isinstance(tensor, TensorRecord):
        return str(tensor.dtype)
    return tensor.dtype if tensor.quantised is None else "float32"


def is_average(name: str) -> bool:
    """Whether a name says that it is a moving average of the weights."""
    return bool(_AVERAGED.search(name))


def elements(candidate: Candidate) -> int:
    """How many numbers the tensors of a mapping hold in all."""
    return sum(math.prod(t.shape) for t in candidate.tensors.values())


def find_mappings(header: Header) -> tuple[Candidate, ...]:
    """All mappings that may be weights, the likeliest first: plain before averaged, usual name, large."""
    found = list(_walk(header.tree))
    if isinstance(header.tree, Mapping) and _DEEPSPEED & header.tree.keys():
        found = [_without_partitions(one) for one in found]
    return tuple(sorted([*found, *_joint(found)], key=_rank))


def _rank(candidate: Candidate) -> tuple[bool, bool, bool, int, bool, int]:
    last = candidate.path.rsplit(".", 1)[-1]
    usual = _PREFERRED.index(last) if last in _PREFERRED else len(_PREFERRED)
    return (
        candidate.is_joint,
        candidate.is_stray,
        candidate.is_average,
        usual if candidate.path else -1,
        candidate.is_loose,
        -elements(candidate),
    )


def _walk(tree: Any) -> Iterator[Candidate]:
    """Breadth first through dicts, lists and placeholders of modules; every object once."""
    queue: deque[tuple[str, Any, int]] = deque([("", tree, 0)])
    seen: set[int] = set()
    while queue and len(seen) < _MAX_VISITS:
        path, node, depth = queue.popleft()
        if id(node) in seen or depth > _MAX_DEPTH or _is_optimizer(node):
            continue
        seen.add(id(node))
        if isinstance(node, Foreign) and (module := module_tensors(node)):
            yield Candidate(path or "the pickled module", module, {})
            continue
        children = _children(node)
        candidate = _as_candidate(path, children)
        if candidate:
            yield candidate
        queue.extend((_below(path, key), v, depth + 1) for key, v in children if _may_lead_on(key, v))


def _below(path: str, key: Any) -> str:
    name = shown(str(key)[:_LONGEST_KEY])
    return f"{path}.{name}" if path else name


def _may_lead_on(key: Any, value: Any) -> bool:
    """Whether weights may lie below an entry, told by its type and name."""
    if not isinstance(value, (dict, list, tuple, Foreign)) or not isinstance(key, (str, int)):
        return False
    if isinstance(key, int):
        return abs(key) < _LARGEST_KEY
    return not _NOT_MODELS.search(key[:_LONGEST_KEY])


def _is_optimizer(node: Any) -> bool:
    return isinstance(node, Mapping) and "param_groups" in node and ("state" in node or len(node) == 1)


def _children(node: Any) -> list[tuple[Any, Any]]:
    if isinstance(node, (list, tuple)):
        return list(enumerate(node)) if len(node) <= _MOST_IN_A_LIST else []
    return list(entries(node).items())


def _as_candidate(path: str, children: list[tuple[Any, Any]]) -> Candidate | None:
    tensors: dict[str, Weights] = {}
    extras: dict[str, Any] = {}
    for key, value in children:
        if type(key) is str and len(key) <= LONGEST_NAME:
            tensor = as_tensor(value)
            if tensor is None:
                extras[key] = value
            else:
                tensors[key] = tensor
    if not tensors or tensors.keys() <= _OPTIMISER_NAMES:
        return None
    return Candidate(path, tensors, extras)


def _without_partitions(candidate: Candidate) -> Candidate:
    """DeepSpeed leaves empty tensors where ZeRO-3 moved the numbers into the optimizers' files."""
    how = "is partitioned by DeepSpeed ZeRO; run its zero_to_fp32.py and use the file that it writes"
    tensors = {
        name: without_data(how) if tuple(tensor.shape) == (0,) else tensor
        for name, tensor in candidate.tensors.items()
    }
    return replace(candidate, tensors=tensors)


def _joint(found: list[Candidate]) -> Iterator[Candidate]:
    """Mappings beside each other put together, for models whose parts are saved apart."""
    groups: dict[str, list[Candidate]] = {}
    for one in found:
        steps = one.path.split(".")
        for depth in range(len(steps)):
            groups.setdefault(".".join(steps[:depth]), []).append(one)
    kept = {one.path for one in found}
    deepest = {tuple(map(id, parts)): path for path, parts in groups.items()}
    for path in deepest.values():
        parts = groups[path]
        if len(parts) > 1 and path not in kept and sum(len(p.tensors) for p in parts) <= _MAX_ENTRIES:
            yield _joined(path, parts)


def _joined(path: str, parts: list[Candidate]) -> Candidate:
    begin = len(path) + 1 if path else 0
    named = {f"{one.path[begin:]}.{name}": tensor for one in parts for name, tensor in one.tensors.items()}
    extras = {f"{one.path[begin:]}.{name}": value for one in parts for name, value in one.extras.items()}
    names = [one.path[begin:] for one in parts]
    label = _JOINT.join(names[:3]) + (f"{_JOINT}…" if len(names) > 3 else "")
    return Candidate(f"{path}.{label}" if path else label, named, extras)


def find_uninitialised(header: Header) -> str:
    """Name of a lazy parameter that has no shape yet, empty if there is none."""
    for node in (header.tree, *(v for _, v in _children(header.tree))):
        for name, value in _children(node):
            if isinstance(value, Foreign) and "Uninitialized" in value.origin:
                return str(name)[:_LONGEST_KEY]
    return ""


def why_no_mapping(header: Header) -> str:
    """What a file without any mapping holds, one clause."""
    tree = header.tree
    if _is_optimizer(tree):
        return "optimizer state only, no weights"
    if isinstance(tree, Mapping) and {"last_epoch", "_step_count"} & tree.keys():
        return "scheduler state only, no weights"
    if as_tensor(tree) is not None:
        return "a single tensor without a name, no state dict: no parameters found"
    if isinstance(tree, (list, tuple)) and any(as_tensor(value) is not None for value in tree[:1000]):
        return "a list of tensors without names: no parameters found; save the state_dict()"
    left = f"; left alone: {some(header.refused)}" if header.refused else ""
    return f"no parameters found{left}"
