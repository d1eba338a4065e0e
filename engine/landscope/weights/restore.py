"""Put a model and the random generators back as they were, bit for bit, whatever happens in between."""

from __future__ import annotations

import copy
import random
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

_TABLES = (
    "_parameters",
    "_buffers",
    "_modules",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
)
_CONTAINERS = (list, dict, set, deque, OrderedDict, defaultdict)


@contextmanager
def preserved(model: nn.Module) -> Iterator[nn.Module]:
    """Run a block after which the model and all random generators are bit for bit what they were.

    Kept are: values and memory of all parameters and buffers (which tensors they are, too), their
    ``requires_grad`` and ``grad``, train or eval mode, attributes and extra state of every module, hooks,
    and the state of the generators of Python, NumPy, torch and every accelerator. Holds on normal end,
    error, cancel and on closing a generator. Costs a copy of the model's tensors while the block runs.
    """
    with ExitStack() as stack:
        stack.callback(_GeneratorStates().restore)
        for module in model.modules():
            stack.callback(_ModuleState(module).restore)
        tensors = _tensors(model)
        for storage in _storages(tensors):
            stack.callback(_StorageState(storage).restore)
        for tensor in tensors:
            stack.callback(_TensorState(tensor).restore)
        yield model


def _tensors(model: nn.Module) -> list[Tensor]:
    """Every parameter and buffer once, also those that are not saved in checkpoints."""
    found = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    return [tensor for tensor in found.values() if not is_lazy(tensor)]


def _storages(tensors: list[Tensor]) -> list[torch.UntypedStorage]:
    """The memory behind the tensors, each piece once (ties and expanded buffers share theirs)."""
    strided = (tensor for tensor in tensors if tensor.layout == torch.strided)
    storages = (tensor.untyped_storage() for tensor in strided)
    return list({storage._cdata: storage for storage in storages}.values())


class _StorageState:
    """The bytes of one piece of memory."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self._storage = storage
        self._bytes: torch.UntypedStorage = storage.clone()  # type: ignore[no-untyped-call]

    def restore(self) -> None:
        if self._storage.nbytes() != self._bytes.nbytes():
            self._storage.resize_(self._bytes.nbytes())
        self._storage.copy_(self._bytes)


class _TensorState:
    """Where one tensor's memory was, and what its gradient was."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._memory = tensor.data
        self._requires_grad = tensor.requires_grad
        self._grad = tensor.grad if tensor.is_leaf else None

    def restore(self) -> None:
        if self._moved():
            self._tensor.data = self._memory
        if self._tensor.requires_grad != self._requires_grad:
            self._tensor.requires_grad_(self._requires_grad)
        if self._tensor.is_leaf and self._tensor.grad is not self._grad:
            self._tensor.grad = self._grad

    def _moved(self) -> bool:
        now, before = self._tensor, self._memory
        if now.layout != torch.strided:
            return False
        return (now.data_ptr(), now.shape, now.stride()) != (before.data_ptr(), before.shape, before.stride())


@contextmanager
def kept_attributes(model: nn.Module) -> Iterator[None]:
    """Run a block after which every module has the attributes that it had: a hidden state, lists of outputs.

    Which objects they are comes back, and what is in lists, dicts, sets and deques; values of tensors do not.
    """
    with ExitStack() as stack:
        for module in model.modules():
            stack.callback(_Attributes(module).restore)
        yield


class _Attributes:
    """Plain attributes of one module, with the contents of those that are containers."""

    def __init__(self, module: nn.Module) -> None:
        scripted = isinstance(module, torch.jit.ScriptModule)
        self._now: dict[str, Any] = {} if scripted else vars(module)
        self._before = {k: (v, _contents(v)) for k, v in self._now.items() if k not in _TABLES}

    def restore(self) -> None:
        for name in [name for name in self._now if name not in self._before and name not in _TABLES]:
            del self._now[name]
        for name, (value, contents) in self._before.items():
            self._now[name] = value
            if contents is not None and not _holds(value, contents):
                value.clear()
                (value.extend if isinstance(value, (list, deque)) else value.update)(contents)


def _contents(value: Any) -> Any:
    """A shallow copy of a container; None for anything else, and for containers of somebody's own making."""
    return value.copy() if type(value) in _CONTAINERS else None


def _holds(value: Any, contents: Any) -> bool:
    """Whether a container holds the same objects as before, compared by identity."""
    if isinstance(value, dict):
        return not _differs(value, contents)
    return len(value) == len(contents) and all(a is b for a, b in zip(value, contents, strict=True))


class _ModuleState:
    """What one module was: its mode, its tables of parameters, buffers and children, its hooks, the rest."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._training = module.training
        scripted = isinstance(module, torch.jit.ScriptModule)  # its tables are made anew at every look
        self._tables = {name: dict(getattr(module, name)) for name in _TABLES if not scripted}
        self._attributes = _Attributes(module)
        keeps_extra = not scripted and type(module).get_extra_state is not nn.Module.get_extra_state
        self._extra = (copy.deepcopy(module.get_extra_state()),) if keeps_extra else ()

    def restore(self) -> None:
        self._attributes.restore()
        self._module.training = self._training
        for name, before in self._tables.items():
            table = getattr(self._module, name)
            if _differs(table, before):
                table.clear()
                table.update(before)
        for extra in self._extra:
            self._module.set_extra_state(extra)


def _differs(table: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether two tables hold other objects (compared by identity, never by value)."""
    return list(table) != list(before) or any(table[key] is not before[key] for key in before)


class _GeneratorStates:
    """The states of the global random generators."""

    def __init__(self) -> None:
        self._python = random.getstate()
        self._numpy = np.random.get_state()
        self._torch = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if _cuda_is_used() else []
        self._mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None

    def restore(self) -> None:
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        torch.set_rng_state(self._torch)
        if self._cuda:
            torch.cuda.set_rng_state_all(self._cuda)
        if self._mps is not None:
            torch.mps.set_rng_state(self._mps)


def _cuda_is_used() -> bool:
    """Whether this process has touched CUDA; asking for its state would otherwise initialise it."""
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
