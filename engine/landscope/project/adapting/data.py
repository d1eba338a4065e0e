"""``build_data`` of an adapter: loaders as they are, data sets in batches, the split handed on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from landscope.project.adapting.calls import Calls, Choice, place_of
from landscope.project.adapting.definitions import (
    Definition,
    accepted,
    called,
    follow,
    given_back,
    last_name,
    top_level,
    tree_of,
)

_BATCH, _BATCHES = "128", 16
_THINGS = r"^(?!.*(sampler|transform)).*"
"""What comes beside the data of a split is named after it, too."""
_SPLITS = ("split", "mode", "phase", "subset", "partition", "image_set", "stage", "set_name", "dset")
_IS_TRAIN = ("train", "is_train", "training", "is_training")
_NO_DATA = (
    "def build_data(split):",
    "    # Give batches as the model takes them, for example:",
    '    # return DataLoader(YourDataset(train=split == "train"), batch_size=128)',
    '    raise NotImplementedError("say in build_data() of landscope_project.py which batches to use")',
)


class DataText:
    """Writes ``build_data`` for a choice of the script."""

    def __init__(self, root: Path, script: Path, calls: Calls) -> None:
        self._root, self._script, self._calls = root, script, calls

    def lines(self, data: Choice | None) -> list[str]:
        """``build_data``, with a DataLoader around what is a mere dataset."""
        if data is None:
            return [*_NO_DATA]
        pair = self._pair(data)
        if pair is not None:
            return [
                "def build_data(split):",
                *self._wrapped(data, [], f'{pair[0]} if split == "train" else {pair[1]}'),
            ]
        parts = given_back(data.definition, self._root) if data.definition else ()
        split = self._split(data)
        call = self._calls.call(data, split)
        test = place_of(parts, _THINGS + r"(val|test|eval|tst|(?<![a-z])dev(?![a-z]))")
        head = "def build_data(split):" if split or test is not None else "def build_data():"
        if len(parts) > 1 and test is None:
            return [head, *self._of_tuple(data, call, parts)]
        if test is not None:
            train = place_of(parts, _THINGS + r"(train|trn)") or 0
            lines = [f"    parts = {call}{self._calls.tuple_comment(call, parts)}"]
            return [
                head,
                *self._wrapped(data, lines, f'parts[{train}] if split == "train" else parts[{test}]'),
            ]
        return [head, *self._wrapped(data, [], f"{call}{self._calls.reminder(call)}")]

    def _split(self, data: Choice) -> dict[str, str]:
        """The argument that says which split, where the callable takes one."""
        takes = accepted(data.node)
        name = next((name for name in _SPLITS if name in takes), "")
        if name:
            strings = self._calls.values.splits_of(data.script, data.name, name, takes) - {"train"}
            strings = strings or set().union(*(_words(one.node) for one in self._reached(data.definition, 3)))
            other = next((word for word in ("test", "val", "valid", "eval") if word in strings), "test")
            return {name: "split" if other == "test" else f'split if split == "train" else "{other}"'}
        name = next((name for name in _IS_TRAIN if name in takes), "")
        return {name: 'split == "train"'} if name else {}

    def _of_tuple(self, data: Choice, call: str, parts: tuple[str, ...]) -> list[str]:
        """The data out of several things; a function that gives one batch is asked for several."""
        place = place_of(parts, r"data|set|loader|dl")
        if place is None and re.search(r"batch", data.name, re.I):
            return [f"    return [{call} for _ in range({_BATCHES})]  # each is ({', '.join(parts)})"]
        return self._wrapped(data, [], f"{call}[{place or 0}]{self._calls.tuple_comment(call, parts)}")

    def _pair(self, data: Choice) -> tuple[str, str] | None:
        """Two variables of a script, one for each split."""
        if not isinstance(data.node, ast.Assign) or data.definition is None:
            return None
        there = top_level(tree_of(data.definition.script))
        for word, others in (("train", ("test", "val", "valid", "eval")), ("trn", ("tst", "val"))):
            for other in others:
                twin = data.definition.name.replace(word, other)
                if word in data.definition.name and twin in there:
                    return self._calls.alias(data), self._calls.imports.alias(data.definition.script, twin)
        return None

    def _wrapped(self, data: Choice, before: list[str], value: str) -> list[str]:
        if not self._is_dataset(data):
            return [*before, f"    return {value}"]
        collate = self._collate()
        size = self._calls.values.option("batch_size") or _BATCH
        more = f", collate_fn={collate}" if collate else ""
        return [
            "    from torch.utils.data import DataLoader",
            "",
            *before,
            f"    data = {value}",
            f"    return DataLoader(data, batch_size={size}{more})",
        ]

    def _is_dataset(self, data: Choice) -> bool:
        """Whether it gives single samples, to be put into batches."""
        node = data.node
        if node is None:
            return bool(re.search(r"dataset", data.name, re.I))
        if isinstance(node, ast.ClassDef):
            return not re.search(r"Loader|DataModule", " ".join(ast.unparse(base) for base in node.bases))
        calls = set().union(*(called(one.node) for one in self._reached(data.definition, 3)))
        if any(re.search(r"loader", name, re.I) for name in calls) or re.search(
            r"loader|batch", data.name, re.I
        ):
            return False
        return bool(re.search(r"dataset", " ".join((*calls, data.name)), re.I))

    def _reached(self, definition: Definition | None, depth: int) -> list[Definition]:
        """A definition and the functions of the project that it calls, directly or not."""
        if definition is None or not depth:
            return []
        found = [definition]
        for name in sorted(called(definition.node)):
            further = follow(definition.script, name, self._root)
            if further is not None and isinstance(further.node, ast.FunctionDef):
                found += self._reached(further, depth - 1)
        return found

    def _collate(self) -> str:
        """The script's own way to put samples into batches, where it hands one to a DataLoader."""
        for node in ast.walk(tree_of(self._script)):
            if isinstance(node, ast.keyword) and node.arg == "collate_fn":
                first = ast.unparse(node.value).partition(".")[0]
                if last_name(node.value) and first in top_level(tree_of(self._script)):
                    rest = ast.unparse(node.value).removeprefix(first)
                    return self._calls.imports.alias(self._script, first) + rest
        return ""


def _words(node: ast.AST) -> set[str]:
    constants = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return {value for value in constants if isinstance(value, str)}
