"""What a file's text defines, and following a name through imports to where it is defined; nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from landscope.contract.errors import ScriptError

Function = ast.FunctionDef | ast.ClassDef
_LARGEST = 500_000
_HOPS = 6


@dataclass(frozen=True)
class Definition:
    """A statement at the top level of a file that gives a name its meaning."""

    script: Path
    name: str
    node: ast.stmt


def tree_of(script: Path) -> ast.Module:
    """The syntax tree of a file.

    Raises:
        ScriptError: it cannot be read or parsed; the sentence names file and line.
    """
    try:
        status = script.stat()
        return _parsed(script, status.st_mtime_ns, status.st_size)
    except SyntaxError as error:
        raise ScriptError(f"{script.name} line {error.lineno or 1}: syntax error: {error.msg}.") from error
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise ScriptError(f"{script.name}: cannot be read ({error}).") from error


@lru_cache(maxsize=256)
def _parsed(script: Path, _edited: int, size: int) -> ast.Module:
    if size > _LARGEST:
        raise ValueError(f"{size / 1e6:.1f} MB are no script")
    return ast.parse(script.read_bytes(), filename=str(script))


def top_level(tree: ast.Module) -> dict[str, ast.stmt]:
    """Name to statement: functions, classes, variables and imports, also those inside ``try`` and ``if``."""
    found: dict[str, ast.stmt] = {}
    for node in _statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update(dict.fromkeys(_assigned(node), node))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found.update({alias.asname or alias.name: node for alias in node.names})
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        guarded = isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
        if isinstance(node, ast.Try | ast.If) and not guarded:
            yield from _statements(node.body)
        else:
            yield node


def visible(script: Path, root: Path, depth: int = 3) -> dict[str, ast.stmt]:
    """As ``top_level``, with what ``from … import *`` brings from files below ``root``.

    Raises:
        ScriptError: the script itself cannot be parsed.
    """
    tree = tree_of(script)
    found = top_level(tree)
    stars = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"]
    for node in stars if depth else ():
        origin = imported_file(script, node, root)
        try:
            names = visible(origin, root, depth - 1) if origin is not None else {}
        except ScriptError:
            continue
        for name in names:
            alias = ast.ImportFrom(node.module, [ast.alias(name)], node.level, lineno=node.lineno)
            found.setdefault(name, alias)
    return found


def _assigned(node: ast.Assign) -> list[str]:
    parts = [part for t in node.targets for part in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
    return [part.id for part in parts if isinstance(part, ast.Name)]


def follow(script: Path, name: str, root: Path) -> Definition | None:
    """Where ``name`` of a script is defined: in it or in a file below ``root``; None = elsewhere.

    Raises:
        ScriptError: the script itself cannot be parsed.
    """
    node = visible(script, root).get(name)
    for _ in range(_HOPS):
        if not isinstance(node, ast.ImportFrom):
            return Definition(script, name, node) if node is not None else None
        original = next(a.name for a in node.names if (a.asname or a.name) == name)
        origin = imported_file(script, node, root)
        if origin is None:
            return None
        try:
            node, script, name = visible(origin, root).get(original), origin, original
        except ScriptError:
            return None
    return None


def imported_file(script: Path, node: ast.ImportFrom, root: Path) -> Path | None:
    """The file below ``root`` that a ``from … import`` statement of a script reads; None = none of them."""
    parts = (node.module or "").split(".") if node.module else []
    if node.level:
        bases = [_above(script, node.level)]
    else:
        inside = [folder for folder in script.parents if folder == root or root in folder.parents]
        bases = [*inside, root / "src"]
    for base in bases:
        place = base.joinpath(*parts)
        for file in (place.with_suffix(".py") if parts else place, place / "__init__.py"):
            if file.is_file():
                return file
    return None


def names_module(script: Path, node: ast.ImportFrom, name: str, root: Path) -> bool:
    """Whether ``from … import name`` brings a module of the project, not something in one."""
    package = imported_file(script, node, root)
    inside = ast.ImportFrom(module=".".join(filter(None, (node.module, name))), names=[], level=node.level)
    return (package is None or package.name == "__init__.py") and bool(imported_file(script, inside, root))


def _above(script: Path, levels: int) -> Path:
    return script.parents[min(levels, len(script.parents)) - 1]


def import_root(script: Path) -> Path:
    """The folder that must be on ``sys.path`` for a script's relative imports to work.

    That is above its outermost ``__init__.py``, or as far above as a relative import in it reaches.
    """
    top = script.parent
    while (top / "__init__.py").is_file() and top != top.parent:
        top = top.parent
    levels = [n.level for n in ast.walk(tree_of(script)) if isinstance(n, ast.ImportFrom)]
    reach = _above(script, max(levels, default=0) + 1) if any(levels) else top
    return reach if reach in top.parents else top


def works_when_imported(tree: ast.Module) -> int | None:
    """Line of a loop or a call at the top level that begins the script's work; None if it only defines."""
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in _statements(tree.body):
        begins = isinstance(node, ast.For | ast.While) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        )
        if begins and called(node) & own:
            return node.lineno
    return None


