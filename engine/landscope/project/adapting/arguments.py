"""Where a script's options come from (``args``, ``cfg``): told from its text, nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from landscope.project.adapting.definitions import (
    Definition,
    called,
    follow,
    last_name,
    needed,
    returned,
    top_level,
    tree_of,
)

PARSED = ("args", "opt", "opts", "arguments", "options", "flags", "params", "hparams", "hps")
CONFIGURED = ("cfg", "config", "conf", "configs", "configuration", "settings")
BAGS = (*PARSED, *CONFIGURED)
"""Names of parameters that hold all the options of a script at once."""
_TELLING = re.compile(r"arg|pars|opt|conf|cfg|param|setting", re.I)


@dataclass(frozen=True)
class Options:
    """One way to get a script's options.

    Attributes:
        script, name: what is imported; ``name`` empty = nothing, the defaults are written out.
        call: what follows the name to get them, such as ``().parse_args()``.
        defaults: option to its default, as Python text; ``None`` where there is none.
        parsed: they come from a command line.
    """

    script: Path
    name: str
    call: str
    parsed: bool
    defaults: dict[str, str] = field(default_factory=dict)


def find_options(script: Path, root: Path, bag: str = "args") -> Options | None:
    """The best way to get what a script calls ``bag``; None if its text does not say.

    A function or variable that can be imported comes first; where the parser is made inside ``main()``, the
    defaults of its options are read from the text.

    Raises:
        ScriptError: the script cannot be parsed.
    """
    found = sorted(_importable(script, root), key=lambda one: one.parsed == (bag in CONFIGURED))
    if found:
        return found[0]
    defaults = option_defaults(tree_of(script))
    return Options(script, "", "", True, defaults) if defaults else None


def _importable(script: Path, root: Path) -> Iterator[Options]:
    """A parser that is a part of another (``add_help=False``) comes last."""
    there = top_level(tree_of(script))
    for name in sorted(there, key=lambda name: _is_partial(there[name])):
        definition = follow(script, name, root) if _TELLING.search(name) or name == "FLAGS" else None
        if definition is not None and (how := _how(definition)) is not None:
            call, parsed = how
            defaults = option_defaults(tree_of(definition.script))
            yield Options(definition.script, definition.name, call, parsed, defaults)


def _is_partial(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and "add_help=False" in ast.unparse(node)


def _how(definition: Definition) -> tuple[str, bool] | None:
    """What follows the name to get the options, and whether they are parsed; None if it is something else."""
    node = definition.node
    if isinstance(node, ast.FunctionDef) and not needed(node):
        return _how_of_function(node)
    if isinstance(node, ast.ClassDef) and re.fullmatch(r"\w*(Config|Args|Options|Arguments)", node.name):
        return None if needed(node) else ("()", False)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        made = last_name(node.value.func)
        if made == "ArgumentParser":
            return ".parse_args()", True
        if made.startswith("parse_"):
            return "", True
    known = definition.name.lower() in BAGS
    return ("", False) if known and isinstance(node, ast.Assign | ast.AnnAssign) else None


def _how_of_function(node: ast.FunctionDef) -> tuple[str, bool] | None:
    values = list(returned(node))
    if not values or isinstance(values[-1], ast.Tuple):
        return None
    made = called(node)
    if not made & {"ArgumentParser", "add_argument"}:
        given = re.match(r"(get|load|make|build|default)_?\w*(config|cfg|conf|args|opts?|hparams)", node.name)
        return ("()", "parse_args" in made) if given else None
    parses = _made_by(node, ("parse_args", "parse_known_args"))
    gives_parsed = any(ast.unparse(value) in parses or "parse_" in ast.unparse(value) for value in values)
    return ("()" if gives_parsed else "().parse_args()"), True


def _made_by(node: ast.AST, makers: tuple[str, ...]) -> set[str]:
    """Names that are assigned what a call of one of ``makers`` gives."""
    found: set[str] = set()
    for child in ast.walk(node):
        value = child.value if isinstance(child, ast.Assign) else None
        if isinstance(child, ast.Assign) and isinstance(value, ast.Call) and last_name(value.func) in makers:
            found |= {n.id for t in child.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


def option_defaults(tree: ast.AST) -> dict[str, str]:
    """Every option that ``add_argument`` calls name, with its default as Python text."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
            keywords = {k.arg: k.value for k in node.keywords if k.arg}
            name = _option_name(node, keywords)
            if name.isidentifier():
                found[name] = _default(keywords)
    return found


def _option_name(node: ast.Call, keywords: dict[str, ast.expr]) -> str:
    stated = keywords.get("dest")
    if isinstance(stated, ast.Constant):
        return str(stated.value)
    flags = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    long = [flag for flag in flags if flag.startswith("--")] or flags or [""]
    return long[0].lstrip("-").replace("-", "_")


def _default(keywords: dict[str, ast.expr]) -> str:
    action = keywords.get("action")
    if "default" not in keywords and isinstance(action, ast.Constant):
        return {"store_true": "False", "store_false": "True"}.get(str(action.value), "None")
    return literal(keywords.get("default")) or "None"


def literal(node: ast.expr | None) -> str:
    """The text of a value that means the same everywhere (numbers, strings, lists of them); else empty."""
    try:
        return "" if node is None else repr(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""
