"""What in a script could be the model, the data and the loss, told from its text: nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from landscope.contract.errors import ScriptError
from landscope.project.adapter import write_adapter

Kind = Literal["function", "class", "variable", "import"]
_MODEL = re.compile(
    r"model|net(?!work_)|network|backbone|encoder|classifier|transformer|resnet|vit|mlp|cnn", re.I
)
_DATA = re.compile(r"data|loader|batch|dl$", re.I)
_LOSS = re.compile(r"loss|criterion|objective", re.I)
_MODULES = ("Module", "Sequential", "LightningModule", "PreTrainedModel")
_DATASETS = ("Dataset", "IterableDataset", "TensorDataset", "DataLoader", "LightningDataModule")


@dataclass(frozen=True)
class Candidate:
    """Something at the top level of a script.

    Attributes:
        name: its name. kind: function, class, variable or import. line: where it begins.
        signature: its parameters in parentheses, empty for variables and imports.
        needs: parameters without a default.
    """

    name: str
    kind: Kind
    line: int
    signature: str = ""
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidates:
    """What could be model, data and loss, the likeliest first; without needed arguments before others."""

    models: tuple[Candidate, ...]
    data: tuple[Candidate, ...]
    losses: tuple[Candidate, ...]


def find_candidates(script: str | Path) -> Candidates:
    """Look at a script's top level.

    Raises:
        ScriptError: it cannot be read or parsed; the sentence names file and line.
    """
    path = Path(script)
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise ScriptError(f"{path.name} line {error.lineno or 1}: syntax error: {error.msg}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ScriptError(f"{path.name}: cannot be read ({error}).") from error
    found = list(_top_level(tree))
    modules = _descendants(tree, _MODULES)
    datasets = _descendants(tree, _DATASETS)
    losses = {c.name for c, node in found if _LOSS.search(c.name) or _makes(node, _LOSS)}
    models = [c for c, node in found if c.name not in losses and _is_model(c, node, modules, datasets)]
    named = {c.name for c in models}
    data = [c for c, node in found if c.name not in losses | named and _is_data(c, node, datasets)]
    return Candidates(
        _ranked(models, "build_model"),
        _ranked(data, "build_data"),
        _ranked([c for c, _ in found if c.name in losses], "loss"),
    )


def _ranked(found: list[Candidate], usual: str) -> tuple[Candidate, ...]:
    kinds = ("function", "class", "variable", "import")
    return tuple(
        sorted(found, key=lambda c: (c.name != usual, len(c.needs) > 0, kinds.index(c.kind), c.line))
    )


def _top_level(tree: ast.Module) -> Iterator[tuple[Candidate, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield Candidate(node.name, "function", node.lineno, *_signature(node.args)), node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield Candidate(node.name, "class", node.lineno, *_class_signature(node)), node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
                    yield Candidate(target.id, "variable", node.lineno), node
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Candidate(alias.asname or alias.name, "import", node.lineno), node


def _signature(arguments: ast.arguments, skip: int = 0) -> tuple[str, tuple[str, ...]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[skip : len(positional) - len(arguments.defaults)]
    keywords = [a for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    text = ast.unparse(arguments)
    if skip:
        text = text.partition(",")[2].strip()
    return f"({text})", tuple(a.arg for a in (*required, *keywords))


def _class_signature(node: ast.ClassDef) -> tuple[str, tuple[str, ...]]:
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return _signature(part.args, skip=1)
    return "()", ()


def _descendants(tree: ast.Module, roots: tuple[str, ...]) -> set[str]:
    """Classes of the file that derive, directly or not, from one of the roots."""
    known = set(roots)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for _ in classes:
        known |= {node.name for node in classes if any(_last_name(base) in known for base in node.bases)}
    return known


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _called(node: ast.AST) -> set[str]:
    return {_last_name(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}


def _makes(node: ast.stmt, pattern: re.Pattern[str]) -> bool:
    """Whether a variable holds what a call of such a name gives."""
    return isinstance(node, ast.Assign) and any(pattern.search(name) for name in _called(node.value))


def _is_model(candidate: Candidate, node: ast.stmt, modules: set[str], datasets: set[str]) -> bool:
    if candidate.kind == "class":
        return candidate.name in modules
    if candidate.kind == "function":
        returned = _called(node) & modules and not _called(node) & datasets
        named = _MODEL.search(candidate.name) and not re.match(
            r"train|test|eval|save|load_data", candidate.name
        )
        return bool(named or (returned and not _DATA.search(candidate.name)))
    if candidate.kind == "variable":
        return isinstance(node, ast.Assign) and bool(_called(node.value) & modules)
    return bool(_MODEL.search(candidate.name) and candidate.name != "nn" and not _DATA.search(candidate.name))


def _is_data(candidate: Candidate, node: ast.stmt, datasets: set[str]) -> bool:
    if candidate.kind == "class":
        return candidate.name in datasets
    if candidate.kind == "variable":
        return isinstance(node, ast.Assign) and bool(_called(node.value) & datasets)
    if candidate.kind == "import":
        return bool(_DATA.search(candidate.name)) and candidate.name not in _DATASETS
    return bool(_DATA.search(candidate.name) or _called(node) & datasets)


__all__ = ["Candidate", "Candidates", "find_candidates", "write_adapter"]
