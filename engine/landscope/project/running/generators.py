"""Random generators of a script's own, such as ``torch.Generator()`` or ``np.random.default_rng()``."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from landscope.project.running.environment import put_randomness, read_randomness, seed_everything

_KINDS = (torch.Generator, np.random.Generator, np.random.RandomState, random.Random)


def generators_in(holders: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Generators among the values of several tables of names, each once."""
    found = {id(v): v for table in holders for v in list(table.values()) if isinstance(v, _KINDS)}
    return list(found.values())


@contextmanager
def seeded(generators: Iterable[Any], seed: int) -> Iterator[None]:
    """Inside, the global generators and these start from a seed; afterwards all are as they were."""
    before, states = read_randomness(), [(one, _state(one)) for one in generators]
    try:
        seed_everything(seed)
        for one, _ in states:
            _seed(one, seed)
        yield
    finally:
        put_randomness(before)
        for one, state in states:
            _put(one, state)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state()


def _put(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(state)


def _seed(generator: Any, seed: int) -> None:
    if isinstance(generator, torch.Generator):
        generator.manual_seed(seed)
    elif isinstance(generator, np.random.Generator):
        generator.bit_generator.state = type(generator.bit_generator)(seed).state
    else:
        generator.seed(seed)
