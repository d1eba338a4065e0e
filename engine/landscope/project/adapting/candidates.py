"""What in a script could be the model, the data and the loss, told from its text: nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from landscope.contract.errors import ScriptError
from landscope.project.adapting.adapter import write_adapter
from landscope.project.adapting.arguments import BAGS
from landscope.project.adapting.definitions import (
    called,
    follow,
    last_name,
    names_module,
    needed,
    returned,
    signature,
    top_level,
    tree_of,
    visible,
)

Kind = Literal["function", "class", "variable", "import"]
_MODEL = re.compile(
    r"model|net(?!work_)|network|backbone|encoder|classifier|transformer|resnet|vit|mlp|cnn", re.I
)
_DATA = re.compile(r"data|loader|batch|dl$", re.I)
_LOSS = re.compile(r"loss|criterion|objective", re.I)
_NO_MODEL = re.compile(
    r"(train|test|eval|save|load|valid\w*|print|log|set|init|count|plot)(_|$)|\w*_args$", re.I
)
_NO_DATA = re.compile(
    r"(train|test|eval|valid\w*|save|print|log|plot|main|run)(_|$)(?!.*(data|load))|DataParallel|\w*_args$",
    re.I,
)
_MODULES = ("Module", "Sequential", "LightningModule", "PreTrainedModel")
_DATASETS = ("Dataset", "IterableDataset", "TensorDataset", "DataLoader", "LightningDataModule")
_TAKES = {"model", "net", "batch", "dataset", "loader", "dataloader", "train_loader", "val_loader"}
"""What needs one of these is no source of models or data."""
_USUAL = {
    "model": ("build_model", "create_model", "get_model", "make_model", "build_net", "get_net"),
    "data": (
        "build_data",
        "build_dataloader",
        "build_loader",
        "get_dataloader",
        "get_loader",
        "build_dataset",
    ),
    "loss": ("loss", "loss_fn", "criterion", "compute_loss"),
}


@dataclass(frozen=True)
class Candidate:
    """Something at the top level of a script.

    Attributes:
        name: its name. kind: function, class, variable or import. line: where it begins.
        signature: its parameters in parentheses, empty for variables and unknown imports.
        needs: parameters without a default.
        script: the file whose top level has it. used: the script itself calls it for this purpose.
    """

    name: str
    kind: Kind
    line: int
    signature: str = ""
    needs: tuple[str, ...] = ()
    script: str = ""
    used: bool = False

    @property
    def is_likely(self) -> bool:
        """Whether its name or the script's own use of it speaks for it."""
        return self.used or any(self.name in names for names in _USUAL.values())


@dataclass(frozen=True)
class Candidates:
    """What could be model, data and loss, the likeliest first; without needed arguments before others."""

    models: tuple[Candidate, ...]
    data: tuple[Candidate, ...]
    losses: tuple[Candidate, ...]


def find_candidates(script: str | Path, root: str | Path | None = None) -> Candidates:
    """Look at a script's top level.

    Args:
        script: the file. root: folder of the project, below which imports are followed; None = the script's.

    Raises:
        ScriptError: it cannot be read or parsed; the sentence names file and line.
    """
    path = Path(script)
    tree = tree_of(path)
    found = list(_top_level(path, tree, Path(root) if root else path.parent))
    modules = _descendants(tree, _MODULES)
    datasets = _descendants(tree, _DATASETS)
    losses = {c.name for c, node in found if _is_loss(c, node)}
    models = [c for c, node in found if c.name not in losses and _is_model(c, node, modules, datasets)]
    models = _without_bases(models, tree)
    named = {c.name for c in models}
    data = [c for c, node in found if c.name not in losses | named and _is_data(c, node, datasets)]
    return Candidates(
        ranked(models, "model"),
        ranked(_without_bases(data, tree), "data"),
        ranked([c for c, _ in found if c.name in losses], "loss"),
    )


def _without_bases(found: list[Candidate], tree: ast.Module) -> list[Candidate]:
    """All but the classes that others of the file derive from and that nothing makes."""
    bases = {last_name(base) for node in tree.body if isinstance(node, ast.ClassDef) for base in node.bases}
    return [one for one in found if one.used or one.kind != "class" or one.name not in bases]


def may_serve(script: str | Path) -> bool:
    """Whether a script's text has a model and data under their usual names; True where it does not tell."""
    try:
        tree = tree_of(Path(script))
    except ScriptError:
        return True  # running it says what is wrong
    stars = (alias.name for n in tree.body if isinstance(n, ast.ImportFrom) for alias in n.names)
    return {"build_model", "build_data"} <= set(top_level(tree)) or "*" in stars


