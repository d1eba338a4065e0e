"""What ``build_data`` gives, told apart: loaders, data sets, whole arrays, and several splits at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

BATCH = 128
"""Samples per batch where the script gives single samples."""
_TRAIN = ("train", "training", "trn", "tr")
_TEST = ("test", "val", "valid", "validation", "dev", "eval")
_MODULE = {"train": ("train_dataloader",), "test": ("test_dataloader", "val_dataloader")}
Say = Callable[[str], object]


def splits_of(given: Any, say: Say) -> dict[str, Any]:
    """The source of each split, ``train`` first, of what ``build_data()`` gave.

    Several are told from a dict or a tuple of loaders or data sets, and from an object with Lightning's
    ``train_dataloader()``; anything else is the source of ``train``.

    Args:
        given: by the script. say: takes sentences for the person.
    """
    named = _named(given)
    if not named:
        return {"train": given}
    train = next((name for name in _TRAIN if name in named), next(iter(named)))
    test = next((name for name in _TEST if name in named and name != train), None)
    say(
        f"build_data() gave several splits ({', '.join(named)}); {train!r} is used as train"
        + (f", {test!r} as test." if test else ".")
    )
    return {"train": named[train]} | ({"test": named[test]} if test else {})


def _named(given: Any) -> dict[str, Any] | None:
    if callable(getattr(given, "train_dataloader", None)):
        return _of_module(given)
    if isinstance(given, Mapping) and given and all(map(_is_data, given.values())):
        return {str(name): part for name, part in given.items()}
    if isinstance(given, (tuple, list)) and 2 <= len(given) <= 3 and all(map(_is_data, given)):
        return dict(
            zip(("train", "val", "test") if len(given) == 3 else ("train", "test"), given, strict=True)
        )
    return None


def _of_module(module: Any) -> dict[str, Any]:
    """The loaders of a Lightning data module, each made once."""
    for name, arguments in (("prepare_data", ()), ("setup", ("fit",))):
        prepare = getattr(module, name, None)
        if callable(prepare):
            prepare(*arguments)
    found = {}
    for split, names in _MODULE.items():
        loaders = (getattr(module, name)() for name in names if callable(getattr(module, name, None)))
        loader = next((loader for loader in loaders if loader is not None), None)
        if loader is not None:
            found[split] = loader
    return found


def _is_data(value: Any) -> bool:
    return isinstance(value, (DataLoader, Dataset))


def as_batches(source: Any, say: Say) -> Any:
    """The source as something that gives batches: data sets and whole arrays are read in batches of BATCH."""
    if isinstance(source, Dataset) and not isinstance(source, IterableDataset):
        say(f"build_data() gave a data set, which is read in batches of {BATCH}.")
        return DataLoader(source, batch_size=BATCH)
    if _is_list_of_samples(source):
        say(f"build_data() gave a list of single samples, which is read in batches of {BATCH}.")
        return DataLoader(source, batch_size=BATCH)
    if _is_whole(source):
        say(f"build_data() gave whole arrays, which are read as (input, labels) in batches of {BATCH}.")
        return DataLoader(TensorDataset(*map(torch.as_tensor, source)), batch_size=BATCH)
    return source


def _is_list_of_samples(source: Any) -> bool:
    """Whether it is a list of pairs (input, label), each of one sample."""
    first = source[0] if isinstance(source, (list, tuple)) and source else None
    if (
        not isinstance(first, (list, tuple))
        or len(first) != 2
        or not isinstance(first[0], (Tensor, np.ndarray))
    ):
        return False
    label = first[1]
    return isinstance(label, (int, float, np.number)) or (isinstance(label, Tensor) and label.dim() == 0)


def _is_whole(source: Any) -> bool:
    """Whether it is inputs and labels of all samples, rather than a list of batches: they differ in kind."""
    if not isinstance(source, Sequence) or not all(isinstance(part, (Tensor, np.ndarray)) for part in source):
        return False
    forms = {(part.ndim, str(part.dtype).removeprefix("torch.")) for part in source}
    lengths = {len(part) if part.ndim else 0 for part in source}
    return len(source) >= 2 and len(lengths) == 1 and len(forms) > 1
