"""The text of an adapter: how the model, the data and the loss of somebody's script are called."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from landscope.project.adapter_imports import Imports
from landscope.project.adapter_values import UNKNOWN, Values
from landscope.project.definitions import (
    Definition,
    accepted,
    called,
    follow,
    given_back,
    last_name,
    needed,
    top_level,
    tree_of,
)

MARK = '"""What Landscope builds from'
_BATCH = "128"
_SPLITS = ("split", "mode", "phase", "subset", "partition", "image_set", "stage", "set_name", "dset")
_IS_TRAIN = ("train", "is_train", "training", "is_training")
_REMINDER = "  # put your values here"


@dataclass(frozen=True)
class Choice:
    """A name at the top level of a script, and where that name is defined (None = outside the project)."""

    script: Path
    name: str
    definition: Definition | None

    @property
    def node(self) -> ast.stmt | None:
        """The statement that defines it."""
        return self.definition.node if self.definition is not None else None


def adapter_text(
    root: Path, script: Path, model: Choice, data: Choice | None = None, loss: Choice | None = None
) -> str:
    """The whole file.

    Args:
        root: folder that the file will lie in. script: what it speaks for, where options are looked for.
        model, data, loss: what was chosen; without ``data`` the function is left to be filled in.
    """
    text = _Adapter(root, script)
    body = [*text.model_lines(model, loss is None), "", "", *text.data_lines(data)]
    if loss is not None:
        body += ["", "", *text.loss_lines(loss)]
    elif text.criterion:
        body += ["", "", *_CRITERION_LINES]
    options = list(text.values.lines())
    imports = [*text.values.imports(), *text.imports.lines()]
    head = [f"{MARK} {script.name}; edit it freely.", "", *_ABOUT, '"""', ""]
    return "\n".join([*head, *imports, *([""] if options else []), *options, "", "", *body]) + "\n"


_ABOUT = (
    "build_model() gives the untrained network, build_data(split) the batches of “train” or “test”;",
    "loss(model, batch) and metrics(model, batch) may be added. Paths are as seen from this folder.",
)
_CRITERION_LINES = (
    "def loss(model, batch):",
    "    inputs, targets = batch",
    '    if hasattr(criterion, "to"):',
    "        criterion.to(next(model.parameters()).device)",
    "    found = criterion(model(inputs), targets)",
    "    if not isinstance(found, dict):",
    "        return found",
    '    weights = getattr(criterion, "weight_dict", dict.fromkeys(found, 1.0))',
    "    return sum(weights[name] * value for name, value in found.items() if name in weights)",
)