def ranked(found: list[Candidate], purpose: str) -> tuple[Candidate, ...]:
    """The likeliest first: of the usual name, used by the script itself, without arguments nobody knows."""
    kinds = ("function", "class", "variable", "import")

    def key(one: Candidate) -> tuple[object, ...]:
        usual = _USUAL[purpose]
        place = usual.index(one.name) if one.name in usual else len(usual)
        unknown = any(need not in (*BAGS, "split") for need in one.needs)
        kind = kinds.index(one.kind)
        likelier = (unknown, kind, not one.used) if purpose == "data" else (not one.used, unknown, kind)
        return place > 0, *likelier, place, one.line

    return tuple(sorted(found, key=key))


def _top_level(path: Path, tree: ast.Module, root: Path) -> Iterator[tuple[Candidate, ast.stmt]]:
    used = _used(tree)
    for name, node in visible(path, root).items():
        kind = _kind(node)
        if kind is None or name.startswith("_"):
            continue
        if isinstance(node, ast.FunctionDef) and not any(returned(node)):
            continue
        definition = follow(path, name, root) if kind == "import" else None
        if definition is None and isinstance(node, ast.ImportFrom) and names_module(path, node, name, root):
            continue
        meant = definition.node if definition is not None else node
        if _TAKES.intersection(needed(meant)) and not _LOSS.search(name):
            continue
        yield (
            Candidate(name, kind, node.lineno, signature(meant), needed(meant), str(path), name in used),
            meant,
        )


def _kind(node: ast.stmt) -> Kind | None:
    if isinstance(node, ast.FunctionDef):
        return "function"
    if isinstance(node, ast.ClassDef):
        return "class"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return "variable"
    return "import" if isinstance(node, ast.ImportFrom) else None


def _used(tree: ast.Module) -> set[str]:
    """What the script calls to get something that it names model, data or loss."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            targets = " ".join(ast.unparse(target) for target in node.targets)
            if re.search(r"\b(\w*model|\w*net|\w*loaders?|data\w*|criterion|loss_fn|loss_func)\b", targets):
                found |= called(node.value)
    return found


def _descendants(tree: ast.Module, roots: tuple[str, ...]) -> set[str]:
    """Classes of the file that derive, directly or not, from one of the roots."""
    known = set(roots)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for _ in classes:
        known |= {node.name for node in classes if any(last_name(base) in known for base in node.bases)}
    return known


def _makes(node: ast.stmt, pattern: re.Pattern[str]) -> bool:
    """Whether a variable holds what a call of such a name gives."""
    return isinstance(node, ast.Assign) and any(pattern.search(name) for name in called(node.value))


def _is_loss(candidate: Candidate, node: ast.stmt) -> bool:
    known = candidate.kind != "import" or isinstance(node, ast.FunctionDef | ast.ClassDef)
    return known and bool(_LOSS.search(candidate.name) or _makes(node, _LOSS))


def _is_model(candidate: Candidate, node: ast.stmt, modules: set[str], datasets: set[str]) -> bool:
    if isinstance(node, ast.ClassDef):
        inherited = {last_name(base) for base in node.bases} & {*_MODULES, *modules}
        return candidate.name in modules or bool(inherited)
    if isinstance(node, ast.FunctionDef):
        returned = called(node) & modules and not called(node) & datasets
        named = _MODEL.search(candidate.name) and not _NO_MODEL.match(candidate.name)
        return bool((named or returned) and not _DATA.search(candidate.name))
    if isinstance(node, ast.Assign):
        return bool(called(node.value) & modules)
    named = _MODEL.search(candidate.name) and not _NO_MODEL.match(candidate.name)
    return bool(named and candidate.used and not _DATA.search(candidate.name))


def _is_data(candidate: Candidate, node: ast.stmt, datasets: set[str]) -> bool:
    if isinstance(node, ast.ClassDef):
        return candidate.name in datasets or any(last_name(base) in datasets for base in node.bases)
    if isinstance(node, ast.Assign):
        return bool(called(node.value) & datasets)
    named = _DATA.search(candidate.name) and not _NO_DATA.match(candidate.name)
    if isinstance(node, ast.FunctionDef):
        return bool(named or (called(node) & datasets and not _NO_DATA.match(candidate.name)))
    return False  # of another package: a class to derive from, a module, a decorator


__all__ = ["Candidate", "Candidates", "find_candidates", "may_serve", "ranked", "write_adapter"]
