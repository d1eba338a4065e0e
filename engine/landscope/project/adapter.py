"""Writing ``landscope_project.py``: a few lines that say what to build from somebody's script."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from landscope.contract.errors import OptionError

FILE = "landscope_project.py"
_MARK = '"""What Landscope builds from'
_BATCH = 128


def write_adapter(
    root: str | Path, script: str | Path, model: str, data: str, loss: str | None = None
) -> Path:
    """Write ``landscope_project.py`` into ``root``.

    Arguments that the chosen callables need and that are not known are written as ``None`` with a comment.

    Args:
        root: folder of the project. script: the script that the names come from.
        model, data, loss: names at its top level (``find_candidates``).

    Returns:
        the file.

    Raises:
        OptionError: a name is not there, or somebody else's ``landscope_project.py`` is.
    """
    target, path = Path(root) / FILE, Path(script)
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(_MARK):
        raise OptionError(f"{target} is there already and was written by somebody; edit it, or move it away.")
    named = _definitions(path)
    missing = [name for name in (model, data, loss) if name and name not in named]
    if missing:
        raise OptionError(f"{path.name} has no {missing[0]!r} at its top level.")
    text = "\n".join(_lines(target.parent.resolve(), path.resolve(), named, model, data, loss)) + "\n"
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{target} cannot be written: {error.strerror}.") from error
    return target


def _definitions(script: Path) -> dict[str, ast.stmt]:
    named: dict[str, ast.stmt] = {}
    for node in ast.parse(script.read_bytes()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            named.update({t.id: node for t in node.targets if isinstance(t, ast.Name)})
        elif isinstance(node, ast.ImportFrom):
            named.update({alias.asname or alias.name: node for alias in node.names})
    return named


def _lines(
    root: Path, script: Path, named: dict[str, ast.stmt], model: str, data: str, loss: str | None
) -> Iterator[str]:
    names = ", ".join(f"{name} as _{name}" for name in dict.fromkeys(filter(None, (model, data, loss))))
    yield f'{_MARK} {script.name}; edit it freely."""'
    yield ""
    yield from _imports(root, script, names)
    yield from ("", "", "def build_model():", f"    return {_use(named[model], model)}")
    yield from ("", "", *_data_lines(named[data], data))
    if loss:
        yield from ("", "", "def loss(model, batch):", *_loss_lines(named[loss], loss))


def _imports(root: Path, script: Path, names: str) -> Iterator[str]:
    """Import statements; the script's folder goes on the path, packages are imported by their dotted name."""
    top = script.parent
    while (top / "__init__.py").is_file():
        top = top.parent
    parts = (*script.parent.relative_to(top).parts, script.stem)
    if not all(part.isidentifier() for part in parts):
        yield from _import_by_path(root, script, names)
        return
    if top != root:
        place = _place(root, top)
        yield from ("import sys", "from pathlib import Path", "", f"sys.path.insert(0, str({place}))", "")
    yield f"from {'.'.join(parts)} import {names}" + ("  # noqa: E402" if top != root else "")


def _import_by_path(root: Path, script: Path, names: str) -> Iterator[str]:
    yield from ("import importlib.util", "from pathlib import Path", "")
    yield f"_spec = importlib.util.spec_from_file_location('_script', {_place(root, script)})"
    yield "_script = importlib.util.module_from_spec(_spec)"
    yield "_spec.loader.exec_module(_script)"
    for name in re.findall(r"(\w+) as _", names):
        yield f"_{name} = _script.{name}"


def _place(root: Path, path: Path) -> str:
    try:
        return f"Path(__file__).resolve().parent / {path.relative_to(root).as_posix()!r}"
    except ValueError:
        return f"Path({str(path)!r})"


def _use(node: ast.stmt, name: str) -> str:
    """An expression that gives the thing: a call for functions and classes, the name for variables."""
    if isinstance(node, ast.Assign):
        return f"_{name}"
    return f"_{name}({', '.join(f'{need}=None' for need in needed(node))})" + _reminder(node)


def _reminder(node: ast.stmt) -> str:
    return "  # put your values here" if needed(node) else ""


def needed(node: ast.stmt) -> tuple[str, ...]:
    """Parameters without a default of a function, or of a class's ``__init__``."""
    arguments, skip = _arguments(node)
    if arguments is None:
        return ()
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[skip : len(positional) - len(arguments.defaults)]
    keywords = [a for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    return tuple(a.arg for a in (*required, *keywords))


def _arguments(node: ast.stmt) -> tuple[ast.arguments | None, int]:
    if isinstance(node, ast.FunctionDef):
        return node.args, 0
    if isinstance(node, ast.ClassDef):
        made = (p for p in node.body if isinstance(p, ast.FunctionDef) and p.name == "__init__")
        init = next(made, None)
        return (init.args, 1) if init else (None, 0)
    return None, 0


def _data_lines(node: ast.stmt, name: str) -> list[str]:
    if isinstance(node, ast.FunctionDef) and "split" in needed(node):
        others = "".join(f", {need}=None" for need in needed(node) if need != "split")
        return ["def build_data(split):", f"    return _{name}(split=split{others})"]
    if isinstance(node, ast.ClassDef) and not re.search(
        r"Loader|DataModule", ast.unparse(node.bases[0]) if node.bases else ""
    ):
        return [
            "def build_data():",
            "    from torch.utils.data import DataLoader",
            "",
            f"    data = {_use(node, name)}",
            f"    return DataLoader(data, batch_size={_BATCH})",
        ]
    return ["def build_data():", f"    return {_use(node, name)}"]


def _loss_lines(node: ast.stmt, name: str) -> list[str]:
    """The script's own loss of model and batch, or a criterion of outputs and labels."""
    if isinstance(node, ast.FunctionDef) and node.args.args[:1] and node.args.args[0].arg in ("model", "net"):
        return [f"    return _{name}(model, batch)"]
    criterion = (
        f"_{name}"
        if isinstance(node, (ast.FunctionDef, ast.Assign))
        else _use(node, name).partition("  #")[0]
    )
    return ["    inputs, labels = batch", f"    return {criterion}(model(inputs), labels)"]