class _Adapter:
    def __init__(self, root: Path, script: Path) -> None:
        self.imports = Imports(root)
        self.values = Values(root, script, self.imports)
        self.criterion = False
        self._root, self._script = root, script

    def model_lines(self, model: Choice, with_criterion: bool) -> list[str]:
        """``build_model``, which takes the model out of a tuple."""
        call = self._call(model)
        parts = given_back(model.definition, self._root) if model.definition else ()
        if not parts:
            return ["def build_model():", f"    return {call}{_reminder(call)}"]
        place = _place(parts, r"model|net") or 0
        criterion = _place(parts, r"criterion|loss") if with_criterion else None
        lines = [f"    built = {call}  # it gives ({', '.join(parts)}){_reminder(call).replace('  #', ';')}"]
        if criterion is not None:
            self.criterion = True
            lines = ["    global criterion", *lines, f"    criterion = built[{criterion}]"]
        return ["def build_model():", *lines, f"    return built[{place}]"]

    def data_lines(self, data: Choice | None) -> list[str]:
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
        call = self._call(data, split)
        head = "def build_data(split):" if split or len(parts) > 1 else "def build_data():"
        if len(parts) > 1:
            train, test = _place(parts, r"train|trn") or 0, _place(parts, r"val|test|eval|dev|tst")
            test = test if test is not None else 1
            lines = [
                f"    parts = {call}  # it gives ({', '.join(parts)}){_reminder(call).replace('  #', ';')}"
            ]
            return [
                head,
                *self._wrapped(data, lines, f'parts[{train}] if split == "train" else parts[{test}]'),
            ]
        return [head, *self._wrapped(data, [], f"{call}{_reminder(call)}")]

    def loss_lines(self, loss: Choice) -> list[str]:
        """``loss``: the script's own of model and batch, or a criterion of outputs and labels."""
        node = loss.node
        first = accepted(node)[:1]
        if isinstance(node, ast.FunctionDef) and first and first[0] in ("model", "net", "network"):
            return ["def loss(model, batch):", f"    return {self._alias(loss)}(model, batch)"]
        made = isinstance(node, ast.ClassDef)
        criterion = self._call(loss) if made else self._alias(loss)
        lines = ["    inputs, labels = batch", f"    return {criterion}(model(inputs), labels)"]
        return ["def loss(model, batch):", *lines]

    def _alias(self, choice: Choice) -> str:
        """Imported from where it is defined, so that a script which only hands it on need not run."""
        if choice.definition is None:
            return self.imports.alias(choice.script, choice.name)
        return self.imports.alias(choice.definition.script, choice.definition.name)

    def _call(self, choice: Choice, given: dict[str, str] | None = None) -> str:
        """An expression that gives the thing: a call for functions and classes, the name for variables."""
        if isinstance(choice.node, ast.Assign | ast.AnnAssign):
            return self._alias(choice)
        known = dict(given or {})
        for need in needed(choice.node):
            if need not in known:
                known[need] = self.values.of(need, choice.script, choice.name)
        return f"{self._alias(choice)}({', '.join(f'{name}={value}' for name, value in known.items())})"

    def _split(self, data: Choice) -> dict[str, str]:
        """The argument that says which split, where the callable takes one."""
        takes = accepted(data.node)
        name = next((name for name in _SPLITS if name in takes), "")
        if name:
            strings = (
                {n.value for n in ast.walk(data.node) if isinstance(n, ast.Constant)} if data.node else set()
            )
            other = next((word for word in ("test", "val", "valid", "eval") if word in strings), "test")
            return {name: "split" if other == "test" else f'split if split == "train" else "{other}"'}
        name = next((name for name in _IS_TRAIN if name in takes), "")
        return {name: 'split == "train"'} if name else {}

    def _pair(self, data: Choice) -> tuple[str, str] | None:
        """Two variables of a script, one for each split."""
        if not isinstance(data.node, ast.Assign) or data.definition is None:
            return None
        there = top_level(tree_of(data.definition.script))
        for word, others in (("train", ("test", "val", "valid", "eval")), ("trn", ("tst", "val"))):
            for other in others:
                twin = data.definition.name.replace(word, other)
                if word in data.definition.name and twin in there:
                    return self._alias(data), self.imports.alias(data.definition.script, twin)
        return None

    def _wrapped(self, data: Choice, before: list[str], value: str) -> list[str]:
        if not self._is_dataset(data):
            return [*before, f"    return {value}"]
        collate = self._collate()
        size = self.values.option("batch_size") or _BATCH
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
        calls = self._reached(data.definition, 3)
        if any(re.search(r"loader", name, re.I) for name in calls) or re.search(
            r"loader|batch", data.name, re.I
        ):
            return False
        return bool(re.search(r"dataset", " ".join((*calls, data.name)), re.I))

    def _reached(self, definition: Definition | None, depth: int) -> set[str]:
        """Names that a definition calls, itself or through functions of the project."""
        if definition is None or not depth:
            return set()
        found = called(definition.node)
        for name in sorted(found):
            further = follow(definition.script, name, self._root)
            if further is not None and isinstance(further.node, ast.FunctionDef):
                found |= self._reached(further, depth - 1)
        return found

    def _collate(self) -> str:
        """The script's own way to put samples into batches, where it hands one to a DataLoader."""
        for node in ast.walk(tree_of(self._script)):
            if isinstance(node, ast.keyword) and node.arg == "collate_fn":
                first = ast.unparse(node.value).partition(".")[0]
                if last_name(node.value) and first in top_level(tree_of(self._script)):
                    rest = ast.unparse(node.value).removeprefix(first)
                    return self.imports.alias(self._script, first) + rest
        return ""


_NO_DATA = (
    "def build_data(split):",
    "    # Give batches as the model takes them, for example:",
    '    # return DataLoader(YourDataset(train=split == "train"), batch_size=128)',
    '    raise NotImplementedError("say in build_data() of landscope_project.py which batches to use")',
)


def _place(parts: tuple[str, ...], pattern: str) -> int | None:
    return next((k for k, part in enumerate(parts) if re.search(pattern, part, re.I)), None)


def _reminder(call: str) -> str:
    return _REMINDER if UNKNOWN in call else ""