def needed(node: ast.AST | None) -> tuple[str, ...]:
    """Parameters without a default of a function, or of a class's ``__init__`` (a dataclass's fields)."""
    arguments, skip = _arguments(node)
    if arguments is None:
        return _fields(node) if isinstance(node, ast.ClassDef) else ()
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[skip : len(positional) - len(arguments.defaults)]
    keywords = [a for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    return tuple(a.arg for a in (*required, *keywords))


def accepted(node: ast.AST | None) -> tuple[str, ...]:
    """All parameters by name of a function or of a class's ``__init__``, in order."""
    arguments, skip = _arguments(node)
    if arguments is None:
        return ()
    positional = [*arguments.posonlyargs, *arguments.args][skip:]
    return tuple(a.arg for a in (*positional, *arguments.kwonlyargs))


def signature(node: ast.AST | None) -> str:
    """The parameters in parentheses; ``()`` for a class without ``__init__``, empty for variables."""
    arguments, skip = _arguments(node)
    if arguments is None:
        return "()" if isinstance(node, ast.ClassDef) else ""
    text = ast.unparse(arguments)
    return f"({text.partition(',')[2].strip() if skip else text})"


def _arguments(node: ast.AST | None) -> tuple[ast.arguments | None, int]:
    if isinstance(node, ast.FunctionDef):
        return node.args, 0
    if isinstance(node, ast.ClassDef):
        made = (p for p in node.body if isinstance(p, ast.FunctionDef) and p.name == "__init__")
        init = next(made, None)
        return (init.args, 1) if init else (None, 0)
    return None, 0


def _fields(node: ast.ClassDef) -> tuple[str, ...]:
    """Fields without a default of a dataclass."""
    if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return ()
    return tuple(
        part.target.id
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is None
    )


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; empty for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def called(node: ast.AST) -> set[str]:
    """Last names of everything that is called in it."""
    return {last_name(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}


def given_back(definition: Definition, root: Path, depth: int = 4) -> tuple[str, ...]:
    """What a function returns as a tuple, as text, followed through calls; empty if it is one thing."""
    if not isinstance(definition.node, ast.FunctionDef):
        return ()
    for value in reversed(list(returned(definition.node))):
        if isinstance(value, ast.Tuple):
            return tuple(ast.unparse(part) for part in value.elts)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and depth:
            further = follow(definition.script, value.func.id, root)
            if further is not None and (found := given_back(further, root, depth - 1)):
                return found
    return ()


def returned(node: ast.AST) -> Iterator[ast.expr]:
    """Values of the ``return`` statements of a function, not of those inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return) and child.value is not None:
            yield child.value
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from returned(child)
